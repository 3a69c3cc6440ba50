"""gradient accumulation over four micro-batches, each with its own forward, does not need the retain_graph=True it has."""
import torch
from torch import nn

torch.manual_seed(33)
ACCUMULATE = 4


def make_model():
    return nn.Sequential(nn.Linear(5, 32), nn.Softplus(), nn.Linear(32, 1))


def main():
    x = torch.randn(320, 5)
    y = (x[:, :1] * x[:, 1:2]).tanh()
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        total = 0.0
        for i, idx in enumerate(torch.randperm(320).split(10)):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx]) / ACCUMULATE
            loss.backward(retain_graph=True)  # EXPECT: graph-retained-unused
            total += loss.item()
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        print("epoch", epoch, "loss", round(total / 8, 4))


if __name__ == "__main__":
    main()
