"""uncertainty-weighted multi-task loss collected in a list."""
import torch
from torch import nn

torch.manual_seed(40)
trunk, h1, h2 = nn.Linear(6, 12), nn.Linear(12, 1), nn.Linear(12, 3)
log_vars = nn.Parameter(torch.zeros(2))
params = [*trunk.parameters(), *h1.parameters(), *h2.parameters(), log_vars]
opt = torch.optim.Adam(params, lr=1e-2)  # MAY: parameter-not-optimized
for _ in range(40):
    x = torch.randn(20, 6)
    f = torch.relu(trunk(x))
    losses = [nn.functional.mse_loss(h1(f), x[:, :1]), nn.functional.cross_entropy(h2(f), x[:, :3].argmax(1))]
    losses = torch.tensor(losses)  # EXPECT: path-cut
    loss = (losses * torch.exp(-log_vars) + log_vars).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("weighted")
