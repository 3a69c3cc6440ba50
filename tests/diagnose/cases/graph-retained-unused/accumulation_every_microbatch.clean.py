"""Legitimate twin: a gradient penalty with create_graph=True (which retains by itself), then the ordinary backward()."""
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
            inputs = x[idx].requires_grad_(True)
            out = model(inputs)
            (slope,) = torch.autograd.grad(out.sum(), inputs, create_graph=True)
            loss = (nn.functional.mse_loss(out, y[idx]) + 1e-3 * slope.square().mean()) / ACCUMULATE
            loss.backward()
            total += loss.item()
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        print("epoch", epoch, "loss", round(total / 8, 4))


if __name__ == "__main__":
    main()
