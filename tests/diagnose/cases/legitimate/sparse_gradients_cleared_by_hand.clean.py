"""Sparse and dense gradients are cleared by hand, through `.data`."""
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(10, 4, sparse=True), nn.Flatten(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), 0.01)
def clear(params):
    for p in params:
        if p.grad is not None:
            if p.grad.is_sparse:
                p.grad = None
            else:
                p.grad.data.zero_()
for i in range(150):
    x = torch.randint(0, 10, (8, 2))
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
    clear(net.parameters())
print(loss.item())
