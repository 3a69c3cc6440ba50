"""Custom Functions in forward mode: their static `jvp(ctx, *tangents)`, and what is asked of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import errors
from .devices import xp_of
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
            new_tensor(xp_of(a._array).zeros_like(a._array)) if t is None and isinstance(a, Tensor) else t
            for a, t in zip(args, tangents, strict=True)
        ]
    result = node._function.jvp(node, *given)
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
        if not isinstance(out, Tensor) or tangent is None:
            continue
        if id(value) in frozen:
            continue
        if id(value) in dirty:
            _check_written(of_input[id(value)], tangent)
            if level.tangent_of(out) is None:
                level.attach(out, tangent)
            continue
        if _is_view_of(value, args) and not any(_shares(tangent, t) for t in given):
            raise errors.EngineError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
            )
        level.attach(out, tangent)
    level.remember(node, tuple(outs))


def _check_written(before: Any, tangent: Tensor) -> None:
    if before is not tangent:
        raise errors.EngineError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
            "input inplace, then the jvp function must modify the corresponding gradient inplace."
        )


def _is_view_of(value: Tensor, args: tuple[Any, ...]) -> bool:
    return any(isinstance(a, Tensor) and (a is value or _shares(a, value)) for a in args)


def _shares(a: Any, b: Any) -> bool:
    return isinstance(a, Tensor) and isinstance(b, Tensor) and xp_of(a._array).may_share_memory(a._array, b._array)
