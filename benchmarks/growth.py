"""How the time of a step grows: `python -m benchmarks.growth`, with batch, width, depth, sequence length and threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import alternating
from .stored import libraries, processors, record, save

SIZES: dict[str, tuple[int, ...]] = {
    "batch": (1, 8, 64, 512),
    "width": (16, 64, 256, 1024),
    "depth": (1, 2, 4, 8, 16),
    "sequence": (16, 64, 256, 512),
}


def _network(t: Any, batch: int = 64, width: int = 128, depth: int = 2) -> Callable[[], object]:
    """A step of training of a network of equal layers."""
    t.manual_seed(0)
    layers: list[Any] = []
    for _ in range(depth):
        layers += [t.nn.Linear(width, width), t.nn.ReLU()]
    model = t.nn.Sequential(*layers, t.nn.Linear(width, 10))
    x, y = t.randn(batch, width), t.randint(0, 10, (batch,))
    optimizer = t.optim.SGD(model.parameters(), lr=0.01)

    def step() -> object:
        optimizer.zero_grad()
        t.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def _encoder(t: Any, sequence: int) -> Callable[[], object]:
    """One layer of a transformer, forward and backward."""
    t.manual_seed(0)
    layer = t.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    x = t.randn(4, sequence, 64)
    return lambda: layer(x).square().mean().backward()


def _prepared(t: Any, kind: str, size: int) -> Callable[[], object]:
    return _encoder(t, size) if kind == "sequence" else _network(t, **{kind: size})


def measured(clarion: Any, torch: Any | None, rounds: int, threads: int) -> dict[str, Any]:
    """Times by kind and size."""
    peers = {"clarion": clarion} | ({"torch": torch} if torch is not None else {})
    found: dict[str, Any] = {}
    for kind, sizes in SIZES.items():
        for size in sizes:
            times = alternating({name: _prepared(t, kind, size) for name, t in peers.items()}, rounds)
            found.setdefault(kind, {})[str(size)] = {name: record(time) for name, time in times.items()}
            print(_row(kind, size, times), flush=True)
    for count in range(1, threads + 1):
        for t in peers.values():
            t.set_num_threads(count)
        times = alternating({name: _network(t, 512, 512) for name, t in peers.items()}, rounds)
        found.setdefault("threads", {})[str(count)] = {name: record(time) for name, time in times.items()}
        print(_row("threads", count, times), flush=True)
    return found


def _row(kind: str, size: int, times: dict[str, Any]) -> str:
    parts = [f"{kind:10} {size:6}"] + [f"{name} {time.wall * 1e6:10.1f} µs" for name, time in times.items()]
    if "torch" in times:
        parts.append(f"{times['torch'].wall / times['clarion'].wall:6.2f}x")
    return "  ".join(parts)


def main() -> int:
    """Measure, print, and keep the figures."""
    threads = processors()
    clarion, torch = libraries(threads)
    save("growth", measured(clarion, torch, 7, threads))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
