"""Must stay silent: SimSiam; the other view's projection is detached on purpose."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(178)
encoder = nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 8))
predictor = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)


def half_loss(prediction, projection):
    return -F.cosine_similarity(prediction, projection.detach(), dim=1).mean()


for step in range(50):
    x = torch.randn(32, 8)
    z1 = encoder(x + 0.3 * torch.randn_like(x))
    z2 = encoder(x + 0.3 * torch.randn_like(x))
    loss = 0.5 * half_loss(predictor(z1), z2) + 0.5 * half_loss(predictor(z2), z1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
