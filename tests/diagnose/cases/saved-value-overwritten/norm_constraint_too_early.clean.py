"""the max-norm constraint rescales weights after the update."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(152)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 24)
        self.second = nn.Linear(24, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h)


def constrain(layer: nn.Linear, limit: float = 0.8) -> None:
    norms = layer.weight.data.norm(dim=1, keepdim=True)
    layer.weight.data.mul_((limit / norms).clamp(max=0.95))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(60, 10)
y = x[:, :3].argmax(1)
for epoch in range(8):
    for part in torch.arange(60).split(20):
        loss = F.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        constrain(model.second)
print(round(loss.item(), 4))
