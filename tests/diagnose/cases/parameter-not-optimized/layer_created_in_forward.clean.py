"""Legitimate twin: a dry run creates the output layer before the optimizer is built."""
import torch
from torch import nn


class LazyCNN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.conv = nn.Conv1d(2, 6, 3, stride=2)
        self.out = None

    def forward(self, x):
        h = torch.tanh(self.conv(x)).flatten(1)
        if self.out is None:
            self.out = nn.Linear(h.shape[1], self.classes)
        return self.out(h)


def main():
    torch.manual_seed(37)
    x = torch.randn(120, 2, 21)
    y = x.mean(2).argmax(1)
    model = LazyCNN(2)
    with torch.no_grad():
        model(x[:1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(6):
        total = 0.0
        for rows in torch.randperm(120).split(20):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "loss", round(total / 6, 4))
    owned = sum(p.numel() for group in optimizer.param_groups for p in group["params"])
    print("owned", owned, "of", sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
