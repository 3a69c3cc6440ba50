"""Must stay silent: zero init residual."""
import torch
from torch import nn
torch.manual_seed(25)
class Res(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        nn.init.zeros_(self.f[2].weight)
        nn.init.zeros_(self.f[2].bias)
        self.alpha = nn.Parameter(torch.zeros(1))
    def forward(self, x):
        return x + self.f(x)
net = nn.Sequential(*[Res() for _ in range(4)], nn.Linear(8, 1))
for r in list(net)[:4]:
    del r.alpha
opt = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(50):
    x = torch.randn(16, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("zero init")
