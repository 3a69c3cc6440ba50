"""The loss curve is one tensor that grows by torch.cat of detached values."""
import torch
from torch import nn

torch.manual_seed(11)


def batches(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield x[chosen], y[chosen]


def train(model, x, y, epochs):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    curve = torch.zeros(0)
    for _ in range(epochs):
        for xb, yb in batches(x, y, 25):
            prediction = model(xb)
            loss = nn.functional.smooth_l1_loss(prediction, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            curve = torch.cat((curve, loss.detach().view(1)))
    return curve


def main():
    x = torch.linspace(-3, 3, 200).unsqueeze(1)
    y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
    model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
    curve = train(model, x, y, epochs=5)
    print("first", round(curve[0].item(), 4), "last", round(curve[-8:].mean().item(), 4), "of", len(curve))


main()
