"""Must stay silent: a convolution's bias before batch-norm has no effect, its gradient is rounding noise."""
import torch
from torch import nn

torch.manual_seed(183)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(),
            nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.block(x).amax((2, 3)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(60):
    x = torch.randn(16, 1, 6, 6)
    loss = nn.functional.cross_entropy(model(x), (x.amax((1, 2, 3)) > 2.2).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
