"""Custom Functions in forward mode: their static `jvp(ctx, *tangents)`, and what is asked of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import errors
from .devices import xp_of
from .dtypes import INEXACT
from .tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from .forward import Level
    from .function import CustomNode


def push_forward(level: Level, node: CustomNode, args: tuple[Any, ...], raw: tuple[Any, ...], outs: list[Any]) -> None:
    """Give the outputs of a custom Function the tangents that its `jvp` returns, if any input has one."""
    tangents = [level.tangent_of(a) if isinstance(a, Tensor) else None for a in args]
    if all(t is None for t in tangents):
        return
    given = tangents
    if node.materialize_grads:
        given = [
            new_tensor(xp_of(a._array).zeros_like(a._array)) if t is None and _differentiable(a) else t
            for a, t in zip(args, tangents, strict=True)
        ]
    written = {id(t): t._version for t in given if t is not None}
    node.__dict__["_in_jvp"] = True  # its saved tensors are those saved for forward
    try:
        result = node._function.jvp(node, *given)
    finally:
        del node.__dict__["_in_jvp"]
    results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(results) != len(outs):
        raise errors.EngineError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got {len(results)})"
        )
    dirty = {id(t) for t in node.dirty_tensors}
    frozen = {id(t) for t in node.non_differentiable}
    of_input = {id(a): t for a, t in zip(args, given, strict=True) if isinstance(a, Tensor)}
    for nr, (value, out, tangent) in enumerate(zip(raw, outs, results, strict=True)):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise errors.EngineError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {nr}.")
        if tangent is not None and (
            id(value) in frozen or not isinstance(out, Tensor) or out._array.dtype not in INEXACT
        ):
            raise errors.EngineError(
                f"Function's jvp returned a gradient at position {nr}, but  the corresponding forward output is not a "
                "differentiable Tensor.You should return None at that position instead."
            )
        if not isinstance(out, Tensor) or tangent is None:
            continue
        if id(value) in dirty:
            _check_written(of_input[id(value)], tangent, written[id(of_input[id(value)])])
            if level.tangent_of(out) is None:
                level.attach(out, tangent)
            continue
        _check_view(value, tangent, args, given)
        level.attach(out, tangent)
    level.remember(node, tuple(outs))


def _check_view(value: Tensor, tangent: Tensor, args: tuple[Any, ...], given: list[Any]) -> None:
    """Where forward returns a view of an input, `jvp` must return the same kind of view of its tangent."""
    viewed = next((i for i, a in enumerate(args) if isinstance(a, Tensor) and (a is value or _shares(a, value))), None)
    if viewed is None:
        return
    if tangent._view is None:
        raise errors.EngineError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
        )
    if not any(_shares(tangent, t) for t in given):
        same = (
            "the same base as "
            if args[viewed]._view is not None and args[viewed]._view.base._view is None and _explicit(args[viewed])
            else ""
        )
        raise errors.EngineError(
            f"A custom Function is returning a view but the jvp is not returning a view of {same}the given grad input."
        )


def _explicit(x: Tensor) -> bool:
    """Is it a view that the program took (and not the one that makes a dual)?"""
    return not x.__dict__.get("_dual_root", False)


def _check_written(before: Any, tangent: Tensor, version: int) -> None:
    if before is not tangent or tangent._version == version:
        raise errors.EngineError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
            "input inplace, then the jvp function must modify the corresponding gradient inplace."
        )


def _differentiable(a: Any) -> bool:
    return isinstance(a, Tensor) and a._array.dtype in INEXACT


def _shares(a: Any, b: Any) -> bool:
    return isinstance(a, Tensor) and isinstance(b, Tensor) and xp_of(a._array).may_share_memory(a._array, b._array)
