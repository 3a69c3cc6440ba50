"""The schedule reaches 0 in the middle of the training."""
import torch
from torch import nn

torch.manual_seed(5)
TOTAL = 600
DECAY_STEPS = 300
model = nn.Linear(5, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: max(0.0, 1.0 - s / DECAY_STEPS))
for step in range(TOTAL):
    x = torch.randn(32, 5)
    y = (x[:, 0] > 0.2).long()
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()  # EXPECT: step-without-change
    sched.step()
print(loss.item())
