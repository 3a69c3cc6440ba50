"""`python -m benchmarks.gpu_layers [NAME ...]`: single layers on one NVIDIA GPU, forward and backward, clarion beside PyTorch in one process.

float32 is computed in full by both. Diagnoses are off: they listen closely as long as nothing is trained.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

Step = Callable[[], None]
Make = Callable[[Any], Step]


def recurrent(
    kind: str, length: int, batch: int, inputs: int, size: int, dtype: str = "float32", packed: bool = False, **options: Any
) -> Make:  # fmt: skip
    """A recurrent layer over sequences of one length, or of many."""

    def make(t: Any) -> Step:
        t.manual_seed(0)
        net = getattr(t.nn, kind)(inputs, size, **options).to("cuda", getattr(t, dtype))
        net.flatten_parameters()
        x = t.randn(length, batch, inputs, device="cuda", dtype=getattr(t, dtype), requires_grad=True)
        lengths = t.tensor([length - i * length // (2 * batch) for i in range(batch)])

        def step() -> None:
            net.zero_grad()
            x.grad = None
            given = t.nn.utils.rnn.pack_padded_sequence(x, lengths) if packed else x
            out = net(given)[0]
            (out.data if packed else out).sum().backward()

        return step

    return make


def images(shape: tuple[int, ...], call: Callable[[Any, Any], Any], dtype: str, last: bool) -> Make:
    """A function of images; `call(F, x)`."""

    def make(t: Any) -> Step:
        x = t.randn(*shape, device="cuda", dtype=getattr(t, dtype))
        x = (x.to(memory_format=t.channels_last) if last else x).requires_grad_()
        g = t.ones_like(call(t.nn.functional, x))

        def step() -> None:
            x.grad = None
            call(t.nn.functional, x).backward(g)

        return step

    return make


def cases() -> dict[str, Make]:
    """All of them, by name."""
    found: dict[str, Make] = {}
    for kind in ("LSTM", "GRU", "RNN"):
        found[f"{kind}, 64 steps of 32 x 512"] = recurrent(kind, 64, 32, 256, 512)
        found[f"{kind}, 32 steps of 8 x 64"] = recurrent(kind, 32, 8, 64, 64)
        found[f"{kind}, packed"] = recurrent(kind, 64, 32, 256, 512, packed=True)
    found["LSTM, two layers, both ways"] = recurrent("LSTM", 64, 32, 256, 256, num_layers=2, bidirectional=True)
    found["LSTM, two layers, dropout"] = recurrent("LSTM", 64, 32, 256, 256, num_layers=2, dropout=0.2)
    found["LSTM, projected"] = recurrent("LSTM", 64, 32, 256, 512, proj_size=128)
    found["LSTM, bfloat16"] = recurrent("LSTM", 64, 32, 256, 512, "bfloat16")
    found["LSTM, float16"] = recurrent("LSTM", 64, 32, 256, 512, "float16")
    functions: dict[str, tuple[tuple[int, ...], Callable[[Any, Any], Any]]] = {
        "max_pool2d 2": ((64, 64, 64, 64), lambda F, x: F.max_pool2d(x, 2)),
        "max_pool2d 3/2/1": ((64, 64, 64, 64), lambda F, x: F.max_pool2d(x, 3, 2, 1)),
        "avg_pool2d 2": ((64, 64, 64, 64), lambda F, x: F.avg_pool2d(x, 2)),
        "avg_pool2d 3/2/1": ((64, 64, 64, 64), lambda F, x: F.avg_pool2d(x, 3, 2, 1)),
        "adaptive_avg_pool2d 7": ((64, 256, 16, 16), lambda F, x: F.adaptive_avg_pool2d(x, 7)),
        "adaptive_max_pool2d 7": ((64, 256, 16, 16), lambda F, x: F.adaptive_max_pool2d(x, 7)),
        "group_norm 32": ((32, 256, 32, 32), lambda F, x: F.group_norm(x, 32)),
        "instance_norm": ((32, 64, 64, 64), lambda F, x: F.instance_norm(x)),
    }
    for name, (shape, call) in functions.items():
        for dtype in ("float32", "bfloat16"):
            for last in (False, True):
                found[f"{name}, {dtype}{', channels last' if last else ''}"] = images(shape, call, dtype, last)
    return found


def measured(make: Make, libraries: tuple[Any, ...], steps: int = 20, rounds: int = 6) -> list[float]:
    """Milliseconds of a step of each library: the best of rounds that they take by turns."""
    ready = [(t, make(t)) for t in libraries]
    best = [float("inf")] * len(ready)
    for number in range(rounds + 1):  # (the first is not counted)
        for i, (t, step) in enumerate(ready):
            t.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(steps):
                step()
            t.cuda.synchronize()
            if number:
                best[i] = min(best[i], (time.perf_counter() - began) / steps * 1e3)
    return best


def main(names: list[str]) -> int:
    """Measure and print."""
    os.environ["CLARION_DIAGNOSE"] = "off"
    import torch

    import clarion

    for library in (torch, clarion):
        library.backends.cudnn.allow_tf32 = False
    for name, make in cases().items():
        if not names or any(part in name for part in names):
            theirs, ours = measured(make, (torch, clarion))
            print(
                f"{name:50} PyTorch {theirs:8.3f} ms  clarion {ours:8.3f} ms  {ours / theirs:5.2f} of its time",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
