"""Warm-up from zero by LambdaLR, cosine restarts, plateau on validation, one after another with fresh optimizers."""
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts, LambdaLR, OneCycleLR, ReduceLROnPlateau, SequentialLR, LinearLR

torch.manual_seed(4)
X = torch.randn(256, 6)
Y = X @ torch.randn(6, 1)


def run(make):
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sched, per_batch = make(opt)
    for epoch in range(6):
        for i in range(0, 256, 32):
            loss = nn.functional.mse_loss(net(X[i:i + 32]), Y[i:i + 32])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if per_batch:
                sched.step()
        if not per_batch:
            with torch.no_grad():
                val = nn.functional.mse_loss(net(X), Y)
            sched.step(val) if isinstance(sched, ReduceLROnPlateau) else sched.step()
    return loss.item()


for make in (
    lambda o: (LambdaLR(o, lambda s: min(1.0, s / 20)), True),
    lambda o: (CosineAnnealingWarmRestarts(o, T_0=10), True),
    lambda o: (OneCycleLR(o, max_lr=0.05, total_steps=48), True),
    lambda o: (ReduceLROnPlateau(o, patience=1), False),
    lambda o: (SequentialLR(o, [LinearLR(o, 0.01, 1.0, 8), LambdaLR(o, lambda s: 0.95**s)], [8]), True),
):
    print(f"{run(make):.4f}")
