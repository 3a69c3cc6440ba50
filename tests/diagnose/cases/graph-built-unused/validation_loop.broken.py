"""Validation in eval mode with recording on."""
import torch
from torch import nn

torch.manual_seed(38)
net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
train, valid = torch.randn(64, 20), torch.randn(1024, 20)


class Phase:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        net.train(self.name == "train")
        return self

    def __exit__(self, *_):
        net.train()


for epoch in range(12):
    with Phase("train"):
        loss = (net(train) - train[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with Phase("valid"):
        err = (net(valid) - valid[:, :1]).abs().mean().item()  # EXPECT: graph-built-unused
print(epoch)
