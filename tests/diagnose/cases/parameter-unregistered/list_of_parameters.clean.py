"""Legitimate twin: the list stays out of parameters() on purpose and a second optimizer owns it (architecture search)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(47)


class Supernet(nn.Module):
    def __init__(self, cells=2):
        super().__init__()
        self.ops = nn.ModuleList(
            [nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6, bias=False), nn.Identity()]) for _ in range(cells)])
        self.alphas = [nn.Parameter(1e-3 * torch.randn(3)) for _ in range(cells)]
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        for ops, alpha in zip(self.ops, self.alphas):
            weights = alpha.softmax(0)
            x = sum(w * torch.tanh(op(x)) for w, op in zip(weights, ops))
        return self.out(x)


x = torch.randn(160, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
net = Supernet()
weight_opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
arch_opt = torch.optim.Adam(net.alphas, lr=1e-2)
for step in range(50):
    train, valid = torch.randperm(160)[:64].split(32)
    arch_opt.zero_grad()
    F.cross_entropy(net(x[valid]), y[valid]).backward()
    arch_opt.step()
    weight_opt.zero_grad()
    loss = F.cross_entropy(net(x[train]), y[train])
    loss.backward()
    weight_opt.step()
print("loss", loss.item(), "alphas", [a.softmax(0).tolist() for a in net.alphas])
