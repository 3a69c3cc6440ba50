"""Must stay silent: the value of the loss is the true one, its gradient that of a surrogate."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
x = torch.randn(96, 6)
y = (x[:, 0] > 0).long()
model = nn.Linear(6, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    out = model(x)
    surrogate = F.cross_entropy(out, y)
    true = (out.softmax(1)[:, 0] - y.float()).abs().mean()
    loss = surrogate + (true - surrogate).detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
