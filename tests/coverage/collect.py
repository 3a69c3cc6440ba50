"""Write clarion/assets/pytorch_names.txt from the PyTorch that is installed: `python -m tests.coverage.collect`.

A module's public names are those of its `__all__`, or, where it has none, what was defined in it or below it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import types
import warnings
from pathlib import Path

FILE = Path(__file__).parents[2] / "clarion" / "assets" / "pytorch_names.txt"
# Programs, examples, and what is PyTorch's own workshop.
LEFT_OUT = {
    "torch.contrib",
    "torch.distributed.checkpoint.examples",
    "torch.distributed.launch",
    "torch.distributed.run",
    "torch.distributed.tensor.examples",
    "torch.testing",
    "torch.utils.benchmark.examples",
    "torch.utils.benchmark.op_fuzzers",
    "torch.utils.bottleneck",
    "torch.utils.data.datapipes.gen_pyi",
    "torch.utils.hipify",
    "torch.utils.tensorboard",
}


def modules(package: types.ModuleType) -> list[types.ModuleType]:
    """A package and all public modules below it that can be imported here."""
    found = [package]
    for entry in pkgutil.iter_modules(getattr(package, "__path__", []), package.__name__ + "."):
        if entry.name in LEFT_OUT or entry.name.rpartition(".")[2].startswith("_"):
            continue
        try:
            found += modules(importlib.import_module(entry.name))
        except ImportError as error:
            print(f"left out: {entry.name}: {error}", file=sys.stderr)
    return found


def kind(value: object) -> str:
    """What a name stands for."""
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def is_public(module: types.ModuleType, name: str) -> bool:
    """Does a name belong to a module that does not list its names?"""
    home = getattr(getattr(module, name, None), "__module__", None)
    below = hasattr(module, "__path__") and str(home).startswith(module.__name__ + ".")
    return home == module.__name__ or below


def names(module: types.ModuleType) -> dict[str, list[str]]:
    """Its public names by kind."""
    listed = getattr(module, "__all__", None)
    every = sorted(set(listed) if listed is not None else (n for n in vars(module) if is_public(module, n)))
    found: dict[str, list[str]] = {"class": [], "function": [], "value": []}
    for name in every:
        value = getattr(module, name, None)
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            found[kind(value)].append(name)
    return found


def main() -> None:
    """Collect and write."""
    import torch

    warnings.simplefilter("ignore")
    lines = []
    for module in sorted(modules(torch), key=lambda each: each.__name__):
        lines.append(module.__name__)
        lines += [f" {kind} {' '.join(found)}" for kind, found in names(module).items() if found]
    lines.append("torch.Tensor")
    methods = sorted(name for name in dir(torch.Tensor) if not name.startswith("_"))
    lines += [" function " + " ".join(methods)]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
