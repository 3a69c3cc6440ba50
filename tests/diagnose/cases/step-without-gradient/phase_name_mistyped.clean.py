"""Legitimate twin: backward() and step() in the training phase, neither in the validation phase."""
import torch
from torch import nn


def run_phase(phase, model, batches, optimizer, criterion):
    model.train(phase == "train")
    total, count = 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        with torch.set_grad_enabled(phase == "train"):
            loss = criterion(model(x), y)
            if phase == "train":
                loss.backward()
                optimizer.step()
        total += loss.item() * len(x)
        count += len(x)
    return total / count


def main():
    torch.manual_seed(23)
    x = torch.randn(160, 3, 8, 8)
    y = x.mean((2, 3)).argmax(1)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    loaders = {
        "train": list(zip(x[:120].split(20), y[:120].split(20))),
        "val": list(zip(x[120:].split(20), y[120:].split(20))),
    }
    for epoch in range(5):
        for phase in ("train", "val"):
            loss = run_phase(phase, model, loaders[phase], optimizer, criterion)
            print(epoch, phase, round(loss, 4))


if __name__ == "__main__":
    main()
