"""The hidden layer is dead after one step that was far too large."""
import torch
from torch import nn

torch.manual_seed(59)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.b(self.a(x).clamp(min=0))


net = Net()
nn.init.constant_(net.a.bias, 0.1)
opt = torch.optim.SGD(net.parameters(), 1e-2)
for _ in range(120):
    x = torch.randn(64, 5)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("net")
