"""a sensor's missing value, coded 9999, was left in the targets: one batch in the middle has a gradient of another order."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MISSING = 9999.0


def readings(n=2400):
    x = torch.randn(n, 5)
    y = (x[:, :1] * 2 + x[:, 1:2]).tanh() + 0.1 * torch.randn(n, 1)
    y[2101] = MISSING
    return x, y


def main():
    torch.manual_seed(231)
    x, y = readings()
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    seen = []
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16):
        loss = F.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()  # EXPECT: gradient-spikes
        optimizer.step()
        seen.append(loss.item())
    print(f"median {sorted(seen)[len(seen) // 2]:.3f} largest {max(seen):.1f}")


if __name__ == "__main__":
    main()
