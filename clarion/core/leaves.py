"""Leaves, where gradients end: hooks, then `.grad` (or what `grad()` returns)."""

from __future__ import annotations

import sys
import threading
from typing import Any

from .. import errors
from ..events import hub
from ..forks import fork_safe
from . import modes
from .devices import as_array, ndarray, writable
from .dtypes import NumpyNumber
from .hooks import run_tensor_hooks
from .inplace import inplace
from .namespace import OPS
from .passes import Pass
from .tensor import Tensor, new_tensor
from .user_hooks import guarded, is_raw, run_prehooks, to_tensor, to_world

_accumulate_lock = fork_safe(threading.Lock())


def finish_leaf(this: Pass, leaf: Tensor) -> None:
    """All gradients of a leaf are in: run its hooks, then capture or accumulate."""
    g = this.grads.pop(leaf)
    hooks = leaf._hooks
    if hooks is None and this.capture is None and leaf._rg and type(g) is ndarray and g.shape == leaf._array.shape:
        with _accumulate_lock:
            leaf._grad = accumulated(this, leaf._grad, g)
        if hub.accumulated is not None:
            hub.accumulated(leaf)
        return
    if hooks is not None:
        if hooks.tensor:
            g = to_world(this, guarded(this, run_tensor_hooks, hooks.tensor[0], to_tensor(g)))
        if hooks.pre:
            g = to_world(this, run_prehooks(this, hooks, (to_tensor(g),))[0])
    if this.capture is not None:
        for position in this.capture.get(leaf, ()):
            this.captured[position] = g
        return
    if not leaf._rg:  # it was told so after it had been used
        return
    array = g if is_raw(g) else g._array
    if array.shape != leaf._array.shape:
        from .op_node import fix_raw, fix_tensor

        meta = (leaf._array.shape, leaf._array.dtype)
        g = fix_raw(g, meta) if is_raw(g) else fix_tensor(g, meta)
    with _accumulate_lock:
        leaf._grad = accumulated(this, leaf._grad, g)
    if hub.accumulated is not None:
        hub.accumulated(leaf)
    if hooks is not None:
        for hook in tuple(hooks.post_accumulate.values()):
            result = guarded(this, hook, leaf)
            if result is not None and result is not leaf:
                raise errors.EngineError("Tensor post accumulate grad hooks should return None.")
        for hook in tuple(hooks.post.values()):
            guarded(this, hook, (), (to_tensor(g),))


def accumulated(this: Pass, old: Tensor | None, g: Any) -> Tensor:
    """The new `.grad`: in place where that is not recorded, a new tensor under create_graph."""
    if isinstance(g, Tensor):
        if old is not None:
            if old._edge is None and not modes.state.grad:  # a level of forward mode: see backward.py
                return inplace(OPS["add"], old, g)
            total: Tensor = old + g
            return total
        return g if g._edge is not None or not this.create_graph else _alias_or_copy(g)
    if old is None:
        # Take the array over if nobody else can see it; otherwise copy.
        if (
            (type(g) is not ndarray and isinstance(g, NumpyNumber))
            or g.base is not None
            or not g.flags.c_contiguous
            or sys.getrefcount(g) > 4
        ):
            g = as_array(g).copy()
        return new_tensor(g)
    array = old._array
    if (array.dtype is not g.dtype and array.dtype != g.dtype) or not writable(array):
        return new_tensor(as_array(array + g))
    array += g
    old._counter().n += 1
    return old


def _alias_or_copy(g: Tensor) -> Tensor:
    if g._rg:
        return g
    copy = new_tensor(g._array.copy("K"))
    if modes.special and modes.dual is not None and modes.state.grad:  # else PyTorch takes it over detached
        modes.dual.carry(g, copy)
    return copy
