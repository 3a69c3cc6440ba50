"""`python -m benchmarks [NAME ...] [--shown] [--threads N] [--rounds N] [--compiled] [--json FILE] [--save]`.

`python -m benchmarks.growth`, `.footprint` and `.diagnoses --save` measure the rest of what is kept; `.table` writes the README's
table from it, `.picture` docs/benchmarks.svg.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from typing import Any

from . import engine as engine
from . import images as images
from . import operations as operations
from . import optimizers as optimizers
from . import programs as programs
from . import small as small
from . import training as training
from .compiled import compiled_steps
from .harness import WORKLOADS, Result, measure
from .stored import libraries, processors, record, save
from .table import SHOWN, mean


def main() -> int:
    """Measure, print a table, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="clarion beside PyTorch, in one process.")
    parser.add_argument("names", nargs="*", help="workloads whose name contains one of these (default: all)")
    parser.add_argument("--shown", action="store_true", help="the workloads of the README's table")
    parser.add_argument("--rounds", type=int, default=15, help="rounds per workload, the best counts (default: 15)")
    parser.add_argument("--threads", type=int, default=processors(), help="threads of each library (default: all)")
    parser.add_argument("--compiled", action="store_true", help="compiled forms, too: clarion's, PyTorch's, JAX's")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file, too")
    parser.add_argument("--save", action="store_true", help="keep the figures in benchmarks/results.json")
    args = parser.parse_args()
    chosen = [name for name in WORKLOADS if not args.names or any(part in name for part in args.names)]
    if args.shown:
        chosen = [name for name in chosen if name in SHOWN]
    if not chosen:
        parser.error(f"no workload has a name like {' or '.join(args.names)}; there are: {', '.join(WORKLOADS)}")
    clarion, torch = libraries(args.threads)
    results = []
    print(f"{args.threads} threads; wall clock, and processor time beside it")
    print(f"{'workload':28} {'clarion':>12} {'PyTorch':>12}   ratio {'clarion':>12} {'PyTorch':>12}   ratio")
    for name in chosen:
        others = compiled_steps(name, clarion, torch) if args.compiled else None
        result = measure(name, clarion, torch, args.rounds, others)
        results.append(result)
        print(_row(result), flush=True)
    if torch is not None:
        means = [mean([r.ratio or 1 for r in results]), mean([r.processor_ratio or 1 for r in results])]
        print(f"{'geometric mean':28} {'':25} {means[0]:6.2f}x {'':25} {means[1]:6.2f}x")
    if not args.names and not args.shown:
        print(_provenance())
    figures = {result.name: _record(result) for result in results}
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"threads": args.threads, "workloads": figures}, file, indent=1)
    if args.save:
        save("workloads", figures, args.threads)
    return 0


def _record(result: Result) -> dict[str, Any]:
    times = {"clarion": result.clarion} | ({} if result.torch is None else {"torch": result.torch}) | result.others
    return {name: record(time) for name, time in times.items()}


def _row(result: Result) -> str:
    parts = [f"{result.name:28}"]
    for kind, ratio in (("wall", result.ratio), ("processor", result.processor_ratio)):
        for library in (result.clarion, result.torch):
            parts.append(f"{'' if library is None else f'{getattr(library, kind) * 1e6:10.1f} µs':>12}")
        parts.append(f"{'' if ratio is None else f'{ratio:6.2f}x':>7}")
    return " ".join(parts) + "".join(f"  {kind} {time.wall * 1e6:.1f} µs" for kind, time in result.others.items())


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
