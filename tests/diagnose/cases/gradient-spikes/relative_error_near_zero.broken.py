"""the relative error divides by targets, and one target in the stream is a thousandth of the others."""
import torch
from torch import nn

torch.manual_seed(234)


class Stream:
    def __init__(self, length):
        self.length = length

    def __iter__(self):
        for number in range(self.length):
            x = torch.rand(20, 3) + 0.5
            y = x.prod(1, keepdim=True)
            if number == 140:
                y[7] = 1e-3
            yield x, y


def relative(prediction, y):
    return ((prediction - y) / y).pow(2).mean()


net = nn.Sequential(nn.Linear(3, 24), nn.Softplus(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
history = []
for x, y in Stream(160):
    loss = relative(net(x), y)
    optimizer.zero_grad()
    loss.backward()  # EXPECT: gradient-spikes
    optimizer.step()
    history.append(loss.item())
print(round(history[139], 4), round(history[140], 4), round(history[-1], 4))
