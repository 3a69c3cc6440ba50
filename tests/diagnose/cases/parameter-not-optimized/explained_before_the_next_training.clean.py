"""A small model is explained by a mask that is learned; then a larger one is trained. Nobody forgot the small one."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 6)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(6, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


def explain(model):
    model.eval()
    mask = nn.Parameter(torch.zeros(6))
    optimizer = torch.optim.Adam([mask], lr=0.1)
    target = model(x).detach()
    for _ in range(6):
        optimizer.zero_grad()
        loss = (model(x * mask.sigmoid()) - target).pow(2).mean() + 0.01 * mask.sigmoid().sum()
        loss.backward()
        optimizer.step()
    model.train()
    return mask.detach().sigmoid()


larger = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(larger.parameters(), lr=0.01)
explained = Small()
mask = explain(explained)
for _ in range(12):
    optimizer.zero_grad()
    loss = (larger(x * mask) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
