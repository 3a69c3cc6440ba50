"""Legitimate twin: the loop covers all blocks."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(86)


class Stack(nn.Module):
    def __init__(self, width=10, depth=4):
        super().__init__()
        self.inp = nn.Linear(5, width)
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inp(x)
        for i in range(len(self.blocks)):
            x = x + torch.tanh(self.blocks[i](x))
        return self.out(x).squeeze(1)


x = torch.randn(120, 5)
y = x[:, 0] * x[:, 1] - x[:, 2]
model = Stack()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(50):
    rows = torch.randint(0, 120, (40,))
    loss = F.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
