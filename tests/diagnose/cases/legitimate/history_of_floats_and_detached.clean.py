"""Must stay silent: history of floats and detached."""
import torch
from torch import nn
torch.manual_seed(40)
net = nn.Linear(5, 5)
opt = torch.optim.SGD(net.parameters(), 0.05)
hist = {"loss": [], "out": []}
for _ in range(40):
    x = torch.randn(16, 5)
    out = net(x)
    loss = (out - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    hist["loss"].append(loss.detach())
    hist["out"].append(out.data.mean(0))
print(torch.stack(hist["loss"]).shape)
