"""Must stay silent: top-1 routing; some experts see no token for many steps and then have no or zero gradients."""
import torch
from torch import nn

torch.manual_seed(139)


class MoE(nn.Module):
    def __init__(self, dim=8, experts=6):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim)) for _ in range(experts))

    def forward(self, x):
        weight, choice = self.router(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            mine = (choice == index).nonzero().squeeze(1)
            if len(mine):
                out = out.index_add(0, mine, weight[mine, None] * expert(x[mine]))
        return x + out


model = nn.Sequential(nn.Linear(5, 8), MoE(), nn.LayerNorm(8), nn.Linear(8, 2))
with torch.no_grad():
    model[1].router.bias[4] = -2.0
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(60):
    x = torch.randn(24, 5)
    y = (x[:, 0] * x[:, 1] > 0).long()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
