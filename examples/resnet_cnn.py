"""A small residual network of convolutions and batch normalization on handwritten digits."""

from digits import load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F


class Residual(nn.Module):
    """Two convolutions, added to their input; a stride of two halves the image and doubles the channels."""

    def __init__(self, channels: int, stride: int = 1) -> None:
        super().__init__()
        wide = channels * stride
        self.conv1 = nn.Conv2d(channels, wide, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(wide)
        self.conv2 = nn.Conv2d(wide, wide, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(wide)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, wide, 1, stride=stride, bias=False), nn.BatchNorm2d(wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(out)) + self.shortcut(x))


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Residual(16),
        Residual(16, stride=2),
        Residual(32),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def shifted(images: torch.Tensor) -> torch.Tensor:
    """The batch moved by up to one pixel: more to learn from."""
    down, right = torch.randint(3, (2,)).tolist()
    return F.pad(images, (1, 1, 1, 1))[:, :, down : down + 8, right : right + 8]


@torch.no_grad()
def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()  # batch normalization by its running averages
    right = (model(images).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return right


def run(steps: int = 200) -> list[float]:
    torch.manual_seed(0)
    images, labels, test_images, test_labels = map(torch.from_numpy, load_digits())
    images, test_images = images.view(-1, 1, 8, 8), test_images.view(-1, 1, 8, 8)
    model = network()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)
    losses = []
    for step in range(1, steps + 1):
        rows = torch.randint(len(images), (64,))
        loss = F.cross_entropy(model(shifted(images[rows])), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 50 == 0:
            right = accuracy(model, test_images, test_labels)
            print(f"step {step:4}  loss {loss.item():.4f}  test accuracy {right:.1%}")
    return losses


if __name__ == "__main__":
    run()
