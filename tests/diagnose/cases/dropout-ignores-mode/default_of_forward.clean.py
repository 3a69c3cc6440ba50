"""forward(x, train=None) follows the module's mode, and a caller who wants dropout in eval mode says so."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(54)


class Classifier(nn.Module):
    def __init__(self, inputs=8, hidden=24, classes=3):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, classes)

    def forward(self, x, train=None):
        if train is None:
            train = self.training
        hidden = torch.relu(self.first(x))
        hidden = F.dropout(hidden, p=0.4, training=train)
        return self.second(hidden)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        hits = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return hits


x = torch.randn(180, 8)
y = x[:, :3].argmax(1)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(150).split(25):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "accuracy", round(accuracy(model, x[150:], y[150:]), 3))
model.eval()
with torch.no_grad():
    spread = torch.stack([model(x[150:], train=True).softmax(1) for _ in range(10)]).std(0).mean()
print("spread", round(spread.item(), 3))
