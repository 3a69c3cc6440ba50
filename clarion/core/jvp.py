"""Forward rules of operations: `op.jvp(...)`. They are for speed: without one, the gradient rules serve (see forward.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .devices import xp_of
from .dtypes import NUMBERS
from .namespace import lifted
from .tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from .op import Op

Forward = Callable[..., Any]  # (op, inputs, params, outs, tangents) -> the tangent of the output, or a tuple of them


def forward_rule(op: Op, rule: Callable[..., Any] | str) -> Forward:
    """What `op.jvp(rule)` declares, in one form."""
    if rule == "each":
        return _each
    if rule == "together":
        return _together
    if isinstance(rule, str):
        raise ValueError(f"{op.name}: a forward rule is a function, 'each' or 'together', not {rule!r}")
    return _named(op, rule)


def _named(op: Op, fn: Callable[..., Any]) -> Forward:
    """A rule that names what it wants: `dx`, `dy` are tangents, the other names are those of gradient rules."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    tangents = {f"d{name}": i for i, name in enumerate(op.inputs)}
    shapes = tuple(f"{name}_shape" for name in op.inputs)
    known = {name: i for i, name in enumerate((*op.layout, *shapes))}
    unknown = [name for name in names if name not in known and name not in tangents and name != "ops"]
    if unknown or op.variadic:
        raise ValueError(f"{op.name}: a forward rule names {unknown}, known are {sorted((*known, *tangents, 'ops'))}")

    def forward(op: Op, inputs: Any, params: Any, outs: Any, given: Any) -> Any:
        values = (*inputs, *params, *outs)
        chosen = []
        for name in names:
            if name == "ops":
                chosen.append(lifted)
            elif name in tangents:
                chosen.append(given[tangents[name]])
            elif known[name] < len(values):
                chosen.append(values[known[name]])
            else:
                chosen.append(inputs[known[name] - len(op.layout)]._array.shape)
        return fn(*chosen)

    return forward


def _each(op: Op, inputs: tuple[Any, ...], params: Any, outs: Any, tangents: list[Any]) -> Any:
    """Linear in each of its inputs: the sum over the inputs of the operation with one of them replaced by its tangent."""
    total = None
    for i, tangent in enumerate(tangents):
        if tangent is not None:
            part = op.call(*inputs[:i], tangent, *inputs[i + 1 :], *params)
            total = part if total is None else total + part
    return total


def _together(op: Op, inputs: tuple[Any, ...], params: Any, outs: Any, tangents: list[Any]) -> Any:
    """Linear in all of its inputs that are differentiable: the operation itself, zeros where there is no tangent."""
    filled = []
    for i, (x, tangent) in enumerate(zip(inputs, tangents, strict=True)):
        if tangent is None and isinstance(x, Tensor) and (op.variadic or op.rules[i] is not None):
            tangent = new_tensor(xp_of(x._array).zeros(x._array.shape, x._array.dtype))
        elif tangent is None and isinstance(x, NUMBERS):
            tangent = 0
        filled.append(x if tangent is None else tangent)
    return op.call(filled, *params) if op.variadic else op.call(*filled, *params)
