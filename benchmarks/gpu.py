"""`python -m benchmarks.gpu [NAME ...]`: training steps on one NVIDIA GPU, clarion beside PyTorch in one process.

Each workload is trained on the same data from the same weights by both; what is printed is the time of a step (wall clock, the best of
several rounds, which the libraries take by turns), the peak of memory, and the losses of the first steps, which have to agree.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .gpu_models import gpt, resnet

WORKLOADS: dict[str, dict[str, Any]] = {
    "gpt2_124m": {
        "kind": "gpt",
        "layers": 12,
        "heads": 12,
        "width": 768,
        "vocabulary": 50304,
        "length": 1024,
        "batch": 16,
    },
    "gpt_small": {"kind": "gpt", "layers": 4, "heads": 4, "width": 128, "vocabulary": 50304, "length": 64, "batch": 8},
    "resnet18": {"kind": "resnet", "batch": 256, "size": 64},
}
SECONDS = 12.0  # that rounds go on for: small steps are measured more often
BEGINNING = 200  # steps of a training at which diagnoses listen closely, and then at ever fewer


def workload(t: Any, spec: dict[str, Any], state: dict[str, Any]) -> tuple[Any, Callable[[], Any]]:
    """A model on the GPU, and its training step, which returns the loss."""
    spec = dict(spec)
    kind, batch = spec.pop("kind"), spec.pop("batch")
    rng = np.random.default_rng(0)
    if kind == "gpt":
        model = gpt(t, **spec)
        ids = rng.integers(0, spec["vocabulary"], (batch, spec["length"] + 1))
        data = [t.tensor(ids[:, :-1].copy()), t.tensor(ids[:, 1:].copy())]
    else:
        model = resnet(t)
        size = spec["size"]
        data = [t.tensor(rng.standard_normal((batch, 3, size, size)).astype("f")), t.tensor(rng.integers(0, 10, batch))]
    if state:
        model.load_state_dict({name: t.tensor(value) for name, value in state.items()})
    else:
        state.update({name: value.numpy().copy() for name, value in model.state_dict().items()})
    model = model.to("cuda")
    data = [each.to("cuda") for each in data]
    if kind == "resnet":
        model = model.to(memory_format=t.channels_last)
        data[0] = data[0].to(memory_format=t.channels_last)
    optimizer = t.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1, fused=True)

    def step() -> Any:
        optimizer.zero_grad()
        with t.autocast("cuda", dtype=t.bfloat16):
            loss = model(*data)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


class Run:
    """A step of one library in one way: its first losses, and the time of its best round so far."""

    def __init__(self, t: Any, step: Callable[[], Any]) -> None:
        self.t, self.step = t, step
        self.losses = [float(step()) for _ in range(3)]
        t.cuda.synchronize()
        t.cuda.reset_peak_memory_stats()
        self.rounds: list[float] = []
        self.best = self.host = float("inf")

    def round(self, steps: int) -> None:
        """Some steps, and what one of them took: until the host had asked for all, and until the GPU had done all."""
        self.steps = steps
        began = time.perf_counter()
        for _ in range(steps):
            self.step()
        issued = time.perf_counter()
        self.t.cuda.synchronize()
        self.rounds.append((time.perf_counter() - began) / steps)
        if self.rounds[-1] < self.best:
            self.best, self.host = self.rounds[-1], (issued - began) / steps

    def found(self) -> dict[str, Any]:
        """What was measured."""
        peak = self.t.cuda.max_memory_allocated() / 1e9
        rounds = [each * 1e3 for each in self.rounds]
        first = float(np.median(rounds[: max(1, BEGINNING // self.steps)]))
        return {
            "first_ms": first,
            "losses": self.losses,
            "ms": self.best * 1e3,
            "host_ms": self.host * 1e3,
            "gb": peak,
            "rounds": rounds,
        }


def side_by_side(runs: list[Run], rounds: int, steps: int) -> float:
    """Rounds by turns, for as long as a clock that wanders needs; the last one's time over the first one's, the median of the later rounds."""
    began = time.perf_counter()
    while len(runs[0].rounds) < rounds or (time.perf_counter() - began < SECONDS and len(runs[0].rounds) < 16 * rounds):
        for each in runs:
            each.round(steps)
    later = slice(len(runs[0].rounds) // 2, None)
    return float(np.median([b / a for a, b in zip(runs[0].rounds[later], runs[-1].rounds[later], strict=True)]))


def _wrapped(t: Any, step: Callable[[], Any], way: str) -> Callable[[], Any]:
    return t.cuda.graph(step) if way.endswith("captured") else step  # type: ignore[no-any-return]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads whose name contains one of these (default: all)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", choices=["clarion", "torch"])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    import torch

    import clarion

    results = []
    for name, spec in WORKLOADS.items():
        if args.names and not any(part in name for part in args.names):
            continue
        state: dict[str, Any] = {}
        # Eager steps side by side; what is captured alone, for its memory counts.
        for ways in ({"PyTorch eager": torch, "clarion eager": clarion}, {"clarion captured": clarion}):
            ways = {way: t for way, t in ways.items() if args.only is None or args.only in t.__name__}
            try:
                runs = [Run(t, _wrapped(t, workload(t, spec, state)[1], way)) for way, t in ways.items()]
                ratio = side_by_side(runs, args.rounds, args.steps) if runs else 1.0
            except Exception as error:  # one workload that fails leaves the others
                traceback.print_exc(limit=-4)
                print(f"{name:12} {', '.join(ways)} failed: {type(error).__name__}: {str(error)[:300]}", flush=True)
                runs = []
            for way, run in zip(ways, runs, strict=False):
                found = run.found()
                losses = " ".join(f"{x:.5f}" for x in found["losses"])
                print(
                    f"{name:12} {way:18} {found['ms']:9.3f} ms (host {found['host_ms']:8.3f}) {found['gb']:7.2f} GB  {losses}"
                    f"  (the first {BEGINNING} steps {found['first_ms']:.3f} ms)",
                    flush=True,
                )
                results.append({"workload": name, "way": way, **found})
            if len(runs) > 1:
                rounds = len(runs[0].rounds)
                print(
                    f"{name:12} clarion eager takes {ratio:.2f} of PyTorch's time (median of the later of {rounds} rounds)"
                )
            runs = run = None  # type: ignore[assignment]
            gc.collect()
            torch.cuda.empty_cache()
            clarion.cuda.empty_cache()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
