"""`python -m benchmarks.gpu [NAME ...]`: training steps on one NVIDIA GPU, clarion beside PyTorch in one process.

Each workload is trained on the same data from the same weights by both; what is printed is the time of a step (wall clock, the best of
several rounds), the peak of memory, and the losses of the first steps, which have to agree.
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


def measured(t: Any, step: Callable[[], Any], rounds: int, steps: int) -> dict[str, Any]:
    """Losses of the first steps, milliseconds of a step, gigabytes at the peak."""
    losses = [float(step()) for _ in range(3)]
    t.cuda.synchronize()
    t.cuda.reset_peak_memory_stats()
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(steps):
            step()
        issued = time.perf_counter()
        t.cuda.synchronize()
        ended = time.perf_counter()
        if ended - began < best * steps:
            best, host = (ended - began) / steps, (issued - began) / steps
    peak = t.cuda.max_memory_allocated()
    return {"losses": losses, "ms": best * 1e3, "host_ms": host * 1e3, "gb": peak / 1e9}


def _ways(t: Any, name: str) -> dict[str, Callable[[Callable[[], Any]], Callable[[], Any]]]:
    """How a step is run: as it is, and in the fast ways of a library."""
    ways: dict[str, Any] = {f"{name} eager": lambda step: step}
    if name == "clarion":
        ways["clarion captured"] = lambda step: t.cuda.graph(step)
    return ways


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads whose name contains one of these (default: all)")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--compiled", action="store_true", help="PyTorch compiled, too (its compiler takes a minute)")
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
        for library, t in (("PyTorch", torch), ("clarion", clarion)):
            if args.only and args.only.lower() not in library.lower().replace("py", ""):
                continue
            for way, wrap in _ways(t, library).items():
                try:
                    _, step = workload(t, spec, state)
                    found = measured(t, wrap(step), args.rounds, args.steps)
                    losses = " ".join(f"{x:.5f}" for x in found["losses"])
                    print(
                        f"{name:12} {way:18} {found['ms']:9.3f} ms (host {found['host_ms']:8.3f}) {found['gb']:7.2f} GB  {losses}",
                        flush=True,
                    )
                    results.append({"workload": name, "way": way, **found})
                except Exception as error:  # one workload that fails leaves the others
                    traceback.print_exc(limit=-4)
                    print(f"{name:12} {way:18} failed: {type(error).__name__}: {str(error)[:300]}", flush=True)
                step = None
                gc.collect()
                t.cuda.empty_cache()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
