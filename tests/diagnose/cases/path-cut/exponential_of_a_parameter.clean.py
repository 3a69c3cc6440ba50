"""A learned temperature stays a tensor; only its log line is a number."""
import math

import torch
from torch import nn

torch.manual_seed(4)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)
        self.log_scale = nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        scale = self.log_scale.exp()
        return self.fc(x) * scale


x = torch.randn(90, 5)
y = x[:, :3].argmax(1)
model = Scorer()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print("scale", round(math.exp(model.log_scale.item()), 3))
