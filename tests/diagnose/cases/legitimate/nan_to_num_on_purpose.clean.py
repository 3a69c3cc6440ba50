"""Must stay silent: missing sensor values arrive as NaN, are replaced with nan_to_num and masked out of the loss."""
import torch
from torch import nn

torch.manual_seed(161)


class Imputer(nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * features, 32), nn.ReLU(), nn.Linear(32, features))

    def forward(self, x):
        present = ~torch.isnan(x)
        filled = torch.nan_to_num(x, nan=0.0)
        return self.net(torch.cat([filled, present.float()], dim=1)), filled, present


model = Imputer()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
basis = torch.randn(3, 8)
for step in range(60):
    x = torch.randn(32, 3) @ basis
    x[torch.rand_like(x) < 0.2] = float("nan")
    recon, filled, present = model(x)
    loss = ((recon - filled) * present).pow(2).sum() / present.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
