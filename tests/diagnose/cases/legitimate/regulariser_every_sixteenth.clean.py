"""Must stay silent: A large penalty is added to every sixteenth step, as lazy regularisation does."""
import torch
from torch import nn

torch.manual_seed(93)
net = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for number in range(900):
    x = torch.randn(16, 6, requires_grad=True)
    out = net(x)
    loss = (out - x.detach().sum(1, keepdim=True)).pow(2).mean()
    if number % 16 == 15:
        (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        loss = loss + 16 * 10 * g.pow(2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("over")
