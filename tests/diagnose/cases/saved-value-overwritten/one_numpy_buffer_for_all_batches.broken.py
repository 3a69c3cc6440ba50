"""every micro-batch is copied into the same NumPy buffer before the losses of the earlier ones were differentiated."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SIZE = 12
data = np.random.default_rng(7).normal(size=(96, 5)).astype(np.float32)
buffer = np.empty((SIZE, 5), dtype=np.float32)
batch = torch.from_numpy(buffer)


def load(first):
    np.copyto(buffer, data[first : first + SIZE])  # EXPECT: saved-value-overwritten
    return batch


def main():
    torch.manual_seed(155)
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(20):
        losses = []
        for first in range(0, 48, SIZE):
            x = load(first)
            losses.append(F.mse_loss(model(x), x[:, :1].clone()))  # ALSO: saved-value-overwritten
        total = torch.stack(losses).mean()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    print("loss", round(total.item(), 4))


if __name__ == "__main__":
    main()
