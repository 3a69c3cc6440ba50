"""What a function captures: the tensors that it can reach without being given them.

PyTorch's transforms refuse to write to them, for a transform differentiates a function of its arguments. What is known here: tensors, and
the tensors of modules, in the function's closure and under the global names that it reads, as they are when the function begins.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.tensor import Tensor
from ..events import subscribe
from ..nn.modules.module import Module
from ..pytree import tree_leaves

_DEPTH = 4  # functions that call functions


class guarded:
    """Writes to what `func` captures are refused in this block; what it was given it may write to."""

    __slots__ = ("before", "done")

    def __init__(self, func: Callable[..., Any], *given: Any) -> None:
        found: dict[int, Any] = {}
        _reach(func, found, _DEPTH)
        for each in given if len(found) > 1 else ():
            for leaf in each if all(isinstance(x, Tensor) for x in each) else tree_leaves(each):
                found.pop(id(leaf), None)
        before = self.before = modes.state.captured
        self.done: Any = None
        if found or before is not None:
            modes.state.captured = found if before is None else {**before, **found}
            self.done = subscribe("will_write", _nothing)  # (so that every write is looked at)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self.done is not None:
            self.done()
            modes.state.captured = self.before


def _nothing(tensor: Tensor) -> None:
    pass


def _reach(value: Any, found: dict[int, Any], depth: int) -> None:
    if id(value) in found:
        return
    if isinstance(value, Tensor):
        found[id(value)] = value
    elif isinstance(value, Module):
        for module in value.modules():
            for each in (*module._buffers.values(), *module._parameters.values()):
                found[id(each)] = each
    elif not depth:
        return
    elif isinstance(value, functools.partial):
        for each in (value.func, *value.args, *value.keywords.values()):
            _reach(each, found, depth - 1)
    elif isinstance(value, types.MethodType):
        _reach(value.__self__, found, depth - 1)
        _reach(value.__func__, found, depth - 1)
    elif isinstance(value, types.FunctionType):
        _of_function(value, found, depth - 1)
    elif type(value) in (list, tuple):
        for each in value[:64]:
            if isinstance(each, (Tensor, Module)):
                _reach(each, found, depth)


def _of_function(function: Any, found: dict[int, Any], depth: int) -> None:
    found[id(function)] = function  # once is enough
    inner = getattr(function, "__wrapped__", None)
    if inner is not None:  # a transform of it
        _reach(inner, found, depth)
        return
    for cell in function.__closure__ or ():
        try:
            _reach(cell.cell_contents, found, depth)
        except ValueError:  # it is empty yet
            continue
    names = function.__globals__
    if not names.get("__name__", "").startswith("clarion."):
        for name in function.__code__.co_names:
            if name in names:
                _reach(names[name], found, depth)
