"""Legitimate twin: the centres get gradients and are moved by hand with a rate of their own, as the method asks."""
import torch
from torch import nn

torch.manual_seed(45)


class CentreLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(classes, dim))

    def forward(self, features, labels):
        return (features - self.centres[labels]).pow(2).sum(1).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 4))
        self.classify = nn.Linear(4, 3)

    def forward(self, x):
        f = self.features(x)
        return f, self.classify(f)


x = torch.randn(150, 8)
y = x[:, :3].argmax(1)
net, centre_loss = Net(), CentreLoss(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
before = centre_loss.centres.detach().clone()
for epoch in range(6):
    for rows in torch.randperm(150).split(25):
        features, logits = net(x[rows])
        loss = nn.functional.cross_entropy(logits, y[rows]) + 0.05 * centre_loss(features, y[rows])
        optimizer.zero_grad()
        centre_loss.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            centre_loss.centres -= 2.0 * centre_loss.centres.grad
print("loss", loss.item(), "centres moved", (centre_loss.centres - before).abs().max().item())
