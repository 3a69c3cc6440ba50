"""Must stay silent: gradient penalty logging."""
import torch
from torch import nn
torch.manual_seed(34)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 0.01)
for step in range(30):
    x = torch.randn(32, 5)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    if step % 10 == 0:
        norms = [g.norm().item() for g in torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)]
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(norms))
