"""Must stay silent: adversarial training; the attack's backward also fills the parameters, and they are cleared."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(119)


def fgsm(model, x, y, epsilon=0.1):
    x = x.clone().requires_grad_(True)
    F.cross_entropy(model(x), y).backward()
    return (x + epsilon * x.grad.sign()).detach()


x = torch.randn(240, 8)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    for rows in torch.randperm(240).split(30):
        attacked = fgsm(model, x[rows], y[rows])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(attacked), y[rows])
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
