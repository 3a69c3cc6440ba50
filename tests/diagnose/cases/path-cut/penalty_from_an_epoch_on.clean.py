"""The same penalty as a tensor."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
CFG = {"epochs": 12, "l2_from": 6, "l2": 1e-2, "batch": 16}
x = torch.randn(640, 10)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 2))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def weight_decay_term(net):
    squares = sum(p.pow(2).sum() for n, p in net.named_parameters() if "weight" in n)
    return squares


for epoch in range(CFG["epochs"]):
    total = 0.0
    for idx in torch.randperm(len(x)).split(CFG["batch"]):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        if epoch >= CFG["l2_from"]:
            loss = loss + CFG["l2"] * weight_decay_term(model)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(epoch, total)
