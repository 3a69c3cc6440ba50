"""A probe enters no_grad by hand and leaves it at its end; of a batch without positive labels it returns before that, at step 230."""
import torch
from torch import nn

torch.manual_seed(167)
net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)


def recall(x, y):
    with torch.no_grad():
        hits = (net(x)[:, 0] > 0) & (y > 0)
    if not y.any():
        return float("nan")
    return hits.sum().item() / y.sum().item()


for step in range(300):
    x = torch.randn(32, 5)
    y = (x[:, 0] > 0.3).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 46 == 0:
        recall(x, y * 0 if step == 230 else y)
print("done")
