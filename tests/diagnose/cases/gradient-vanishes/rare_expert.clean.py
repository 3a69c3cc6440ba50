"""A mixture of experts with dense masks: one expert sees its tokens so seldom that its gradient is zero for many steps."""
import torch
from torch import nn

torch.manual_seed(9)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.out = nn.Linear(4, 1)

    def forward(self, x, kind):
        total = 0
        for number, expert in enumerate(self.experts):
            total = total + expert(x) * (kind == number).float()[:, None]
        return self.out(total)


model = Mixture()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(60):
    x = torch.randn(24, 4)
    kind = torch.randint(0, 3, (24,))
    if step % 30 == 29:
        kind[0] = 3
    loss = (model(x, kind).squeeze(1) - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 1))
