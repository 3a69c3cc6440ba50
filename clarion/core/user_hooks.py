"""Running users' hooks inside a pass: they see Tensors, whichever world the pass is in."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..kernels.coo import Coo
from . import modes
from .devices import as_array
from .hooks import check_replacement
from .passes import Pass
from .tensor import Tensor, new_tensor


def is_raw(value: Any) -> bool:
    """A raw array (or NumPy scalar), not a Tensor."""
    return not isinstance(value, Tensor)


def to_tensor(g: Any) -> Any:
    """A gradient as users see it."""
    if not is_raw(g):
        return g
    return new_tensor(as_array(g)) if type(g) is not Coo else g.tensor()


def to_world(this: Pass, g: Any) -> Any:
    return g if this.create_graph or not isinstance(g, Tensor) else g._array


def guarded(this: Pass, function: Any, *args: Any) -> Any:
    """Run user code: recording only under create_graph."""
    if this.create_graph:
        return function(*args)
    with modes.set_grad_enabled(False):
        return function(*args)


def run_prehooks(this: Pass, hooks: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    for hook in tuple(hooks.pre.values()):
        result = guarded(this, hook, grads)
        if result is not None:
            result = result if isinstance(result, tuple) else (result,)
            check_tuple(hook, grads, result)
            grads = result
    return grads


def check_tuple(hook: Any, old: tuple[Any, ...], new: tuple[Any, ...]) -> None:
    if len(old) != len(new):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise errors.EngineError(
            f"hook '{name}' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if after is not None:
            check_replacement(hook, before, after)
