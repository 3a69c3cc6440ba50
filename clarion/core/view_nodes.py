"""The nodes of views that were written: what their bases get, and what they get themselves. See NOTE [Rebase] in inplace.py."""

from __future__ import annotations

from typing import Any

from ..kernels import registry
from ..kernels.layout import laid_out, replace
from ..kernels.layout import replay as replay_raw
from .node import FREED, Node


class AsStridedBackward0(Node):
    """grad_fn of a view after its base was written: puts the gradient into zeros of the base's shape."""

    chain: tuple[Any, ...]
    layout: tuple[Any, ...]

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (registry.raw.view_put(g, self.chain, self.layout),)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        from .namespace import lifted

        return (lifted.view_put(g, self.chain, self.layout),)


def taken_from(base: Any, nr: int, chain: tuple[Any, ...], layout: tuple[Any, ...]) -> AsStridedBackward0:
    """The node of a view of what `base` made."""
    node = AsStridedBackward0()
    node.blank()
    node.edges, node.nrs = (base,), (nr,) if nr else None
    node.chain, node.layout = chain, layout
    return node


class CopySlices(Node):
    """grad_fn of a base whose view was written: `inner` is the node of the operation on the view."""

    inner: Node
    chain: tuple[Any, ...]
    layout: tuple[Any, ...]

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def view(self) -> Node:
        """The node of the view as it was written: what `inner` has saved of its result belongs there, for only this node runs it."""
        return taken_from(self, 0, self.chain, self.layout)

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        whole = laid_out(g, self.layout)
        part = replay_raw(self.chain, whole)
        grads = self.inner.apply_raw(part.copy())
        replace(self.chain, whole, part, 0 if grads[0] is None else grads[0])
        return (whole, *grads[1:])

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        from .namespace import lifted

        grads = self.inner.apply_tensors(lifted.view_take(g, self.chain, self.layout))
        if grads[0] is None:
            return (lifted.view_clear(g, self.chain, self.layout), *grads[1:])
        return (lifted.view_scatter(g, grads[0], self.chain, self.layout), *grads[1:])

    def release(self) -> None:
        if type(self.inner.saved) is tuple and self.inner.saved:
            self.inner.saved = FREED
        else:
            self.inner.release()
