"""the error about scalar outputs was silenced with ones_like(loss): the update is 32 times the one of the mean."""
import torch
from torch import nn

torch.manual_seed(11)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


def train_one_epoch(model, optimizer, criterion, x, y):
    total = 0.0
    for idx in torch.randperm(len(x)).split(32):
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])  # ALSO: loss-not-scalar
        loss.backward(torch.ones_like(loss))  # EXPECT: loss-not-scalar
        optimizer.step()
        total += loss.mean().item()
    return total / (len(x) / 32)


def main():
    x = torch.randn(320, 10)
    y = x[:, :4].argmax(1)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss(reduction="none")
    for epoch in range(6):
        print("epoch", epoch, "loss", round(train_one_epoch(model, optimizer, criterion, x, y), 4))


if __name__ == "__main__":
    main()
