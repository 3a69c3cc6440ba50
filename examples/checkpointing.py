"""Activation checkpointing: a deep network keeps only what goes into each segment, and computes the rest again."""

import time
import tracemalloc

import clarion as torch
from clarion import nn, optim
from clarion.utils.checkpoint import checkpoint

WIDTH, DEPTH, BATCH, SEGMENT = 64, 36, 512, 6


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0.1 * self.layers(self.norm(x))


class Deep(nn.Module):
    def __init__(self, checkpointed: bool) -> None:
        super().__init__()
        self.checkpointed = checkpointed
        self.segments = nn.ModuleList(
            nn.Sequential(*(Block() for _ in range(SEGMENT))) for _ in range(DEPTH // SEGMENT)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for segment in self.segments:
            x = checkpoint(segment, x, use_reentrant=False) if self.checkpointed else segment(x)
        return x


def train(checkpointed: bool, steps: int) -> tuple[list[float], int, float]:
    """The losses, the most memory that NumPy held at once in one more step, and the seconds of a step."""
    torch.manual_seed(0)
    model = Deep(checkpointed)
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    x = torch.randn(BATCH, WIDTH)
    target = torch.sin(x @ torch.randn(WIDTH, WIDTH) / 4)

    def step() -> float:
        optimizer.zero_grad()
        loss = (model(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    began = time.perf_counter()
    losses = [step() for _ in range(steps)]
    seconds = (time.perf_counter() - began) / steps
    tracemalloc.start()
    step()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return losses, peak, seconds


def run(steps: int = 10) -> list[float]:
    print(f"{DEPTH} blocks, of which each {SEGMENT} are one segment; a batch of {BATCH}")
    curves = []
    for checkpointed in (False, True):
        losses, peak, seconds = train(checkpointed, steps)
        name = "checkpointed:" if checkpointed else "everything kept:"
        print(
            f"{name:17} loss {losses[0]:.5f} -> {losses[-1]:.5f}  {peak / 2**20:3.0f} MiB  {seconds * 1000:.0f} ms a step"
        )
        curves.append(losses)
    print("the losses are the same" if curves[0] == curves[1] else "THE LOSSES DIFFER")
    return curves[1]


if __name__ == "__main__":
    run()
