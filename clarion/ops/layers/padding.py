"""Padding of the last dimensions."""

from __future__ import annotations

from typing import Any

from ...core.op import Op
from ...errors import ArgumentTypeError, EngineError, NotSupportedError
from ..elementwise.arithmetic import number
from ..elementwise.cast import cast_number
from ..faces.api import FUNCTIONS, functional
from ..faces.autocast import autocast
from ..faces.options import is_int

Widths = tuple[tuple[int, int], ...]


def _turned(widths: Widths) -> Widths:
    return tuple((-a, -b) for a, b in widths)


constant_pad_nd_op = Op("constant_pad_nd", "x", "widths value", moves=True)
constant_pad_nd_op.vjp(x=lambda g, widths, ops: ops.constant_pad_nd(g, _turned(widths), 0))
constant_pad_nd_op.jvp(lambda dx, widths, ops: ops.constant_pad_nd(dx, widths, 0))


def _declare(name: str, node: str, traits: str = "") -> Op:
    op = Op(name, "x", "widths mode", node=node, moves=True, traits=traits)
    op.vjp(x=lambda g, x_shape, widths, mode, ops: ops.pad_by_copy_backward(g, x_shape, widths, mode)).jvp("each")
    return op


_COPIES = {
    (kind, n): _declare(f"{title}_pad{n}d", f"{title.capitalize()}Pad{n}DBackward0", "fused")
    for kind, title in (("reflect", "reflection"), ("replicate", "replication"))
    for n in (1, 2, 3)
}
_circular_op = _declare("circular_pad", "CopySlices")

pad_by_copy_backward_op = Op("pad_by_copy_backward", "g", "shape widths mode", node="ReflectionPad1DBackwardBackward0")
pad_by_copy_backward_op.vjp(g=lambda g, widths, mode, ops: ops.circular_pad(g, widths, mode))


def _pads_by_content(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> bool:
    return mode in ("reflect", "replicate")


def _whole_numbers(pad: Any) -> list[int]:
    for place, each in enumerate(pad):
        if type(each) is not int and not is_int(each):
            raise ArgumentTypeError(
                f"pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
                f"{type(each).__name__} at pos {place}"
            )
    return [int(each) for each in pad]


def _widths(input: Any, pad: Any) -> Any:
    """(before, after) of each dimension, the first one's first."""
    if len(pad) % 2:
        raise EngineError("Padding length must be divisible by 2")
    n, ndim = len(pad) // 2, input._array.ndim
    if n > ndim:
        raise EngineError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {ndim}"
        )
    return ((0, 0),) * (ndim - n) + tuple((pad[2 * i], pad[2 * i + 1]) for i in reversed(range(n)))


@functional()
@autocast("float32", when=_pads_by_content)
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Pad the last dimensions: `pad` holds (before, after) pairs, the last dimension's first."""
    pad = _whole_numbers(pad)
    widths, n, ndim = _widths(input, pad), len(pad) // 2, input._array.ndim
    if isinstance(value, complex):
        raise ArgumentTypeError("pad(): argument 'value' (position 4) must be float, not complex")
    if mode == "constant":
        _refuse_negative(input, widths)
        return constant_pad_nd_op.call(
            input, widths, 0 if value is None else cast_number(float(value), input._array.dtype)
        )
    if value is not None and value != 0:
        raise EngineError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotSupportedError(f"Unrecognised padding mode {mode}")
    if n not in (1, 2, 3) or ndim - n not in (1, 2):
        raise NotSupportedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now\n"
            f"The last {n} dimensions of an input of {ndim} were to be padded."
        )
    if mode != "circular" and 0 in input._array.shape[-n - 1 :]:
        raise EngineError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(input._array.shape)}"
        )
    _check_copies(input, widths, mode)
    if mode == "circular":
        return _circular_op.call(input, widths, mode)
    return _COPIES[mode, n].call(input, widths, mode)


def _refuse_negative(input: Any, widths: Widths) -> None:
    for dim, (n, (a, b)) in enumerate(zip(input._array.shape, widths, strict=True)):
        if n + a + b < 0:
            raise EngineError(
                f"The input size {n}, plus negative padding {a} and {b} resulted in a negative output size, which is "
                f"invalid. Check dimension {dim} of your input."
            )


def _check_copies(input: Any, widths: Widths, mode: str) -> None:
    """What can be copied is limited by what is there."""
    for dim, (n, (a, b)) in enumerate(zip(input._array.shape, widths, strict=True)):
        if mode == "reflect" and (a >= n or b >= n) and (a or b):
            raise EngineError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({a}, {b}) at dimension {dim} of input {list(input._array.shape)}"
            )
        if mode == "circular" and (a > n or b > n):
            raise EngineError("Padding value causes wrapping around more than once.")
        if (a or b) and (not n or n + a + b < 1):
            raise EngineError(
                f"Expected a non-empty result of padding, but got: padding ({a}, {b}) at dimension {dim} of input "
                f"{list(input._array.shape)}"
            )


def _constant_pad_nd(input: Any, pad_: Any, value: Any = 0) -> Any:
    """`input` with a border of `value`, any number; `pad_` counts from the last dimension."""
    widths = _widths(input, _whole_numbers(pad_))
    _refuse_negative(input, widths)
    return constant_pad_nd_op.call(input, widths, cast_number(number("constant_pad_nd", value), input._array.dtype))


FUNCTIONS["constant_pad_nd"] = _constant_pad_nd
