"""Cross entropy over a single logit column with float targets is always exactly zero."""
import torch
from torch import nn

torch.manual_seed(6)


class SpamNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def train(model, x, y, epochs=8):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in zip(x.split(40), y.split(40)):
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)  # EXPECT: softmax-over-one
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "loss", round(total, 5))


def main():
    x = torch.randn(200, 20)
    y = (x[:, :4].sum(1, keepdim=True) > 0).float()
    train(SpamNet(), x, y)


if __name__ == "__main__":
    main()
