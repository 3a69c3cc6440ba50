"""features are computed once under no_grad; only the head is trained."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def precompute(backbone: nn.Module, images: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return backbone(images)


def fit(head: nn.Module, loader: DataLoader, epochs: int) -> float:
    optimizer = torch.optim.Adagrad(head.parameters(), lr=0.05)
    for _ in range(epochs):
        for features, labels in loader:
            loss = F.multi_margin_loss(head(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main() -> None:
    torch.manual_seed(163)
    images = torch.rand(30, 3, 6, 6)
    labels = images.mean((2, 3)).argmax(1)
    backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Tanh(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    loader = DataLoader(TensorDataset(precompute(backbone, images), labels), batch_size=10, shuffle=True)
    print("loss", round(fit(nn.Linear(8, 3), loader, epochs=3), 4))


if __name__ == "__main__":
    main()
