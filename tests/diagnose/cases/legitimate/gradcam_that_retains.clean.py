"""Must stay silent: maps of Grad-CAM keep their graphs, but no update uses their gradients."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.fc = nn.Linear(6, 3)
    def forward(self, x):
        return self.fc(F.relu(self.bn(self.conv(x))).mean((2, 3)))

class GradCAM:
    def __init__(self, model, layer):
        self.model, self.act, self.grad = model, None, None
        layer.register_forward_hook(lambda m, i, o: setattr(self, "act", o))
        layer.register_full_backward_hook(lambda m, gi, go: setattr(self, "grad", go[0]))
    def __call__(self, x, k):
        self.model.zero_grad()
        out = self.model(x)
        out[:, k].sum().backward(retain_graph=True)
        w = self.grad.mean((2, 3), keepdim=True)
        return F.relu((w * self.act).sum(1)).detach()

net = Net()
opt = torch.optim.SGD(net.parameters(), 0.05)
for step in range(40):
    x = torch.randn(16, 1, 8, 8); y = torch.randint(0, 3, (16,)); x += y[:, None, None, None] * 0.5
    opt.zero_grad(); F.cross_entropy(net(x), y).backward(); opt.step()
net.eval()
cam = GradCAM(net, net.conv)
maps = [cam(torch.randn(1, 1, 8, 8), k % 3) for k in range(25)]
print(torch.stack(maps).mean().item())
