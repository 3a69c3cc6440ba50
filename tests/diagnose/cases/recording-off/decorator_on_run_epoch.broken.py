"""@torch.no_grad() was put on the epoch function that both training and validation use, so training has nothing to differentiate."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


def make_loader(n):
    x = torch.randn(n, 14)
    return DataLoader(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long()), batch_size=24)


@torch.no_grad()  # EXPECT-ERROR: recording-off
def run_epoch(model, loader, criterion, optimizer=None):
    total = 0.0
    for xb, yb in loader:
        loss = criterion(model(xb), yb)  # ALSO: recording-off
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    model = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    train_loader, val_loader = make_loader(192), make_loader(96)
    for epoch in range(5):
        model.train()
        train_loss = run_epoch(model, train_loader, criterion, optimizer)
        model.eval()
        print(epoch, round(train_loss, 4), round(run_epoch(model, val_loader, criterion), 4))


if __name__ == "__main__":
    main()
