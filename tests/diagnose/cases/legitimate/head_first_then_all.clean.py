"""Must stay silent: stage one trains the head alone while the body still requires gradients; stage two trains everything."""
import torch
from torch import nn

torch.manual_seed(9)
body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
head = nn.Linear(16, 2)
model = nn.Sequential(body, head)


def fit(opt, n):
    for _ in range(n):
        x = torch.randn(16, 6)
        loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()


fit(torch.optim.Adam(head.parameters(), lr=1e-2), 30)
fit(torch.optim.Adam(model.parameters(), lr=1e-3), 30)
print("two stages")
