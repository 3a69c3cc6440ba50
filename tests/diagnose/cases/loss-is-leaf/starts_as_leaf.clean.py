"""The sum of losses is collected in `.data` of a leaf."""
import torch
from torch import nn

torch.manual_seed(12)


class MultiScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
            yield x


net = MultiScale()
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(30, 4)
for _ in range(10):
    total = torch.zeros(1)
    for level, out in enumerate(net(x)):
        total = total + (out - x).abs().mean() / (level + 1)
    opt.zero_grad()
    total.backward()
    opt.step()
print("finished")
