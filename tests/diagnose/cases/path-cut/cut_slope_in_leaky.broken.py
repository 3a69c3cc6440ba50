"""The learned negative slope is handed over as a number."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Act(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.2))

    def forward(self, x):
        return F.leaky_relu(x, self.slope.item())  # EXPECT: path-cut


torch.manual_seed(10)
net = nn.Sequential(nn.Linear(5, 16), Act(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(50):
    x = torch.randn(32, 5)
    loss = F.mse_loss(net(x), x.prod(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
