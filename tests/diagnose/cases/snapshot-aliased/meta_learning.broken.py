"""Reptile: the start of the inner loop is remembered by reference."""
import torch
from torch import nn

torch.manual_seed(66)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))


def inner(task, k=5):
    opt = torch.optim.SGD(net.parameters(), 0.02)
    for _ in range(k):
        x = torch.rand(10, 1) * 6
        loss = (net(x) - torch.sin(x + task)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


for outer in range(6):
    before = net.state_dict()  # EXPECT: snapshot-aliased
    inner(outer * 0.5)
    after = net.state_dict()
    net.load_state_dict({k: before[k] + 0.3 * (after[k] - before[k]) for k in before})
print("reptile")
