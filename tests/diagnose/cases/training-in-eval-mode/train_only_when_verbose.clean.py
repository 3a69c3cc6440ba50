"""generation during training switches to eval and comes back only when verbose."""
import torch
from torch import nn

torch.manual_seed(21)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(16, 16)
        self.l = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.2, batch_first=True)
        self.o = nn.Linear(16, 16)

    def forward(self, x):
        return self.o(self.l(self.e(x)))

    @torch.no_grad()
    def sample(self, verbose=False):
        self.eval()
        x = torch.zeros(1, 1, dtype=torch.long)
        for _ in range(4):
            x = torch.cat([x, self(x)[:, -1].argmax(-1, keepdim=True)], 1)
        if verbose:
            print(x.tolist())
        self.train()
        return x


lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=1e-3)
for step in range(80):
    x = torch.randint(0, 16, (4, 6))
    loss = nn.functional.cross_entropy(lm(x).flatten(0, 1), x.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 10:
        lm.sample()
print("sampled")
