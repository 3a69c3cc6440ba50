"""the energy is averaged over everything; a result of shape (1,) would do, too."""
import torch
from torch import nn

torch.manual_seed(172)
net = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
data = torch.randn(128, 2) * 0.3


def contrast(real: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    up, down = net(noise), net(real)
    return nn.functional.softplus(down - up).mean(dim=0)


for step in range(20):
    rows = torch.randint(0, 128, (32,))
    loss = contrast(data[rows], torch.randn(32, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.mean().item())
