"""Must stay silent: a smoothed loss is differentiated, whose past is handed on without its history."""
import torch
from torch import nn

torch.manual_seed(115)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), 1e-3)
avg = torch.zeros(())
for step in range(40):
    x = torch.randn(20, 5)
    loss = (net(x)[:, 0] - x[:, 0]).square().mean()
    avg = 0.9 * avg.detach() + 0.1 * loss
    opt.zero_grad()
    avg.backward()
    opt.step()
print(avg.item())
