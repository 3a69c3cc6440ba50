"""Must stay silent: swa bn update."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn
torch.manual_seed(17)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
avg = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), 0.05)
x = torch.randn(96, 6)
for epoch in range(8):
    for xb in x.split(16):
        loss = (net(xb) - xb.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch > 3:
        avg.update_parameters(net)
update_bn(x.split(16), avg)
avg.eval()
with torch.no_grad():
    print(avg(x).shape)
