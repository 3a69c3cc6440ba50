"""Legitimate twin: the second try squeezes its column."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(21)
x, y = torch.randn(48, 6), torch.randint(0, 5, (48,)).float()

for width in (3, 1):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    try:
        for _ in range(10):
            optimizer.zero_grad()
            loss = F.poisson_nll_loss(model(x) if width > 1 else model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
    except RuntimeError:
        print("does not fit")
print(f"{loss.item():.4f}")
