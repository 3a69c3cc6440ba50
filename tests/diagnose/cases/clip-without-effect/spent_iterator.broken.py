"""`trainable` is an iterator; the optimizer has emptied it."""
import torch
from torch import nn

torch.manual_seed(9)


def trainable(module):
    return filter(lambda p: p.requires_grad, module.parameters())


model = nn.Sequential(nn.Linear(3, 12), nn.Softplus(), nn.Linear(12, 3))
params = trainable(model)
optimizer = torch.optim.RMSprop(params, lr=1e-3)
points = torch.randn(200, 3)
for _ in range(20):
    noisy = points + 0.1 * torch.randn_like(points)
    loss = (model(noisy) - points).square().sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    total = torch.nn.utils.clip_grad_norm_(params, 0.25)  # EXPECT: clip-without-effect
    optimizer.step()
print("ok")
