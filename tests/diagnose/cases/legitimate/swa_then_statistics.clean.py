"""averaged weights at the end, and batch-norm statistics computed anew in train mode without gradients."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn

torch.manual_seed(112)
net = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
avg, sched = AveragedModel(net), SWALR(opt, swa_lr=0.01)
data = [torch.randn(16, 5) for _ in range(10)]
for epoch in range(5):
    for x in data:
        loss = F.cross_entropy(net(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    avg.update_parameters(net)
    sched.step()
update_bn(data, avg)
avg.eval()
with torch.no_grad():
    print(avg(data[0]).shape)
