"""Legitimate twin: the decorator sits on the validation function only, which calls the shared forward."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


def make_loader(n):
    x = torch.randn(n, 14)
    return DataLoader(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long()), batch_size=24)


def run_epoch(model, loader, criterion, optimizer=None):
    total = 0.0
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    return run_epoch(model, loader, criterion)


def main():
    model = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    train_loader, val_loader = make_loader(192), make_loader(96)
    for epoch in range(5):
        model.train()
        train_loss = run_epoch(model, train_loader, criterion, optimizer)
        print(epoch, round(train_loss, 4), round(validate(model, val_loader, criterion), 4))


if __name__ == "__main__":
    main()
