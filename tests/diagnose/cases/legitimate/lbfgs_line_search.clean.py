"""Must stay silent: lbfgs line search."""
import torch
from torch import nn
torch.manual_seed(19)
net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1)).double()
opt = torch.optim.LBFGS(net.parameters(), lr=1, max_iter=10, line_search_fn="strong_wolfe")
x = torch.rand(50, 2).double()
y = (x[:, :1] * 6).sin()
for _ in range(5):
    def closure():
        opt.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        return loss
    loss = opt.step(closure)
print(float(loss) < 10)
