"""A network of three layers learns handwritten digits: the ordinary training loop."""

from digits import load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F
from clarion.utils.data import DataLoader, TensorDataset


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(dim=1) == labels).float().mean()
    model.train()
    return right.item()


def run(steps: int = 300) -> list[float]:
    torch.manual_seed(0)
    images, labels, test_images, test_labels = map(torch.from_numpy, load_digits())
    loader = DataLoader(TensorDataset(images, labels), batch_size=50, shuffle=True)
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
    )
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)

    losses: list[float] = []
    epoch = 0
    while len(losses) < steps:
        epoch += 1
        for batch, target in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), target)
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) == steps:
                break
        right = accuracy(model, test_images, test_labels)
        print(f"epoch {epoch:2}  loss {losses[-1]:.4f}  test accuracy {right:.1%}")
    return losses


if __name__ == "__main__":
    run()
