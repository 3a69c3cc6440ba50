"""What a call is like: versions of a compiled function are kept for each kind of arguments and each state of the switches."""

from __future__ import annotations

from typing import Any

from ..amp.state import state as casting
from ..core import devices, dtypes, modes
from ..core.overriding import state as overriding
from ..core.tensor import Tensor
from ..core.versions import INFERENCE
from ..pytree import tree_flatten
from .source import is_ours

_PLAIN = (bool, int, float, str, type(None), complex)


def world() -> tuple[Any, ...] | str:
    """The switches that decide how operations run; a text says why nothing is compiled under them."""
    state = modes.state
    if modes.special:
        if modes.dual is not None:
            return "forward mode is on"
        if state.saved_hooks or state.anomaly:
            return "saved-tensor hooks or anomaly mode are on"
    if overriding.modes:
        return "a torch function mode is on"
    if devices.elsewhere and devices._choice.devices[-1] is not None:
        return "another device is chosen for new tensors"
    switches = state.grad, state.inference, dtypes._default.char
    return (*switches, *casting.enabled.values(), *casting.dtype.values()) if casting.casting else switches


def quick_key(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The key of arguments that are tensors and numbers; None for others."""
    parts: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is Tensor:
            array = value._array
            parts.append(
                (
                    array.shape,
                    array.strides,
                    array.dtype.num,  # (the hash of a type takes a microsecond)
                    array.dtype.isnative,
                    value._rg,
                    value._edge is None,
                    value._grad is None,
                    value._hooks is None,
                    value._vc is INFERENCE,
                )
            )
        elif kind in _PLAIN:
            parts.append((kind, value) if value == value and value else (kind, repr(value)))
        else:
            return None
    if len(args) > 1:
        parts.append(_repeated(args))
    return tuple(parts)


def _repeated(values: Any) -> tuple[int, ...]:
    """Which of the values are the same tensor as an earlier one (its place), and which a view of the same memory (from -1 down)."""
    first: dict[int, int] = {}
    found: list[int] = []
    for i, value in enumerate(values):
        if isinstance(value, Tensor):
            same = first.setdefault(id(value), i)
            counter = value._vc
            if same == i and counter is not None and counter is not INFERENCE:
                others = first.setdefault(id(counter), i)
                same = i if others == i else -1 - others
            found.append(same)
    return tuple(found)


def full_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any, tuple[Any, ...]]:
    """Leaves, shape and key of any arguments. Objects of other kinds count by identity; what they hold is watched."""
    leaves, shape = tree_flatten((args, kwargs))
    parts: list[Any] = [str(shape)]
    for value in leaves:
        if isinstance(value, Tensor):
            array = value._array
            parts.append(
                (
                    type(value),
                    array.shape,
                    array.strides,
                    array.dtype,
                    value._rg,
                    value._edge is None,
                    value._grad is None,
                    value._hooks is None,
                    value._vc is INFERENCE,
                )
            )
        elif isinstance(value, _PLAIN) and is_ours(type(value)):
            parts.append((type(value), value) if value == value and value else (type(value), repr(value)))
        else:
            parts.append((type(value), id(value)))
    parts.append(_repeated(leaves))
    return leaves, shape, tuple(parts)
