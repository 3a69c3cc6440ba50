"""The model has neither dropout nor statistics; somebody has put it in eval mode and left it so."""
import torch
import torch.nn as nn

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)


def fit(n):
    for _ in range(n):
        x = torch.randn(32, 4)
        loss = (net(x) - x[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


fit(20)
net.eval()
with torch.no_grad():
    print(net(torch.randn(8, 4)).shape)
fit(60)
