"""Tensors that share the memory of another one, and how they know their base."""

from __future__ import annotations

from typing import Any

from ..kernels import held
from . import modes
from .tensor import Tensor, new_object
from .versions import INFERENCE, VersionCounter, View


def as_view(x: Tensor, array: Any, chain: tuple[Any, ...], creation: str = "normal") -> Tensor:
    """A tensor that shares `x`'s memory and version counter, and knows how it was taken from its base: by these steps, in this mode."""
    if modes.special == 0:
        return Quick.view(x, array, chain, creation)
    if modes.state.inference:
        creation = "inference"
    elif not modes.state.grad:
        creation = "no_grad"
    out = Quick.view(x, array, chain, creation)
    if modes.dual is not None and chain and chain[0][2] is None:
        modes.dual.viewed(x, (out,), chain)
    return out


def plain_view(x: Tensor, array: Any, chain: tuple[Any, ...], creation: str = "normal") -> Tensor:
    """The same where no mode is on, or `creation` says which."""
    out = new_object(Tensor)
    out._array = array
    out._edge = out._view = None
    out._nr = 0
    out._rg = False
    counter = x._vc
    if counter is None:
        counter = x._vc = VersionCounter()
    out._vc = counter
    if counter is INFERENCE:
        return out
    view = out._view = new_object(View)
    view.version = counter.n
    above = x._view
    whole: tuple[Any, ...] = ()
    if above is None:
        view.base = x
    else:
        if above.creation != "normal" and creation == "normal":
            creation = above.creation
        view.base = above.base
        whole = above.chain
    for step in chain:  # (as `extended` of kernels/layout.py: a call less)
        whole = (whole, step)
    view.chain = whole
    view.creation = creation
    return out


class Quick:
    """`view`: `plain_view`, or a compiled function as soon as there is one (NOTE [Held views] in kernels/held.py)."""

    view = staticmethod(plain_view)


held.follow_views(lambda function: setattr(Quick, "view", staticmethod(function)))
