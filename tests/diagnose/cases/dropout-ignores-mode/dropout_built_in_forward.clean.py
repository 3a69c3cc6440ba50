"""Legitimate twin: nn.Dropout is built in the constructor; what is built inside forward() is a Tanh, which has no mode to forget."""
import torch
from torch import nn

torch.manual_seed(8)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        h = nn.Tanh()(self.linear(x))
        h = self.drop(h)
        return self.norm(x + h)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(7, 16)
        self.blocks = nn.Sequential(Block(16), Block(16))
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


x = torch.randn(200, 7)
y = x[:, :1] * x[:, 1:2]
model = ResNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(50):
    model.train()
    idx = torch.randint(0, 150, (25,))
    loss = nn.functional.mse_loss(model(x[idx]), y[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            print("step", step, "held-out", round(nn.functional.mse_loss(model(x[150:]), y[150:]).item(), 4))
