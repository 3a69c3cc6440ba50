"""Leaves, where gradients end: hooks, then `.grad` (or what `grad()` returns)."""

from __future__ import annotations

import sys
import threading
from typing import Any, cast

from .. import errors
from ..events import hub
from ..forks import fork_safe
from ..kernels.coo import Coo
from ..kernels.layout import empty_like
from ..kernels.registry import raw
from . import modes, provenance
from .devices import HALVES, HOST, as_array, ndarray, writable
from .dtypes import NumpyNumber, f32, f64
from .hooks import run_tensor_hooks
from .inplace import inplace
from .namespace import OPS
from .passes import Pass
from .tensor import OWN, Tensor, new_tensor
from .totals import LARGE, total_of
from .user_hooks import guarded, is_raw, run_prehooks, to_tensor, to_world
from .versions import Claim

_accumulate_lock = fork_safe(threading.Lock())


def finish_leaf(this: Pass, leaf: Tensor) -> None:
    """All gradients of a leaf are in: run its hooks, then capture or accumulate."""
    g = this.grads.pop(leaf)
    hooks = leaf._hooks
    if (
        hooks is None
        and this.capture is None
        and leaf._rg
        and leaf._edge is None
        and leaf._view is None
        and (type(g) is ndarray or type(g) in HALVES or (is_raw(g) and type(g) is not Coo))
        and g.shape == leaf._array.shape
    ):
        with _accumulate_lock:
            leaf._grad = accumulated(this, leaf._grad, g, leaf._array)
        if hub.accumulated is not None:
            hub.accumulated(leaf)
        return
    if leaf._grad_dtype is not OWN and leaf._grad_dtype is not None:
        g = to_world(this, to_tensor(g).to(leaf._grad_dtype))
    if hooks is not None:
        if hooks.tensor:
            g = to_world(this, guarded(this, run_tensor_hooks, hooks.tensor[0], to_tensor(g)))
        if hooks.pre and this.capture is None:
            g = to_world(this, run_prehooks(this, hooks, (to_tensor(g),))[0])
    if this.capture is not None:
        for position in this.capture.get(leaf, ()):
            this.captured[position] = g
        return
    if leaf._edge is not None and leaf.grad_fn is not None:
        raise errors.EngineError(
            "leaf variable has been moved into the graph interior\n"
            f"A result was written into it at {provenance.text(leaf._edge.place)}, after it had been used as a leaf: its gradient has "
            "no place to go. Write into a clone() of it."
        )
    if not leaf._rg or type(leaf._view) is Claim:  # it was told so after it had been used; see Claim
        return
    array = g if is_raw(g) else g._array
    if array.shape != leaf._array.shape and array.size != leaf._array.size:  # else it was turned in place meanwhile
        from .op_node import fix_raw, fix_tensor

        meta = (leaf._array.shape, leaf._array.dtype)
        g = fix_raw(g, meta) if is_raw(g) else fix_tensor(g, meta)
    first = leaf._grad is None
    with _accumulate_lock:
        if type(g) is Coo:
            leaf._grad = _sparse(this, leaf._grad, g)
        else:
            leaf._grad = accumulated(this, leaf._grad, g, leaf._array)
    if hub.accumulated is not None:
        hub.accumulated(leaf)
    if hooks is not None:
        for hook in tuple(hooks.post_accumulate.values()):
            result = guarded(this, hook, leaf)
            if result is not None and result is not leaf:
                raise errors.EngineError("Tensor post accumulate grad hooks should return None.")
        if hooks.post and first and type(g) is ndarray and 0 not in g.strides:
            g = leaf._grad._array  # what has become the gradient is the gradient
        for hook in tuple(hooks.post.values()):
            guarded(this, hook, (), (to_tensor(g),))


def finish_usual(this: Pass, leaves: list[Tensor]) -> None:
    """Accumulate into those leaves about which there is nothing to ask; the others remain in the list."""
    grads, others = this.grads, []
    with _accumulate_lock:
        for leaf in leaves:
            g = grads.pop(leaf)
            array = leaf._array
            if (
                type(g) is ndarray
                and g.shape == array.shape
                and leaf._hooks is None
                and leaf._rg
                and leaf._edge is None
                and leaf._view is None
            ):
                old = leaf._grad
                if old is None and g.base is None and g.strides == array.strides and sys.getrefcount(g) <= _ALONE_HERE:
                    leaf._grad = new_tensor(g)
                else:
                    leaf._grad = accumulated(this, old, g, array)
            else:
                grads[leaf] = g
                others.append(leaf)
    told = hub.accumulated
    if told is not None:
        left = set(map(id, others))
        for leaf in leaves:
            if id(leaf) not in left:
                told(leaf)
    leaves[:] = others


