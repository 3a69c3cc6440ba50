"""Grad-CAM maps between epochs: backward of a class score, gradients of the activation kept by a hook, then cleared."""
import torch
from torch import nn

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        f = self.conv(x)
        return self.head(f.mean((2, 3)))


class GradCam:
    def __init__(self, model):
        self.model = model
        self.acts = self.grads = None
        model.conv[-2].register_forward_hook(self.keep)

    def keep(self, module, args, out):
        self.acts = out
        if out.requires_grad:
            out.register_hook(lambda g: setattr(self, "grads", g))

    def __call__(self, x):
        self.model.eval()
        scores = self.model(x)
        scores[range(len(x)), scores.argmax(1)].sum().backward()
        w = self.grads.mean((2, 3), keepdim=True)
        cam = (w * self.acts.detach()).sum(1).relu()
        self.model.zero_grad()
        self.model.train()
        return cam


model = Net()
cam = GradCam(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(64, 1, 8, 8)
y = torch.randint(0, 4, (64,))
x[range(64), 0, y, y] += 4
for epoch in range(12):
    for i in range(0, 64, 16):
        loss = nn.functional.cross_entropy(model(x[i:i + 16]), y[i:i + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    maps = cam(x[:4])
    print(epoch, f"{loss.item():.3f}", tuple(maps.shape), f"{maps.mean().item():.4f}")
