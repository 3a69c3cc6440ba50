"""A step size above 2 / curvature: the gradient grows steadily from step to step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(52)


def make_data(n=192):
    x = torch.randn(n, 6) * torch.tensor([1.0, 1.0, 1.5, 1.0, 2.0, 1.0])
    y = x @ torch.tensor([[1.0], [-1.0], [0.5], [0.2], [0.1], [2.0]]) + 0.1 * torch.randn(n, 1)
    return DataLoader(TensorDataset(x, y), batch_size=48, shuffle=True)


def fit(model, loader, lr, epochs=18):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()  # EXPECT: gradient-spikes
            optimizer.step()
            total += loss.item()
        if epoch % 6 == 5:
            print("epoch", epoch, "mse", total / len(loader))


fit(nn.Linear(6, 1), make_data(), lr=0.3)
