"""Missing targets are nan and left out by where(), but after the square: 0 * nan = nan in its derivative."""
import torch
from torch import nn

torch.manual_seed(37)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 20), nn.SiLU())
        self.heads = nn.Linear(20, 3)

    def forward(self, x):
        return self.heads(self.trunk(x))


def observed_mse(prediction, target):
    squared = (prediction - target) ** 2  # EXPECT: non-finite-backward
    return torch.where(torch.isnan(target), torch.zeros_like(squared), squared).mean()


model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    x = torch.randn(16, 6)
    target = x[:, :3] ** 2
    if step >= 25:
        target[torch.rand(16, 3) < 0.2] = float("nan")
    loss = observed_mse(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, loss.item())
