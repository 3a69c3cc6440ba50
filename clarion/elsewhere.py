"""Modules of PyTorch whose contents clarion keeps in the package above them, where PyTorch has them, too.

They are made when a program imports them, from PyTorch's own list of names (`assets/pytorch_names.txt`). A module that has
such modules below it and is no folder says `__path__ = []`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import types
from collections.abc import Sequence
from typing import Any

from . import absent

# Module of PyTorch -> the one of clarion that has its contents.
ELSEWHERE = {
    "torch.accelerator.memory": "clarion.accelerator",
    "torch.cpu.amp.autocast_mode": "clarion.cpu.amp",
    "torch.cpu.amp.grad_scaler": "clarion.cpu.amp",
    "torch.cuda.amp.autocast_mode": "clarion.cuda.amp",
    "torch.cuda.amp.grad_scaler": "clarion.cuda.amp",
    "torch.cuda.graphs": "clarion.cuda",
    "torch.cuda.memory": "clarion.cuda",
    "torch.cuda.random": "clarion.cuda",
    "torch.cuda.streams": "clarion.cuda",
    "torch.distributed.checkpoint.state_dict": "clarion.utils.named_states",
    "torch.nn.utils.fusion": "clarion.nn.utils",
    "torch.nn.utils.memory_format": "clarion.nn.utils",
    "torch.profiler.profiler": "clarion.profiler",
    "torch.signal.windows.windows": "clarion.signal.windows",
    "torch.utils.benchmark.utils": "clarion.utils.benchmark",
    "torch.utils.benchmark.utils.common": "clarion.utils.benchmark",
    "torch.utils.benchmark.utils.compare": "clarion.utils.benchmark",
    "torch.utils.benchmark.utils.timer": "clarion.utils.benchmark",
    "torch.xpu.memory": "clarion.xpu",
    "torch.xpu.random": "clarion.xpu",
}


class ElsewhereFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds them. It is asked when there is no file."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of `clarion.x.y`, if `torch.x.y` is in the table."""
        if not name.startswith("clarion.") or "torch" + name.removeprefix("clarion") not in ELSEWHERE:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: types.ModuleType) -> None:
        """Each of its names is looked up when it is first asked for."""
        theirs = "torch" + module.__name__.removeprefix("clarion")
        home = importlib.import_module(ELSEWHERE[theirs])
        names = absent.pytorch_names().get(theirs, {})

        def __getattr__(name: str) -> Any:
            if name not in names:
                raise AttributeError(f"module {theirs!r} has no attribute {name!r}")
            return getattr(home, name)

        module.__doc__ = f"`{theirs}`: a part of `{home.__name__}`."
        module.__all__ = [name for name in names if hasattr(home, name)]  # type: ignore[attr-defined]
        module.__getattr__ = __getattr__  # type: ignore[method-assign]
