"""Must stay silent: data generation with model in loop."""
import torch
from torch import nn
torch.manual_seed(61)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)
pool = torch.randn(400, 4)
def hardest(n):
    was = net.training
    net.eval()
    with torch.no_grad():
        err = (net(pool) - pool.sum(1, keepdim=True)).abs().squeeze(1)
    net.train(was)
    return pool[err.topk(n).indices]
for _ in range(25):
    x = hardest(32)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("hard mining")
