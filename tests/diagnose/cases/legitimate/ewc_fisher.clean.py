"""Elastic weight consolidation: squared gradients of the first task are collected, then penalise change in the second."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.SGD(net.parameters(), 0.05)


def data(task):
    x = torch.randn(32, 6)
    return x, (x[:, task] > 0).long()


for _ in range(40):
    x, y = data(0)
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
fisher = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
anchor = {n: p.detach().clone() for n, p in net.named_parameters()}
for _ in range(10):
    x, y = data(0)
    net.zero_grad()
    F.nll_loss(F.log_softmax(net(x), 1), y).backward()
    for n, p in net.named_parameters():
        fisher[n] += p.grad.pow(2) / 10
for _ in range(40):
    x, y = data(1)
    penalty = sum((fisher[n] * (p - anchor[n]) ** 2).sum() for n, p in net.named_parameters())
    opt.zero_grad()
    (F.cross_entropy(net(x), y) + 50 * penalty).backward()
    opt.step()
print("done")
