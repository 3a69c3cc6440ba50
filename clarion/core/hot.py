"""The hot path: operations of one or two tensors of one floating type, without parameters.

On small tensors an operation is mostly overhead, so the call is written out for the operation: what its rules name is known
beforehand, and nothing is asked that has one answer. `general.py` takes whatever is unusual.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import registry
from . import provenance
from .general import general_call, numbers32, numbers64
from .messages import broadcast_error, not_a_tensor, out_of_memory
from .spelled import scope_of, written_at_first_call
from .tensor import Tensor

if TYPE_CHECKING:
    from .op import Op

OPERANDS = (Tensor, float, int, complex, np.number, np.bool_)


def unary_call(op: Op) -> Callable[[Any], Any]:
    """The call of an operation of one tensor."""
    return written_at_first_call(op, lambda: _unary_text(op), _scope(op))


def binary_call(op: Op) -> Callable[[Any, Any], Any]:
    """The call of an operation of two operands: tensors, or a tensor and a number."""
    return written_at_first_call(op, lambda: _binary_text(op, False), _scope(op))


def operator_call(op: Op) -> Callable[[Any, Any], Any]:
    """The operation as a Python operator: NotImplemented for what is neither tensor nor number."""

    def other_operand(op: Op, args: tuple[Any, ...]) -> Any:
        return general_call(op, args) if isinstance(args[1], OPERANDS) else NotImplemented

    scope = _scope(op) | {"otherwise": other_operand}
    return written_at_first_call(op, lambda: _binary_text(op, True), scope, f"{op.name}, the operator")


def _scope(op: Op) -> dict[str, Any]:
    """What the texts see. `user` is the user's code that called last: mostly it is the same again."""
    return scope_of(op) | {
        "broadcast_error": broadcast_error,
        "getframe": provenance._getframe,
        "not_a_tensor": not_a_tensor,
        "out_of_memory": out_of_memory,
        "nothing": [None] * len(op.layout),
        "numbers32": numbers32,
        "numbers64": numbers64,
        "otherwise": general_call,
        "pair": op.pair,
        "user": None,
    }


# The texts --------------------------------------------------------------------------------------------

_UNARY = """def call(x):
    global user
    if type(x) is not Tensor and not isinstance(x, Tensor):
        raise not_a_tensor(op, 0, x)
    a = x._array
    if a.dtype is not f32 and a.dtype is not f64:
        return general_call(op, (x,))
    r = {kernel}(a)
"""

_BINARY = """    a = x._array
    dtype = a.dtype
    kind = type(y)
    if kind is float or kind is int:
        if dtype is not f32 and dtype is not f64:
            return otherwise(op, (x, y))
        b = (numbers32 if dtype is f32 else numbers64).get(y)
        if b is None:
            b = as_scalar(y, dtype)
        ry = None
    elif kind is Tensor or isinstance(y, Tensor):
        b = y._array
        if b.dtype is not dtype or (dtype is not f32 and dtype is not f64):
            return general_call(op, (x, y))
        if y._view is not None:
            sync(y)
        ry = y._rg
    else:
        return otherwise(op, (x, y))
    try:
        r = {kernel}(a, b)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None
    except MemoryError as error:
        raise out_of_memory(error) from None
"""

_OUTPUT = """    if type(r) is not ndarray:
        r = r[...]  # NumPy hands out 0-dim results as scalars
    out = new_object(Tensor)
    out._array = r
    out._vc = out._view = None
    out._nr = 0
    if x._view is not None:
        sync(x)
"""

_NODE = """    if {wanted} and (modes.special == 0 or modes.recording()):
        node = cls()
        node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None
{kept}        node.seq = next(sequence)
        frame = getframe(1)
        code = frame.f_code
        if code is user:
            node.code = code
            node.lasti = frame.f_lasti
        else:
            mark(node)
            user = node.code
        out._edge = node
        out._rg = True
        if hub.recorded is not None:
            announce(node, {inputs}, out)
    else:
        out._edge = None
        out._rg = False
"""

