"""`.to(dtype)` of a Parameter gives a tensor that is no Parameter."""
import torch
from torch import nn

torch.manual_seed(20)


class Rff(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.freq = nn.Parameter(torch.randn(dim, n))
        self.phase = nn.Parameter(torch.rand(n) * 6.28)
        self.out = nn.Linear(n, 1)

    def forward(self, x):
        return self.out(torch.cos(x @ self.freq + self.phase.detach() * 0 + self.phase))


net = Rff(2, 32)
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.rand(100, 2)
for _ in range(20):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ok")
