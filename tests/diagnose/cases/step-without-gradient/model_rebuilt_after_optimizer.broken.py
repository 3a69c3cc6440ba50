"""the model is rebuilt after the optimizer was made, which goes on owning the parameters of the first one."""
import torch
from torch import nn

torch.manual_seed(33)


def make_model():
    return nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 5))


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


x = torch.randn(200, 10)
y = (x @ torch.randn(10, 5)).argmax(1)
model = make_model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # MAY: parameter-not-optimized
print("accuracy of the first draw", accuracy(model, x, y))
model = make_model()
for epoch in range(6):
    for idx in torch.randperm(200).split(25):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # EXPECT: step-without-gradient
    print("epoch", epoch, "accuracy", accuracy(model, x, y))
