"""Dropout layers kept in a plain tuple outside of the module tree."""
import torch
from torch import nn

torch.manual_seed(44)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(7, 7) for _ in range(3))
        self.drops = nn.ModuleList(nn.Dropout(0.1 * (i + 1)) for i in range(3))

    def forward(self, x):
        for layer, drop in zip(self.layers, self.drops):
            x = x + drop(torch.relu(layer(x)))
        return x


def run(net, x, training):
    net.train(training)
    with torch.set_grad_enabled(training):
        return (net(x) - x.roll(1, 0)).abs().mean()


net = Stack()
opt = torch.optim.SGD(net.parameters(), 0.01)
x = torch.randn(30, 7)
for epoch in range(6):
    loss = run(net, x, True)
    opt.zero_grad()
    loss.backward()
    opt.step()
    check = run(net, x, False).item()
print(check > 0)
