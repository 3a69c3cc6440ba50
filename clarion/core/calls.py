"""Calling operations: which text an operation's call is written by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..kernels import held
from . import call_texts
from .devices import ndarray
from .dtypes import FROM_NUMPY, NUMBERS
from .general_call import general_call
from .layer_text import layer
from .several_text import several
from .tensor import Tensor, new_tensor
from .written import scope_of, written_at_first_call

if TYPE_CHECKING:
    from .op import Op

OPERANDS = (Tensor, *NUMBERS)
# What operators take: they are written when they are first called.
_OF_ONE, _OF_TWO = inspect.signature(lambda self: None), inspect.signature(lambda self, other: None)


def pick_call(op: Op) -> Callable[..., Any]:
    """`op.call`: written out for the operation when it is first called."""
    scope = scope_of(op)
    if op.view:
        held.follow_views(partial(scope.__setitem__, "quick_view"))
        return written_at_first_call(op, partial(call_texts.view, op), scope, quick_form="new")
    if op.variadic:
        return written_at_first_call(op, lambda: call_texts.variadic(op), scope)
    hot = op.elementwise or op.pair is not None or "f" in op.refuse  # (operations on bits)
    if hot and not op.params and not op.uses_shapes and op.joint is None and len(op.outputs) == 1:
        if len(op.inputs) == 1:
            return written_at_first_call(op, partial(call_texts.unary, op), scope, quick_form="new")
        if len(op.inputs) == 2:
            return written_at_first_call(op, partial(call_texts.binary, op), scope, quick_form=_quick_form(op))
    if len(op.inputs) == 1 and op.promote is None and op.joint is None and len(op.outputs) == 1:
        form = "any" if op.moves else "new or any"
        return written_at_first_call(op, partial(call_texts.unary, op), scope, quick_form=form)
    scope["kept"] = Kept(op)
    return written_at_first_call(op, partial(several, op), scope, quick_form="any")


def _quick_form(op: Op) -> str:
    """Of two operands: a product has forms of its own."""
    return "new" if op.elementwise or "loss" in op.traits else ""


def operator_call(op: Op) -> Callable[[Any, Any], Any]:
    """The operation as a Python operator: NotImplemented for what is neither tensor nor number."""

    def other_operand(op: Op, args: tuple[Any, ...]) -> Any:
        if isinstance(args[1], OPERANDS):
            return general_call(op, args)
        if op.name == "eq" and isinstance(args[1], ndarray) and args[1].dtype in FROM_NUMPY:
            return general_call(op, (args[0], new_tensor(args[1])))  # (else Python would compare identities)
        if hasattr(type(args[1]), "__torch_function__"):  # an object that is no tensor, and takes calls over
            from .overriding import dispatch

            return dispatch(getattr(Tensor, op.name), [args[1]], args, {}, True)
        return NotImplemented

    name, scope = f"{op.name}, the operator", scope_of(op)
    made: Any
    if len(op.inputs) == 1:  # (a function of its own: op.call asks nobody, see core/overriding.py)
        made = written_at_first_call(op, partial(call_texts.unary, op), scope, name, "new")
        made.__signature__ = _OF_ONE
    else:
        made = written_at_first_call(
            op, partial(call_texts.binary, op, True), scope | {"otherwise": other_operand}, name, _quick_form(op)
        )
        made.__signature__ = _OF_TWO
    return made  # type: ignore[no-any-return]


def function_call(op: Op, with_target: Callable[..., Any]) -> Callable[..., Any]:
    """The operation of one tensor as a function: `with_target` takes over where `out=` is given."""
    scope = scope_of(op) | {"with_target": with_target}
    return written_at_first_call(op, partial(call_texts.unary, op, True), scope, f"{op.name}, the function", "new")


def layer_call(op: Op, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The operation of several tensors as a function of a layer: `otherwise` looks at the arguments where no quick kernel has taken them."""
    scope = scope_of(op) | {"otherwise": otherwise, "kept": Kept(op)}
    return written_at_first_call(op, partial(layer, op), scope, f"{op.name}, the layer", "new")


class Kept(dict[int, tuple[bool, ...]]):
    """For a mask of inputs that require gradients: is each input kept, each output, any of them?"""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, mask: int) -> tuple[bool, ...]:
        keep = self.op.keep(mask)
        named = keep[: len(self.op.inputs)] + keep[self.op.arity :]
        found = self[mask] = (*named, any(named))
        return found
