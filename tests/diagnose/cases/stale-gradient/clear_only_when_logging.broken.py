"""zero_grad() slid into the branch that logs every tenth step (udacity deep-learning-v2-pytorch#160)."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(104)


@dataclass
class Log:
    every: int = 10
    rows: list = field(default_factory=list)

    def wants(self, step: int) -> bool:
        return step % self.every == 0


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 24), nn.GELU())
        self.level = nn.Linear(24, 1)
        self.kind = nn.Linear(24, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.level(h).squeeze(1), self.kind(h)


model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60)
x = torch.randn(120, 10)
level, kind = x[:, 0] * x[:, 1], x[:, :4].argmax(1)
log = Log()
for step in range(60):
    chosen = torch.randint(0, 120, (30,))
    level_out, kind_out = model(x[chosen])
    losses = [F.huber_loss(level_out, level[chosen]), F.cross_entropy(kind_out, kind[chosen])]
    torch.autograd.backward(losses)  # ALSO: stale-gradient
    optimizer.step()  # EXPECT: stale-gradient
    scheduler.step()
    if log.wants(step):
        log.rows.append((step, sum(v.item() for v in losses)))
        optimizer.zero_grad()
print(log.rows)
