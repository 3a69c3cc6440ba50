"""Gains near one in bfloat16 do not move, while the matrices do."""
import torch
from torch import nn

torch.manual_seed(9)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return x + torch.tanh(self.fc(self.norm(x)))


net = nn.Sequential(Block(), nn.Linear(8, 1))
net = net.to(torch.bfloat16)
opt = torch.optim.SGD(net.parameters(), lr=2e-3)
for _ in range(60):
    x = torch.randn(16, 8)
    out = net(x.to(net[1].weight.dtype)).float()
    loss = (out - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # EXPECT: step-without-change
print(f"{loss.item():.1f}")
