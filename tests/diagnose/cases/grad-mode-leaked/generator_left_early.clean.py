"""It is run to its end."""
import torch
from torch import nn

torch.manual_seed(15)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(200, 5)
y = (x[:, 0] > 0).long()


def predictions(batch=50):
    torch.set_grad_enabled(False)
    for i in range(0, 200, batch):
        yield model(x[i:i + batch]).argmax(1), y[i:i + batch]
    torch.set_grad_enabled(True)


def accuracy():
    hits = 0
    for p, t in predictions():
        hits += (p == t).sum().item()
        if hits > 1000:
            break
    return hits


for epoch in range(4):
    for idx in torch.randperm(200).split(2):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch >= 2:
        print(accuracy())
