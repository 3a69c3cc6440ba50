"""How views follow their bases: a fresh grad_fn once the base was written, or a refusal. See NOTE [Rebase] in inplace.py."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..kernels.layout import steps
from . import modes
from .dtypes import INEXACT
from .tensor import Tensor
from .versions import INFERENCE, Claim, MirroredCounter
from .view_nodes import taken_from


def sync(x: Tensor) -> None:
    """Bring a view's grad_fn up to date with its base."""
    view = x._view
    if view is None or x._vc is None or x._vc is INFERENCE:
        return
    if view.version == x._vc.n:
        if not x._rg and view.base._rg and x._array.dtype in INEXACT:
            x._rg, view.__class__ = True, Claim
        return
    if view.base._view is not None:  # its shape was changed in place: `reshape_inplace` put a base under it
        view.base = view.base._view.base
    if view.base._rg or x._edge is not None:  # (a history that its base has lost ends here)
        if view.creation != "normal" and modes.special and not modes.recording():
            return  # values may still be read
        refuse_creation(x, True, "and its base or another view of its base has been modified inplace")
        refresh(x)
    view.version = x._vc.n


def refresh(x: Tensor) -> None:
    """Give a view a fresh grad_fn: its slice of the base as it is now."""
    view = x._view
    assert view is not None
    base = view.base
    kept = x._edge.hooks.retain.pop(x._nr, None) if x._edge is not None and x._edge.hooks is not None else None
    node: Any
    if modes.state.view_replay or type(x._vc) is MirroredCounter:  # no strides lead to conjugates
        with modes.enable_grad():
            again = replay(view.chain, base)
        node, x._nr = again._edge, again._nr
    else:
        node, x._nr = taken_from(base._edge or base, base._nr, view.chain, layout_of(base)), 0
    x._edge, x._rg = node, True
    if kept is not None and kept() is x:
        node._hooks().retain[x._nr] = kept


def layout_of(x: Tensor) -> tuple[Any, ...]:
    """How a tensor lies in memory: a view taken from it can be taken from anything that lies alike."""
    array = x._array
    return array.shape, array.strides, array.dtype


def replay(chain: tuple[Any, ...], tensor: Tensor) -> Tensor:
    """Take the view described by `chain` from a Tensor, recorded."""
    for op, params, nr in steps(chain):
        result = op.call(tensor, *params)
        tensor = result if nr is None else result[nr]
    return tensor


def refuse_creation(x: Tensor, writer_requires: bool, happens: str = "and is being modified inplace") -> None:
    """Views that may not be written, nor used once their base was, by the way they were made."""
    view = x._view
    assert view is not None
    if view.creation == "normal" or not (writer_requires or x._rg or view.base._rg):
        return
    nr, origin = x._nr, type(x._edge).__name__ if x._edge is not None else "None"
    title = origin.removesuffix("0").removesuffix("Backward")
    text = (
        f"Output {nr} of {title} is a view {happens}."
        if x._edge is not None
        else f"A view was created in no_grad mode {happens} with grad mode enabled."
    )
    if view.creation == "multi":
        raise errors.InplaceError(
            f"{text} This view is the output of a function that returns multiple views. Such functions do not allow "
            "the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    if view.creation == "custom":
        raise errors.InplaceError(
            f"{text} This view was created inside a custom Function (or because an input was returned as-is) and the "
            "autograd logic to handle view+inplace would override the custom backward associated with the custom "
            "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
            "output of the custom Function."
        )
    made, mode, remedy = (
        ("no_grad mode", "with grad mode enabled", "Given that this use case is ambiguous and error-prone, it is "
         "forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad "
         "block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).")
        if view.creation == "no_grad"
        else ("inference mode", "in normal mode", "Given that this use case is ambiguous and error-prone, it is "
              "forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
              "inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the "
              "inplace to be tracked).")
    )  # fmt: skip
    subject = f"Output {nr} of {title} is a view of a view which" if x._edge is not None else "A view"
    raise errors.InplaceError(f"{subject} was created in {made} {happens} {mode}. {remedy}")
