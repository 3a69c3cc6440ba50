"""Must stay silent: Lookahead pulls the fast weights towards slow copies every five steps, under no_grad."""
import torch
from torch import nn


class Lookahead:
    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.slow = [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]

    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            with torch.no_grad():
                for group, slow_group in zip(self.optimizer.param_groups, self.slow):
                    for p, slow in zip(group["params"], slow_group):
                        slow.add_(p - slow, alpha=self.alpha)
                        p.copy_(slow)

    def zero_grad(self):
        self.optimizer.zero_grad()


torch.manual_seed(109)
x = torch.randn(200, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 24), nn.ELU(), nn.Linear(24, 3))
optimizer = Lookahead(torch.optim.Adam(model.parameters(), lr=1e-2))
for step in range(60):
    rows = torch.randint(0, 200, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
