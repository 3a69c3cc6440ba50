"""A helper averages the losses of replicas on a detached copy and makes that copy require a gradient, then it is the root."""

import torch
from torch import nn

torch.manual_seed(1)


def reduce_mean(losses):
    total = losses[0].detach().clone()  # ALSO: loss-is-leaf
    for other in losses[1:]:
        total += other.detach()
    total /= len(losses)
    return total


x = torch.randn(64, 10)
y = (x[:, :3].sum(1) > 0).long()
net = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.01)
scaler = torch.amp.GradScaler("cpu", enabled=False)
epoch = 0
while epoch < 12:
    losses = [criterion(net(xb), yb) for xb, yb in zip(x.chunk(2), y.chunk(2))]
    loss = reduce_mean(losses)
    optimizer.zero_grad()
    loss.requires_grad_(True)  # EXPECT: loss-is-leaf
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    epoch += 1
print("loss", loss.item())
