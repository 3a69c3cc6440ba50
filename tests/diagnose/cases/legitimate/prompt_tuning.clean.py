"""Must stay silent: only the prompt is optimized; the model on top gets gradients and stays."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
x = torch.randn(96, 6)
y = (x[:, 0] > 0).long()


class Prompt(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.zeros(6))

    def forward(self, x):
        return x + self.p


prompt = Prompt()
lm = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(prompt.parameters(), lr=1e-2)
for step in range(30):
    loss = F.cross_entropy(lm(prompt(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
