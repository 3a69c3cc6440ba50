"""Must stay silent: population in parameters list."""
import torch
from torch import nn
torch.manual_seed(63)
class Ensemble(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ws = nn.ParameterList(nn.Parameter(torch.randn(3, 1)) for _ in range(n))
        self.cache = {}
    def forward(self, x):
        outs = [x @ w for w in self.ws]
        self.cache["last"] = torch.stack([o.detach() for o in outs])
        return torch.stack(outs).mean(0)
m = Ensemble(4)
opt = torch.optim.SGD(m.parameters(), 0.05)
for _ in range(25):
    x = torch.randn(32, 3)
    loss = (m(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(m.cache["last"].shape)
