"""Blocks per stage are kept in a dictionary of lists."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.stages = nn.ModuleDict({s: nn.ModuleList([nn.Linear(8, 8) for _ in range(2)]) for s in ("low", "high")})
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages.values():
            for layer in stage:
                x = x + layer(x).relu()
        return self.head(x)


torch.manual_seed(12)
net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(40):
    x = torch.randn(16, 4)
    loss = (net(x)[:, 0] - x[:, 1].exp()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
