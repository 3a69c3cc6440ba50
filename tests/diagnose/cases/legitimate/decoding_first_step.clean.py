"""Must stay silent: generation with a cache; at the first position attention has a single key, later more."""
import torch
from torch import nn

torch.manual_seed(147)
V, D = 10, 16


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
        self.out = nn.Linear(D, V)

    def step(self, token, keys, values):
        x = self.embed(token)
        keys.append(self.k(x))
        values.append(self.v(x))
        k, v = torch.stack(keys, 1), torch.stack(values, 1)
        weights = torch.softmax((self.q(x).unsqueeze(1) @ k.transpose(1, 2)) / D**0.5, dim=-1)
        return self.out(x + (weights @ v).squeeze(1))


def teacher_forced_loss(model, tokens):
    keys, values, losses = [], [], []
    for t in range(tokens.shape[1] - 1):
        logits = model.step(tokens[:, t], keys, values)
        losses.append(nn.functional.cross_entropy(logits, tokens[:, t + 1]))
    return torch.stack(losses).mean()


@torch.no_grad()
def generate(model, token, length=6):
    keys, values, out = [], [], [token]
    for _ in range(length):
        out.append(model.step(out[-1], keys, values).argmax(-1))
    return torch.stack(out, 1)


model = Decoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(40):
    tokens = (torch.randint(0, V, (12, 1)) + 2 * torch.arange(7)) % V
    loss = teacher_forced_loss(model, tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "sample", generate(model, torch.tensor([3])).tolist())
