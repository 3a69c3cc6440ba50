"""The second loss is one of torch's."""
import torch
from torch import nn
import numpy as np

torch.manual_seed(27)
np.random.seed(27)


class Model:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def fit(self, x, y, epochs, loss_fn):
        for _ in range(epochs):
            self.opt.zero_grad()
            loss = loss_fn(self.net(x), y)
            loss.backward()
            self.opt.step()
        return float(loss)


def mse(p, t):
    return (p - t).pow(2).mean()


def huber(p, t, delta=0.3):
    return nn.functional.huber_loss(p, t, delta=delta)


x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
m = Model()
print(m.fit(x, y, 350, mse))
print(m.fit(x, y, 100, huber))
