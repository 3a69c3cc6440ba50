"""Write docs/coverage.md: `python -m tests.coverage.page`. What of PyTorch is there, and which libraries run."""

from __future__ import annotations

import importlib
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import clarion
from clarion.absent import is_absent, pytorch_names, why

from ..libraries.programs import table
from .reasons import reason

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
HEAD = """# What of PyTorch is there

Written by `python -m tests.coverage.page`, from the list of PyTorch 2.13's public names (`clarion/assets/pytorch_names.txt`);
`tests/coverage` checks it. A name is there if it does what PyTorch's does. What is not there can still be imported, so that
programs which only name it run: whoever uses it is told why.

## Libraries

None of them is changed or compiled for clarion: installed with `pip install --no-deps`, and run with `clarion run`.
Each program in `tests/libraries/programs` trains or computes with the library as its users do, and prints numbers; they are
compared with PyTorch's (relative 1e-3). Of a library's own tests, those that pass on PyTorch count.

```bash
pip install --no-deps -r tests/libraries/requirements.txt
python -m pytest -n auto tests/libraries                   # all programs; -k einops: those of one library
python -m tests.libraries.suites gpytorch -n 2             # a library's own tests, where PyTorch is installed too
```

"""


def owner(path: str) -> Any:
    """The module of clarion for a module of PyTorch (`torch.Tensor` and `torch.ops.aten` count as modules); None if absent."""
    if path == "torch":
        return clarion
    if path in ("torch.Tensor", "torch.ops.aten"):
        return clarion.Tensor if path.endswith("Tensor") else clarion.ops.aten
    try:
        found = importlib.import_module("clarion" + path.removeprefix("torch"))
    except ImportError:
        return None
    return None if is_absent(found) else found


def is_there(module: Any, name: str) -> bool:
    """Is it there, and does it not refuse?"""
    found = getattr(module, name, None)
    if type(found).__name__ == "OpOverloadPacket":
        found = found._run
    return hasattr(module, name) and not is_absent(found)


def survey() -> tuple[dict[str, tuple[int, dict[str, list[str]]]], dict[str, int]]:
    """For each module that is there: how many of its names are, and by reason those that are not; and those that are not, with the number of their names."""
    warnings.simplefilter("ignore")
    modules: dict[str, tuple[int, dict[str, list[str]]]] = {}
    absent: dict[str, int] = {}
    for path, names in sorted(pytorch_names().items()):
        if any(part.startswith("_") for part in path.split(".")):
            continue
        module = owner(path)
        if module is None:
            absent[path] = len(names)
            continue
        missing: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if not name.startswith("_") and not is_there(module, name):
                missing[reason(path, name)].append(name)
        modules[path] = len([n for n in names if not n.startswith("_")]), dict(missing)
    return modules, absent


def _of_module(path: str, count: int, missing: dict[str, list[str]]) -> list[str]:
    lines = [f"### {path}: {count - sum(map(len, missing.values()))} of {count}", ""]
    return (
        lines
        + [f"- {text}: {' '.join(f'`{name}`' for name in names)}" for text, names in sorted(missing.items())]
        + [""]
    )


def text() -> str:
    """The page."""
    modules, absent = survey()
    total = sum(count for count, _ in modules.values())
    there = total - sum(len(names) for _, missing in modules.values() for names in missing.values())
    lines = [HEAD + table(), "", "## Names", ""]
    lines += [f"Of {total} public names in {len(modules)} modules, {there} are there.", ""]
    whole = [f"`{path}` ({count})" for path, (count, missing) in modules.items() if count and not missing]
    lines += ["**Whole:** " + ", ".join(whole) + ".", "", "**Not whole:**", ""]
    for path, (count, missing) in modules.items():
        if missing:
            lines += _of_module(path, count, missing)
    lines += ["## Modules that are not there", "", "They can be imported; their names refuse when they are used.", ""]
    reasons: dict[str, list[str]] = defaultdict(list)
    for path in absent:
        reasons[why(path) or "not written yet"].append(path)
    for text, paths in sorted(reasons.items()):
        names = sum(absent[path] for path in paths)
        lines += [f"- {text} ({names} names): {' '.join(f'`{path}`' for path in paths)}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write it."""
    PAGE.write_text(text())


if __name__ == "__main__":
    main()
