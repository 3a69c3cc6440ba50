"""Must stay silent: Weights are put in place by `.data =` between the steps, as averaging and quantisation do."""
import torch
from torch import nn

torch.manual_seed(96)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
shadow = [p.detach().clone() for p in net.parameters()]
opt = torch.optim.SGD(net.parameters(), 0.05)
for step in range(25):
    x = torch.randn(20, 5)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for i, p in enumerate(net.parameters()):
        shadow[i] = 0.9 * shadow[i] + 0.1 * p.data
        if step % 5 == 4:
            p.data = shadow[i].clone()
print("averaged")
