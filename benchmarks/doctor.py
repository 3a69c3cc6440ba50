"""What the diagnoses cost on PyTorch's engine: python -m benchmarks.doctor

python -m benchmarks.doctor smallest rest first      # rows of the table

Steps with and without `clarion.doctor.watch()`, alternating in one process: at rest the median of many pairs, of the first steps
the best. In processor time: what else the machine does is not ours. Fails above the limits.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

import clarion.doctor
from clarion.doctor import optimizers, patching

REST, SMALLEST, FIRST = (
    0.02,
    10e-6,
    0.15,
)  # of a transformer's step; seconds of the smallest loop; of the first 200 steps


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """x: (batch, time, width)"""
        n, t, c = x.shape
        q, k, v = self.attend(self.first(x)).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, c)
        x = x + self.project(y)
        return x + self.down(F.gelu(self.up(self.second(x))))


def transformer() -> Callable[[], None]:
    """A step of a small GPT: 4 layers, 128 wide, 16 × 64 tokens."""
    torch.manual_seed(0)
    width, words = 128, 65
    model = nn.Sequential(nn.Embedding(words, width), *(Block(width, 4) for _ in range(4)), nn.Linear(width, words))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, words, (16, 65))

    def step() -> None:
        loss = F.cross_entropy(model(data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def smallest() -> Callable[[], None]:
    """A step of a single linear layer."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 4), torch.randn(8, 1)

    def step() -> None:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def _timed(step: Callable[[], None], count: int) -> float:
    begin = time.thread_time()
    for _ in range(count):
        step()
    return (time.thread_time() - begin) / count


def at_rest(make: Callable[[], Callable[[], None]], count: int, pairs: int) -> tuple[float, float]:
    """Seconds per step without and with us, after the first steps.

    Short blocks alternate, and each of ours is compared with the two around it: whatever else the machine does is felt by
    both. The median of the differences leaves out the pairs where it was not.
    """
    more = []
    alone = make()
    _timed(alone, 4 * count)
    plain = [_timed(alone, count)]
    with clarion.doctor.watch() as watch:
        step = make()
        for _ in range(260):
            step()
        for _ in range(pairs):
            while watch._session.mode != "rest":  # it wakes now and then
                step()
            watched = _timed(step, count)
            with _without():
                plain.append(_timed(alone, count))
            more.append(watched - (plain[-2] + plain[-1]) / 2)
    return median(plain), median(plain) + median(more)


@contextmanager
def _without() -> Iterator[None]:
    """PyTorch as it is without us, for a while."""
    heard = optimizers._heard
    optimizers.hear()
    try:
        with patching.as_it_was(whole=True):
            yield
    finally:
        optimizers.hear(*heard)


def first_steps(make: Callable[[], Callable[[], None]], count: int = 200) -> tuple[float, float]:
    """Seconds per step without and with us, of the first 200."""
    plain, watched = [], []
    for _ in range(2):
        step = make()
        step()
        plain.append(_timed(step, count))
        with clarion.doctor.watch():
            step = make()
            watched.append(_timed(step, count))
    return min(plain), min(watched)


def main() -> int:
    """Print the table, or the rows that are named; 1 if something costs more than it may."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rows: dict[str, tuple[Callable[[], tuple[float, float]], Callable[[float], float]]] = {
        "smallest": (lambda: at_rest(smallest, 60, 120), lambda plain: SMALLEST),
        "rest": (lambda: at_rest(transformer, 4, 12), lambda plain: REST * plain),
        "first": (lambda: first_steps(transformer), lambda plain: FIRST * plain),
    }
    words = {
        "smallest": "smallest loop, at rest",
        "rest": "transformer, at rest",
        "first": "transformer, first 200 steps",
    }
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.doctor", description="What the diagnoses cost on PyTorch's engine."
    )
    parser.add_argument(
        "rows", nargs="*", choices=[[], *rows], metavar="ROW", help=f"one of {list(rows)} (default: all)"
    )
    failed = 0
    for name in parser.parse_args().rows or rows:
        measure, limit = rows[name]
        plain, watched = measure()
        more = watched - plain
        failed += more > limit(plain)
        verdict = "ok" if more <= limit(plain) else "TOO MUCH"
        print(
            f"{words[name]:30} {1e6 * plain:10.0f} µs {1e6 * more:+9.1f} µs {more / plain:+7.1%}  {verdict}", flush=True
        )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
