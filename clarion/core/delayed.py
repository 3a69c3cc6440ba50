"""Identities in the graph that do something to gradients: refuse them, or let none through."""

from __future__ import annotations

from typing import Any

from .. import errors
from .node import Node
from .tensor import Tensor, new_tensor


class Error(Node):
    """Refuses the gradients that reach it."""

    message: str

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        raise errors.EngineError(self.message)

    apply_tensors = apply_raw


class UndefinedGradBackward(Node):
    """Hands no gradient on; what lies behind has its turn all the same."""

    hands_on_nothing = True

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (None,) * len(self.edges)

    apply_tensors = apply_raw


class Unturned(Node):
    """Behind a tensor whose shape was changed in place without being recorded: its gradient has the new shape."""

    message: str
    shape: tuple[int, ...]  # of what lies behind
    fits: bool

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        if not self.fits:
            raise errors.EngineError(self.message)
        return (g.reshape(self.shape),)

    apply_tensors = apply_raw


def turned(before: Tensor, shape: tuple[int, ...]) -> Any:
    """The node of a tensor that came to have another shape unseen. PyTorch adds the gradient up to the old shape if it can."""
    behind, name = before._edge, type(before._edge).__name__
    old = behind.shape if isinstance(behind, Unturned) else before._array.shape
    node: Any = type(name, (Unturned,), {})()  # (it goes by the name of the one behind it)
    lacking = len(shape) - len(old)
    node.shape, node.fits = old, lacking >= 0 and shape[lacking:] == old
    node.message = (
        f"Function {name} returned an invalid gradient at index 0 - got {list(shape)} but expected shape compatible with "
        f"{list(old)}. The shape of its result was changed in place while nothing was recorded."
    )
    _joined(node, (before,))
    if isinstance(behind, Unturned):
        node.edges, node.nrs = behind.edges, behind.nrs
    return node


class DelayedError:
    """`DelayedError(message, n)(*tensors)`: the same tensors, whose gradients are refused with the message."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message

    def __call__(self, *tensors: Any) -> Any:
        """The tensors, with the refusal behind them."""
        node = Error()
        node.message = self.message
        return _joined(node, tensors)


class UndefinedGrad:
    """`UndefinedGrad()(*tensors)`: the same tensors, whose gradients end here."""

    def __call__(self, *tensors: Any) -> Any:
        """The tensors, with the end behind them."""
        return _joined(UndefinedGradBackward(), tensors)


def _joined(node: Node, tensors: tuple[Any, ...]) -> Any:
    node.blank()
    node.edges = tuple([(t._edge or t) if isinstance(t, Tensor) and t.requires_grad else None for t in tensors])
    node.nrs = tuple([t._nr if isinstance(t, Tensor) else 0 for t in tensors])
    node.n_out = len(tensors)
    node.out_meta = tuple([(t._array.shape, t._array.dtype) if isinstance(t, Tensor) else None for t in tensors])  # type: ignore[misc]
    outs: list[Any] = []
    for nr, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            outs.append(t)
            continue
        out = new_tensor(t._array)
        out._vc = t._counter()
        out._edge, out._nr, out._rg = node, nr, True
        outs.append(out)
    return outs[0] if len(outs) == 1 else tuple(outs)
