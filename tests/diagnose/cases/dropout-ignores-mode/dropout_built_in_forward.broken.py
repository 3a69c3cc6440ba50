"""nn.Dropout is constructed inside forward(): the fresh module is always in train mode, whatever eval() was called on."""
import torch
from torch import nn

torch.manual_seed(8)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h = torch.tanh(self.linear(x))
        h = nn.Dropout(0.2)(h)  # EXPECT: dropout-ignores-mode
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
