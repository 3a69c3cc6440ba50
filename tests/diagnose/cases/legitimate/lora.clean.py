"""Must stay silent: lora."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(4)
class LoRA(nn.Module):
    def __init__(self, base, r):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        self.a = nn.Parameter(torch.randn(r, base.in_features) * 0.02)
        self.b = nn.Parameter(torch.zeros(base.out_features, r))
    def forward(self, x):
        return self.base(x) + x @ self.a.t() @ self.b.t()
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 4))
net[0], net[2] = LoRA(net[0], 2), LoRA(net[2], 2)
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, net.parameters()), 5e-3)
x, y = torch.randn(60, 6), torch.arange(60) % 4
for _ in range(40):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("lora")
