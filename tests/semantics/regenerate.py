"""Write `golden/*.json` from PyTorch: `python -m tests.semantics.regenerate [area …]`."""

from __future__ import annotations

import json
import sys

from .programs import AREAS, GOLDEN, load, observe, programs


def main(areas: list[str]) -> None:
    """Run the programs of the areas on PyTorch and store what they give."""
    torch = load("torch")
    for area in areas or AREAS:
        found = {program.name: observe(program, torch) for program in programs(area)}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
        (GOLDEN / f"{area}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(f"{area}: {len(found)} programs")


if __name__ == "__main__":
    main(sys.argv[1:])
