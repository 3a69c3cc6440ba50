"""What the diagnoses cost: `python -m benchmarks.diagnoses [NAME ...]`.

Each training step is timed with diagnoses on and off, alternating in one process; the best round of processor time counts.
`steady` is a long training (the session listens closely only now and then), `early` the first 200 steps of one, with all
the listening that happens there, `then` the steps from the 300th to the 2,000th.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import clarion
from clarion import diagnose

from . import engine as engine
from . import training as training
from .harness import WORKLOADS
from .stored import save
from .table import SHOWN

Make = Callable[[Any], Callable[[], object]]


def updates_by_hand(t: Any) -> Callable[[], object]:
    """Linear regression as the tutorials write it: two leaves, updates under no_grad."""
    t.manual_seed(0)
    w, b = t.randn(10, 1, requires_grad=True), t.zeros(1, requires_grad=True)
    x, y = t.randn(32, 10), t.randn(32, 1)

    def step() -> None:
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        with t.no_grad():
            w.sub_(0.01 * w.grad)
            b.sub_(0.01 * b.grad)
        w.grad = b.grad = None

    return step


def smallest_optimizer_loop(t: Any) -> Callable[[], object]:
    """A Linear with two parameters and SGD."""
    t.manual_seed(0)
    model = t.nn.Linear(3, 1)
    optimizer = t.optim.SGD(model.parameters(), lr=0.01)
    x, y = t.randn(16, 3), t.randn(16, 1)

    def step() -> None:
        optimizer.zero_grad()
        t.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step


def small_classifier(t: Any) -> Callable[[], object]:
    """Three layers, cross entropy, Adam."""
    t.manual_seed(0)
    nn = t.nn
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    x, y = t.randn(16, 10), t.randint(0, 3, (16,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def _linear(t: Any, optimizer: Callable[[Any], Any], clears: Any = None, clips: Any = None, reads: Any = None) -> Any:
    """A small linear model, its optimizer, and a step of them; with whatever else loops have."""
    t.manual_seed(0)
    model = t.nn.Linear(3, 1)
    own = optimizer(model.parameters())
    x, y = t.randn(16, 3), t.randn(16, 1)

    def step() -> None:
        own.zero_grad() if clears is None else own.zero_grad(set_to_none=clears)
        loss = t.nn.functional.mse_loss(model(x), y)
        loss.backward()
        if clips is not None:
            t.nn.utils.clip_grad_norm_(model.parameters(), clips)
        own.step()
        if reads is not None:
            reads(loss)

    return own, step


def momentum(t: Any) -> Callable[[], object]:
    """The smallest loop with momentum."""
    return _linear(t, lambda p: t.optim.SGD(p, lr=0.01, momentum=0.9))[1]


def adam(t: Any) -> Callable[[], object]:
    """The smallest loop with Adam."""
    return _linear(t, lambda p: t.optim.Adam(p, lr=1e-3))[1]


def cleared_to_zero(t: Any) -> Callable[[], object]:
    """Gradients that are filled with zeros."""
    return _linear(t, lambda p: t.optim.SGD(p, lr=0.01), clears=False)[1]


def losses_listed(t: Any) -> Callable[[], object]:
    """`losses.append(loss.item())` in each step."""
    losses: list[float] = []
    return _linear(t, lambda p: t.optim.SGD(p, lr=0.01), reads=lambda loss: losses.append(loss.item()))[1]


def losses_summed(t: Any) -> Callable[[], object]:
    """`total += loss.item()` in each step."""
    total = 0.0

    def add(loss: Any) -> None:
        nonlocal total
        total += loss.item()

    return _linear(t, lambda p: t.optim.SGD(p, lr=0.01), reads=add)[1]


def clipped(t: Any) -> Callable[[], object]:
    """Gradients that are clipped by their norm."""
    return _linear(t, lambda p: t.optim.SGD(p, lr=0.01), clips=1.0)[1]


def scheduled(t: Any) -> Callable[[], object]:
    """A scheduler that steps with the optimizer."""
    optimizer, step = _linear(t, lambda p: t.optim.SGD(p, lr=0.01))
    scheduler = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1_000_000)

    def both() -> None:
        step()
        scheduler.step()

    return both


def adversaries(t: Any) -> Callable[[], object]:
    """A generator and a discriminator, each with its optimizer."""
    t.manual_seed(0)
    nn, F = t.nn, t.nn.functional
    generator, judge = nn.Linear(4, 3), nn.Linear(3, 1)
    of_generator, of_judge = t.optim.Adam(generator.parameters(), lr=1e-3), t.optim.Adam(judge.parameters(), lr=1e-3)
    real, noise = t.randn(16, 3), t.randn(16, 4)
    ones, zeros = t.ones(16, 1), t.zeros(16, 1)

    def step() -> None:
        fake = generator(noise)
        of_judge.zero_grad()
        told = F.binary_cross_entropy_with_logits
        (told(judge(real), ones) + told(judge(fake.detach()), zeros)).backward()
        of_judge.step()
        of_generator.zero_grad()
        told(judge(fake), ones).backward()
        of_generator.step()

    return step


# What is promised of each: a training step of a transformer, and the smallest loops there are.
LIMITS: dict[str, tuple[Make, float]] = {
    "character_gpt": (WORKLOADS["character_gpt"], 5.0),
    "seeds_training_loop": (WORKLOADS["seeds_training_loop"], 6.0),
    "updates_by_hand": (updates_by_hand, 5.0),
    "smallest_optimizer_loop": (smallest_optimizer_loop, 9.0),
    "small_classifier": (small_classifier, 5.0),
    **{make.__name__: (make, 9.0) for make in (cleared_to_zero, losses_listed, losses_summed)},
    **{make.__name__: (make, 6.0) for make in (momentum, clipped, scheduled)},
    "adam": (adam, 5.0),
    "adversaries": (adversaries, 5.0),
}


_SETTLED = (
    2_000  # steps after which a session that was switched on, which is a wake, rests as it does in a long training
)


def _timed(step: Callable[[], object], count: int, before: int = 0) -> float:
    """Seconds per step, after some that are not counted."""
    gc.collect()
    for _ in range(before):
        step()
    began = time.process_time()
    for _ in range(count):
        step()
    return (time.process_time() - began) / count


def steady(make: Make, rounds: int, seconds: float = 0.1) -> tuple[float, float]:
    """Seconds per step, with diagnoses on and off, late in a training."""
    best = {True: float("inf"), False: float("inf")}
    with diagnose.watching():
        step = make(clarion)
        for _ in range(300):
            step()
        count = max(10, round(seconds / min(_timed(step, 10, before=10) for _ in range(3))))
        for _ in range(rounds):
            for on in (True, False):
                diagnose.on() if on else diagnose.off()
                best[on] = min(best[on], _timed(step, count, before=min(count, _SETTLED)))
        diagnose.on()
    return best[True], best[False]


def within(make: Make, rounds: int, before: int, steps: int) -> float:
    """What the diagnoses cost in some steps of a training, per cent, after so many before."""
    best = {True: float("inf"), False: float("inf")}
    for _ in range(rounds):
        for on in (True, False):
            with diagnose.watching() if on else diagnose.off():
                best[on] = min(best[on], _timed(make(clarion), steps, before))
    return 100 * (best[True] / best[False] - 1)


def main() -> int:
    """Print a table; the exit status says whether the limits hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnoses", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(LIMITS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds, the best counts (default: 15)")
    parser.add_argument("--save", action="store_true", help="keep the figures in benchmarks/results.json")
    args = parser.parse_args()
    over = 0
    costs = {}
    print(f"{'training step':26} {'off':>11} {'on':>11} {'steady':>8} {'limit':>7} {'early':>8} {'then':>8}")
    for name in args.names or LIMITS:
        make, limit = LIMITS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            on, off = steady(make, args.rounds)
            first = within(make, max(2, args.rounds // 5), 0, 60 if on > 2e-3 else 200)
            then = within(make, max(2, args.rounds // 3), 300, 200 if on > 5e-4 else 1_700)
        cost = 100 * (on / off - 1)
        over += cost > limit
        costs[name] = round(cost, 2)
        print(
            f"{name:26} {off * 1e6:8.1f} µs {on * 1e6:8.1f} µs {cost:6.1f} % {limit:5.0f} % {first:6.1f} % {then:6.1f} %",
            flush=True,
        )
    if args.save:
        save("diagnoses", {name: cost for name, cost in costs.items() if name in SHOWN})
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