# An operation without gradient: whoever listens hears that a history ends here.
_LEFT = """    out._edge = None
    out._rg = False
    if hub.left is not None and {wanted}:
        hub.left({first}, op.name)
"""

# Under no_grad alone there is nothing to finish.
_END = """    if modes.special:
        if out._edge is not None or modes.dual is not None or hub.applied is not None or modes.state.inference:
            finished(op, {inputs}, (), (out,))
    return out
"""

# A number is kept as the 0-dim array that NumPy is fast with.
_KEPT_OF_TWO = """if ry is None:
{number}    if x._nr:
        node.nrs = (x._nr, 0)
else:
    if rx and ry:
{both}    elif rx:
{first}    else:
{second}    if x._nr or y._nr:
        node.nrs = (x._nr, y._nr)
    if a.shape != b.shape{pair}:
        node.fix = ((a.shape, dtype), (b.shape, dtype))
"""


def _kernel(op: Op) -> str:
    """The kernel; where there is one for large arrays, the size is asked for here, which is quicker than a function that asks."""
    return "(kernel if a.size < least else large)" if registry.for_large(op.name) else "kernel"


def _unary_text(op: Op) -> str:
    text = _UNARY.format(kernel=_kernel(op)) + _OUTPUT
    if op.differentiable:
        kept = _kept(op, 1, ("x",)) + "if x._nr:\n    node.nrs = (x._nr,)\n"
        text += _NODE.format(wanted="x._rg", kept=indent(kept, " " * 8), inputs="(x,)")
    else:
        text += _LEFT.format(wanted="x._rg", first="x")
    return text + _END.format(inputs="(x,)")


def _binary_text(op: Op, is_operator: bool) -> str:
    text = "def call(x, y):\n    global user\n"
    if not is_operator:  # whose first operand is a Tensor
        text += "    if type(x) is not Tensor and not isinstance(x, Tensor):\n        return general_call(op, (x, y))\n"
    text += _BINARY.format(kernel=_kernel(op)) + _OUTPUT + "    rx = x._rg\n"
    if op.differentiable:
        kept = _KEPT_OF_TWO.format(
            number=indent(_kept(op, 1, ("x", "b")), " " * 4),
            both=indent(_kept(op, 3, ("x", "y")), " " * 8),
            first=indent(_kept(op, 1, ("x", "y")), " " * 8),
            second=indent(_kept(op, 2, ("x", "y")), " " * 8),
            pair="" if op.pair is None else " and pair(a, b)",
        )
        text += _NODE.format(wanted="(rx or ry)", kept=indent(kept, " " * 8), inputs="(x, y)")
    else:
        text += _LEFT.format(wanted="(rx or ry)", first="x if rx else y")
    return text + _END.format(inputs="(x, y)")


def _kept(op: Op, mask: int, inputs: tuple[str, ...]) -> str:
    """Edges and saved values if the inputs in `mask` require gradients."""
    keep = op.keep(mask)
    names = [name if kept else "None" for name, kept in zip((*inputs, "r"), keep, strict=True)]
    edges = [f"{name}._edge or {name}" if mask >> i & 1 else "None" for i, name in enumerate(inputs)]
    text = f"node.edges = {_tuple(edges)}\n"
    if any(keep):
        text += f"node.saved = {_tuple(names)}\n"
    else:
        # Rules that do not run may still be spelled out: what they name has a place, where there is nothing to free.
        text += f"node.saved = {'nothing' if any(op.keep(2 ** len(inputs) - 1)) else '()'}\n"
    tensors = [name for name in names[:-1] if name in ("x", "y")]
    if tensors:
        text += f"if {' or '.join(f'{name}._vc is not None' for name in tensors)}:\n"
        versions = [f"version_of({name})" if name in tensors else "0" for name in names[:-1]]
        text += f"    node.versions = {_tuple(versions)}\n"
    if keep[-1]:
        text += "out._vc = node.out_guard = VersionCounter()\n"
    return text


def _tuple(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
