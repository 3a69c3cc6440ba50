"""one gain for each feature, in bfloat16, under a schedule that lowers the rate at every step: no update ever counts."""
import torch
from torch import nn

torch.manual_seed(11)


class Gains(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(n, dtype=torch.bfloat16))

    def forward(self, x):
        return (x * self.gain.to(x.dtype)).sum(1)


x = torch.rand(200, 6).bfloat16()
y = x.float() @ torch.tensor([0.8, 1.2, 0.9, 1.1, 1.0, 0.7])
model = Gains(6)
optimizer = torch.optim.SGD(model.parameters(), lr=4e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300, eta_min=1e-3)
for step in range(300):
    rows = torch.randint(0, 200, (50,))
    loss = (model(x[rows]).float() - y[rows]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # EXPECT: step-without-change
    schedule.step()
    if step % 100 == 0:
        print(step, f"{loss.item():.4f}", (model.gain.detach() - 1).abs().max().item() > 0)
