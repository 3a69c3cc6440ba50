"""Only the encoder is put in eval mode by a helper that extracts features for a plot, and stays in it."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.3))
        self.head = nn.Linear(24, 2)

    def forward(self, x):
        return self.head(self.encoder(x))


torch.manual_seed(3)
net = Net()
opt = torch.optim.Adam(net.parameters(), 3e-3)


def features(x):
    net.encoder.eval()
    with torch.no_grad():
        f = net.encoder(x)
    net.encoder.train()
    return f


for step in range(90):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 30:
        print(features(torch.randn(8, 6)).shape)
