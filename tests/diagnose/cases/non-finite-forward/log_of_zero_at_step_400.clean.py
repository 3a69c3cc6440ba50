import torch
from torch import nn

torch.manual_seed(1)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(450):
    x = torch.rand(8, 3) + 0.1
    if step == 400:
        x[0] = 0.0
    feat = torch.log(x + 1e-3)
    loss = (net(feat) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
