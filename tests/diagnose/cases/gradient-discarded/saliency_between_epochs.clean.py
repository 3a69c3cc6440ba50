"""After each epoch the gradient at a layer's output is taken by a hook (Grad-CAM); the parameters' gradients are cleared on purpose."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(120, 5)
y = x[:, :3].argmax(1)
seen = {}
model[1].register_forward_hook(lambda module, inputs, out: seen.update(out=out))


def importance(sample):
    scores = model(sample)
    hidden = seen["out"]
    hidden.register_hook(lambda g: seen.update(gradient=g))
    scores[0, scores[0].argmax()].backward()
    model.zero_grad()
    return (seen["gradient"] * hidden.detach()).sum().item()


for epoch in range(6):
    for rows in torch.randperm(120).split(12):
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    value = importance(x[:1])
print("epochs", epoch + 1)
