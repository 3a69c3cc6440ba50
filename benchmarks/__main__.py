"""`python -m benchmarks [NAME ...] [--threads N] [--rounds N] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import warnings
from typing import Any

from . import engine as engine
from . import operations as operations
from . import optimizers as optimizers
from . import small as small
from . import training as training
from .harness import WORKLOADS, Result, measure


def main() -> int:
    """Measure, print a table, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="clarion beside PyTorch, in one process.")
    parser.add_argument("names", nargs="*", help="workloads whose name contains one of these (default: all)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds per workload, the best counts (default: 15)")
    parser.add_argument("--threads", type=int, default=_processors(), help="threads of each library (default: all)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file, too")
    args = parser.parse_args()
    chosen = [name for name in WORKLOADS if not args.names or any(part in name for part in args.names)]
    if not chosen:
        parser.error(f"no workload has a name like {' or '.join(args.names)}; there are: {', '.join(WORKLOADS)}")
    clarion, torch = _libraries(args.threads)
    results = []
    print(f"{args.threads} threads; wall clock, and processor time beside it")
    print(f"{'workload':28} {'clarion':>12} {'PyTorch':>12}   ratio {'clarion':>12} {'PyTorch':>12}   ratio")
    for name in chosen:
        result = measure(name, clarion, torch, args.rounds)
        results.append(result)
        print(_row(result), flush=True)
    if torch is not None:
        means = [_mean([r.ratio for r in results]), _mean([r.processor_ratio for r in results])]
        print(f"{'geometric mean':28} {'':25} {means[0]:6.2f}x {'':25} {means[1]:6.2f}x")
    if not args.names:
        print(_provenance())
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"threads": args.threads, "workloads": [_record(r) for r in results]}, file, indent=1)
    return 0


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _libraries(threads: int) -> tuple[Any, Any]:
    """clarion, and PyTorch or None, each with so many threads."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)  # before any library starts its own
    import clarion

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch

        torch.set_num_threads(threads)
    except ImportError:
        print("PyTorch is not installed: only clarion is measured (pip install torch==2.13.0)", file=sys.stderr)
        return clarion, None
    return clarion, torch


def _mean(ratios: list[float | None]) -> float:
    return math.exp(sum(math.log(ratio) for ratio in ratios if ratio is not None) / len(ratios))


def _record(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "clarion": vars(result.clarion),
        "torch": None if result.torch is None else vars(result.torch),
        "ratio": result.ratio,
        "processor_ratio": result.processor_ratio,
    }


def _row(result: Result) -> str:
    parts = [f"{result.name:28}"]
    for kind, ratio in (("wall", result.ratio), ("processor", result.processor_ratio)):
        for library in (result.clarion, result.torch):
            parts.append(f"{'' if library is None else f'{getattr(library, kind) * 1e6:10.1f} µs':>12}")
        parts.append(f"{'' if ratio is None else f'{ratio:6.2f}x':>7}")
    return " ".join(parts)


def _provenance() -> str:
    """What it costs that every node carries the user's line: the chain again, in a process with it turned off."""
    script = (
        "import clarion, benchmarks.engine\n"
        "from benchmarks.harness import measure\n"
        "print(min(measure('chain_forward', clarion, None, 15).clarion.processor for _ in range(3)))"
    )
    seconds = {}
    for switch in ("1", "0", "1", "0"):
        output = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "CLARION_PROVENANCE": switch},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        seconds[switch] = min(float(output), seconds.get(switch, math.inf))
    return f"provenance (file:line of every node): {(seconds['1'] - seconds['0']) / 100 * 1e6:.2f} µs a node"


if __name__ == "__main__":
    sys.exit(main())