def accumulated(this: Pass, old: Tensor | None, g: Any, leaf: Any = None) -> Tensor:
    """The new `.grad`: in place where that is not recorded, a new tensor under create_graph. It lies as the leaf's array does."""
    if isinstance(g, Tensor):
        if old is not None:
            if type(g._array) is Coo:
                return cast(Tensor, _sparse(this, old, g._array))
            if old._edge is None and not modes.state.grad:  # a level of forward mode: see backward.py
                return inplace(OPS["add"], old, g)
            total: Tensor = g + old if type(old._array) is Coo else old + g
            return total
        return _kept_with_history(this, g, leaf)
    if old is None:
        # Take the array over if nobody else can see it; otherwise copy.
        if (
            (type(g) is not ndarray and isinstance(g, NumpyNumber))
            or g.base is not None
            or sys.getrefcount(g) > _ALONE
            or not (
                (leaf is not None and g.strides == leaf.strides)
                or ((leaf is None or leaf.flags.c_contiguous) and g.flags.c_contiguous)
            )
        ):
            g = _in_layout(as_array(g), leaf)
        return new_tensor(g)
    array = old._array
    if not writable(array):
        return new_tensor(as_array(array + g))
    g = g if array.dtype is g.dtype or array.dtype == g.dtype else g.astype(array.dtype)
    if type(array) is ndarray and array.size >= LARGE and g.shape == array.shape:
        total_of(array, g, array)
    elif array.dtype is f32 or array.dtype is f64:
        raw.add(array, g, out=array)
    else:
        array += g
    old._counter().n += 1
    return old


def _references_of_one_seen_here_alone() -> int:
    """How many references Python counts, as `accumulated` asks, of a gradient that nobody else has; it depends on the version."""

    def inner(this: Any, old: Any, g: Any, leaf: Any = None) -> int:
        return sys.getrefcount(g)

    def outer(grads: dict[int, Any]) -> int:
        g = grads.pop(0)
        return inner(None, None, g, None)

    return outer({0: object()})


def _references_of_one_in_a_loop() -> int:
    """The same, as `finish_usual` asks."""

    def loop(grads: dict[int, Any]) -> int:
        g = grads.pop(0)
        return sys.getrefcount(g)

    return loop({0: object()})


# Never more than Python's own three: a debugger or profiler that looks at frames while this is counted holds some, too, and a gradient that
# somebody else sees would be taken for one that nobody does. (Counted too low, it is copied.)
_ALONE = min(3, _references_of_one_seen_here_alone())
_ALONE_HERE = min(2, _references_of_one_in_a_loop())


def _sparse(this: Pass, old: Tensor | None, g: Coo) -> Any:
    """The new `.grad` of a table of which few rows were used."""
    if old is None:
        return g.tensor()
    if type(old._array) is ndarray and writable(old._array) and not this.create_graph:
        HOST.xp.add.at(old._array, tuple(g.indices), g.values.astype(old._array.dtype, copy=False))
        old._counter().n += 1
        return old
    total = old._array + g
    if type(total) is type(old._array) is Coo and not this.create_graph:
        return old.become(total.tensor())  # type: ignore[attr-defined]
    return total.tensor() if type(total) is Coo else new_tensor(total)


def _in_layout(g: Any, leaf: Any) -> Any:
    """A gradient that may be kept: in the layout of its leaf if that has no gaps, contiguous otherwise."""
    if g.base is None and not modes.state.grad_layout and sys.getrefcount(g) <= _ALONE + 1:
        return g
    if leaf is None or leaf.flags.c_contiguous or leaf.shape != g.shape or not _has_no_gaps(leaf):
        return g.copy()
    like = empty_like(leaf, g.dtype)
    like[...] = g
    return like


def _has_no_gaps(leaf: Any) -> bool:
    like = empty_like(leaf)
    return bool(leaf.flags.c_contiguous or like.strides == leaf.strides)


def _kept_with_history(this: Pass, g: Tensor, leaf: Any) -> Tensor:
    """The first gradient under create_graph: a copy, whose history says so."""
    if not this.create_graph:
        return g
    if g._edge is not None and leaf is not None and modes.state.grad:
        if not _has_no_gaps(leaf):
            return g.contiguous() if not g.is_contiguous() else g.clone()
        return inplace(OPS["copy"], new_tensor(_in_layout(g._array, leaf)), g)
    if g._rg:
        return g
    copy = new_tensor(g._array.copy("K"))
    if modes.special and modes.dual is not None and modes.state.grad:  # else PyTorch takes it over detached
        modes.dual.carry(g, copy)
    return copy
