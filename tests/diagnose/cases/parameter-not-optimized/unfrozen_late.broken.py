"""The backbone is unfrozen in the eighth epoch; the optimizer got only what was not frozen."""
import torch
from torch import nn

torch.manual_seed(10)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze(module, frozen=True):
    for p in module.parameters():
        p.requires_grad_(not frozen)


model = Net()
freeze(model.backbone)
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)  # EXPECT: parameter-not-optimized
x = torch.randn(600, 10)
y = x[:, 2:5].argmax(1)
for epoch in range(16):
    if epoch == 8:
        freeze(model.backbone, False)
    for idx in torch.randperm(600).split(20):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
