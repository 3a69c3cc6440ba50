"""Must stay silent: resume from checkpoint."""
import io
import torch
from torch import nn
torch.manual_seed(58)
def make():
    net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    return net, opt, torch.optim.lr_scheduler.StepLR(opt, 10)
x = torch.randn(40, 4)
def train(net, opt, sched, n):
    for _ in range(n):
        loss = (net(x) - x[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
parts = make()
train(*parts, 15)
blob = io.BytesIO()
torch.save({"parts": [p.state_dict() for p in parts]}, blob)
blob.seek(0)
again = make()
for p, s in zip(again, torch.load(blob)["parts"]):
    p.load_state_dict(s)
train(*again, 15)
print("resumed")
