"""an epoch is one step on the whole set, so validation without eval() follows every single step."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(63)


def main():
    x = torch.randn(90, 6)
    y = (x[:, 0] * x[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.4), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(40):
        model.train()
        loss = F.cross_entropy(model(x[:60]), y[:60])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.set_grad_enabled(False):
            held_out = F.cross_entropy(model(x[60:]), y[60:]).item()  # EXPECT: inference-in-train-mode
        if epoch % 10 == 9:
            print(epoch, round(loss.item(), 4), round(held_out, 4))


if __name__ == "__main__":
    main()
