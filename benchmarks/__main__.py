"""`python -m benchmarks [NAME ...] [--rounds N] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import warnings

# One thread for everybody, before any library starts its own.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

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
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file, too")
    args = parser.parse_args()
    chosen = [name for name in WORKLOADS if not args.names or any(part in name for part in args.names)]
    if not chosen:
        parser.error(f"no workload has a name like {' or '.join(args.names)}; there are: {', '.join(WORKLOADS)}")

    import clarion

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch

        torch.set_num_threads(1)
    except ImportError:
        torch = None
        print("PyTorch is not installed: only clarion is measured (pip install torch==2.13.0)", file=sys.stderr)

    results = []
    print(f"{'workload':28} {'clarion':>12} {'PyTorch':>12}   ratio")
    for name in chosen:
        result = measure(name, clarion, torch, args.rounds)
        results.append(result)
        print(_row(result), flush=True)
    ratios = [result.ratio for result in results if result.ratio is not None]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{'geometric mean':28} {'':12} {'':12}   {mean:.2f}x")
    if not args.names:
        print(_provenance())
    if args.json:
        with open(args.json, "w") as file:
            json.dump(
                [{"name": r.name, "clarion": r.clarion, "torch": r.torch, "ratio": r.ratio} for r in results], file
            )
    return 0


def _row(result: Result) -> str:
    ours = f"{result.clarion * 1e6:10.1f} µs"
    theirs = "" if result.torch is None else f"{result.torch * 1e6:10.1f} µs"
    ratio = "" if result.ratio is None else f"{result.ratio:.2f}x"
    return f"{result.name:28} {ours:>12} {theirs:>12}   {ratio}"


def _provenance() -> str:
    """What it costs that every node carries the user's line: the chain again, in a process with it turned off."""
    script = (
        "import clarion, benchmarks.engine\n"
        "from benchmarks.harness import measure\n"
        "print(min(measure('chain_forward', clarion, None, 15).clarion for _ in range(3)))"
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
