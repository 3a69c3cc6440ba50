"""the gate is a comparison turned into floats, so nothing flows back into the layer that decides."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(71)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 12)
        self.gate = nn.Linear(12, 12)
        self.out = nn.Linear(12, 5)

    def forward(self, tokens):
        h = self.embed(tokens).mean(1)
        keep = (self.gate(h) > 0).float()  # EXPECT: path-cut
        return self.out(h * keep)


def run(steps=60):
    model = Gated()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)  # MAY: parameter-not-optimized
    tokens = torch.randint(0, 25, (150, 6))
    labels = tokens[:, 0] % 5
    for step in range(steps):
        rows = torch.randint(0, 150, (30,))
        loss = F.cross_entropy(model(tokens[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step, "loss", round(loss.item(), 4))


run()
