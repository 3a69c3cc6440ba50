"""Write `golden.json` from PyTorch: `python -m tests.optim.regenerate`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from .runs import CASES, LBFGS_CASES, SCHEDULES, numbers_of, run_lbfgs, run_optimizer, run_schedule

GOLDEN = Path(__file__).with_name("golden.json")
STEPS = (1, 2, 10, 50)  # of an optimizer's run, those that are kept


def key(name: str, options: dict[str, object], *more: str) -> str:
    """How a case is called in the file."""
    return " ".join((name, *(f"{k}={v}" for k, v in options.items()), *more))


def observe(t: object) -> dict[str, list[object]]:
    """All runs on a library."""
    found: dict[str, list[object]] = {}
    for name, options in CASES:
        for dtype in ("float32", "float64"):
            runs = enumerate(run_optimizer(t, name, options, dtype), 1)
            digits = 9 if dtype == "float32" else 17
            found[key(name, options, dtype)] = [
                [float(f"{value:.{digits}g}") for value in numbers_of(params)]
                for step, (params, _) in runs
                if step in STEPS
            ]
    for options in LBFGS_CASES:
        found[key("LBFGS", options)] = [seen for seen, _ in run_lbfgs(t, options)]
    for name in SCHEDULES:
        found[key("schedule", {}, name)] = run_schedule(t, name)
    return found


def main() -> None:
    """Run everything on PyTorch and store what it gives."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = observe(torch)
    lines = [f"{json.dumps(name)}: {json.dumps(values, separators=(',', ':'))}" for name, values in found.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} runs")


if __name__ == "__main__":
    main()
