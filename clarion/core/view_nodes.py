"""The nodes of views that were written: what their bases get, and what they get themselves. See NOTE [Rebase] in inplace.py."""

from __future__ import annotations

from typing import Any

from ..kernels import registry
from ..kernels.layout import laid_out, replace
from ..kernels.layout import replay as replay_raw
from .node import FREED, Node, sequence
from .provenance import mark


class AsStridedBackward0(Node):
    """grad_fn of a view after its base was written: puts the gradient into zeros of the base's shape."""

    __slots__ = ("chain", "layout")
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
    node.edges, node.nrs, node.saved = (base,), (nr,) if nr else None, ()
    node.versions = node.out_guard = node.fix = node.hooks = None
    node.chain, node.layout, node.seq = chain, layout, next(sequence)
    mark(node)
    return node


class CopySlices(Node):
    """grad_fn of a base whose view was written: `inner` is the node of the operation on the view."""

    __slots__ = ("chain", "inner", "layout")
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
        inner = self.inner
        op = getattr(inner, "op", None)  # (a custom Function has none)
        if op is None or not op.overwrites:
            grads = inner.apply_raw(part.copy())
        else:
            grads = own = (None, *inner.edges[1:])
            if own.count(None) < len(own):
                grads = inner.apply_raw(part.copy(), own)  # (what an operand gets must not be what is written over)
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
