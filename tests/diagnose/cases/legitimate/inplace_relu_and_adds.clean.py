"""Must stay silent: inplace relu and adds."""
import torch
from torch import nn
torch.manual_seed(55)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.act = nn.ReLU(inplace=True)
        self.fc = nn.Linear(6, 3)
    def forward(self, x):
        h = self.act(self.c1(x))
        o = self.bn(self.c2(h))
        o += h
        self.act(o)
        return self.fc(o.mean((2, 3)))
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.05)
x, y = torch.randn(12, 1, 8, 8), torch.arange(12) % 3
for _ in range(15):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("resnet")
