"""A batch too large for memory in small pieces: gradients add up until the optimizer steps."""

from digits import load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

BATCH, PIECE = 128, 16


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def backward_at_once(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    return loss.item()


def backward_in_pieces(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """The same gradients: each piece counts by its part of the batch, and its graph is freed before the next."""
    total = 0.0
    for piece, target in zip(images.split(PIECE), labels.split(PIECE), strict=True):
        loss = F.cross_entropy(model(piece), target) * (len(piece) / len(images))
        loss.backward()
        total += loss.item()
    return total


def run(steps: int = 200) -> list[float]:
    images, labels, *_ = map(torch.from_numpy, load_digits())
    whole, pieces = network(), network()
    torch.manual_seed(0)
    whole_optimizer = optim.SGD(whole.parameters(), lr=0.1, momentum=0.9)
    pieces_optimizer = optim.SGD(pieces.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(1, steps + 1):
        rows = torch.randperm(len(images))[:BATCH]
        whole_optimizer.zero_grad()
        pieces_optimizer.zero_grad()
        whole_loss = backward_at_once(whole, images[rows], labels[rows])
        losses.append(backward_in_pieces(pieces, images[rows], labels[rows]))
        if step % 50 == 0 or step == 1:
            pairs = zip(whole.parameters(), pieces.parameters(), strict=True)
            difference = max((a.grad - b.grad).abs().max().item() for a, b in pairs)
            print(
                f"step {step:4}  loss at once {whole_loss:.6f}, in {BATCH // PIECE} pieces {losses[-1]:.6f}"
                f"  gradients differ by {difference:.0e} at most"
            )
        whole_optimizer.step()
        pieces_optimizer.step()
    return losses


if __name__ == "__main__":
    run()
