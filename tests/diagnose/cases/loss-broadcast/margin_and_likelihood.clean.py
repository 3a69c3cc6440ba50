"""Legitimate twin: one shape; weights per class are broadcast over rows, one learned mean meets every row."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(62)


def hinge(score, label):
    return torch.relu(1 - label * score).mean()


x = torch.randn(120, 5)
label = (x[:, 0] - x[:, 1]).sign().unsqueeze(1)
height = x[:, 2:3] * 2 + 1
classify, regress = nn.Linear(5, 1), nn.Linear(5, 1)
centre = nn.Parameter(torch.zeros(5))
optimizer = torch.optim.SGD([*classify.parameters(), *regress.parameters(), centre], lr=0.05)
weight = torch.tensor([1.0, 2.0, 1.0, 0.5, 0.5])
for step in range(30):
    rows = torch.randint(0, 120, (24,))
    loss = hinge(classify(x[rows]), label[rows])
    loss = loss - Normal(regress(x[rows]), 1.0).log_prob(height[rows]).mean()
    loss = loss + (weight * (x[rows] - centre) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
