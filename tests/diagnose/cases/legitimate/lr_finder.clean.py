"""Must stay silent: a learning-rate range test that ends in divergence, then restores weights and optimizer from copies."""
import copy
import torch
from torch import nn

torch.manual_seed(121)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)


def batch():
    x = torch.randn(24, 6)
    return x, x[:, :1] - x[:, 1:2]


saved = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
curve, lr = [], 1e-3
for trial in range(16):
    optimizer.param_groups[0]["lr"] = lr
    x, y = batch()
    loss = nn.functional.mse_loss(model(x), y)
    if curve and loss.item() > 6 * min(value for _, value in curve):
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append((lr, loss.item()))
    lr *= 1.6
model.load_state_dict(saved[0])
optimizer.load_state_dict(saved[1])
chosen = min(curve, key=lambda point: point[1])[0] / 3
for group in optimizer.param_groups:
    group["lr"] = chosen
for step in range(40):
    x, y = batch()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print("chosen", round(chosen, 4), "loss", round(loss.item(), 4))
