"""Must stay silent: mc dropout uncertainty."""
import torch
from torch import nn
torch.manual_seed(35)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(64, 4)
def enable_dropout(m):
    if isinstance(m, nn.Dropout):
        m.train()
for epoch in range(10):
    net.train()
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    net.apply(enable_dropout)
    with torch.no_grad():
        samples = torch.stack([net(x) for _ in range(8)])
print(samples.std(0).shape)
