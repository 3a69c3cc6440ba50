"""Weights in lower precision: cast once per region, and all together where they are on a GPU.

NOTE [Weights together]: a training step casts the same weights again and again. When a region asks for the first weight that an
earlier region began with, everything that region cast is cast at once: one launch instead of a hundred. In the backward pass
their gradients arrive at the leaves in lower precision, and are widened at its end, together as well (core/engine.py). In the
graph each weight has a node of its own, as in PyTorch.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..core import modes
from ..core.devices import HALVES
from ..core.dtypes import dtype, f32
from ..core.namespace import lifted
from ..core.node import sequence
from ..core.op_node import goes_on
from ..core.provenance import mark
from ..core.recording import announce
from ..core.tensor import Tensor, new_tensor
from ..events import hub
from ..kernels import registry
from ..kernels.narrow import narrow
from ..ops.elementwise.cast import cast, cast_op

_MOST = 64  # beginnings that are remembered


class _Weight(cast_op.node_class):  # type: ignore[misc, valid-type]
    """The node of a weight's cast. Its gradient goes on as it is: the end of the pass brings it to the leaf's type."""

    __slots__ = ()
    _widens = True

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (g if type(g) in HALVES else registry.raw.cast(g, f32),)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        return (lifted.cast(g, f32),)


_Weight.__name__ = _Weight.__qualname__ = cast_op.node_class.__name__


class _Activation(cast_op.node_class):  # type: ignore[misc, valid-type]
    """The node of another tensor's cast. Its gradient goes on as it is where the next kernel takes it so."""

    __slots__ = ()

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (g if goes_on(g, self.edges[0]) else registry.raw.cast(g, f32),)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        return (lifted.cast(g, f32),)


_Activation.__name__ = _Activation.__qualname__ = cast_op.node_class.__name__


def lowered(value: Tensor, kind: Any) -> Any:
    """A float32 tensor of a GPU in lower precision: as the norm that made it has written it, or cast now."""
    if modes.special or value._view is not None or not value._rg or type(value) is not Tensor:
        return cast(value, kind)
    array, counter, made = value._array, value._vc, narrow.made
    if made is not None and made[0] is array and made[1].dtype is kind and (counter is None or not counter.n):
        array = made[1]
    else:
        array = registry.raw.cast(array, kind)
    out, node = new_tensor(array), _Activation()
    node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None
    node.seq = next(sequence)
    mark(node)
    edge, nr = value._edge, value._nr
    node.edges, node.saved = (value if edge is None else edge,), [None, kind, None]
    if nr:
        node.nrs = (nr,)
    out._edge, out._rg = node, True
    if hub.recorded is not None:
        announce(node, (value,), out)
    return out


class Weights:
    """The weights that regions of one thread have cast: those of the open one, and the order of earlier ones."""

    def __init__(self) -> None:
        self._cast: dict[Any, tuple[Tensor, Tensor]] = {}
        self._orders: dict[Any, list[weakref.ref[Tensor]]] = {}
        self.recorded: dict[
            int, tuple[Tensor, dtype, int, Tensor]
        ] = {}  # the same, as they are mostly asked for (state.py)
        self._alone = 0  # casts of this region that were not made together with others

    def lowered(self, weight: Tensor, wanted: dtype) -> Tensor:
        """A leaf in lower precision."""
        recorded = modes.special == 0 or modes.recording()
        counter = weight._vc
        key = id(weight), wanted, 0 if counter is None else counter.n, recorded
        known = self._cast.get(key)
        if known is not None:
            return known[1]
        if modes.special == 0 and type(weight._array) in HALVES:
            order = self._orders.get((id(weight), wanted))
            if order is not None and order[0]() is weight:
                self._together([each for each in [ref() for ref in order] if self._fits(each)], wanted)
                return self._cast[key][1]
        self._alone += 1
        made: Tensor = weight.to(wanted)
        self._cast[key] = weight, made  # the weight is kept: its id stays its own
        return made

    def _fits(self, weight: Any) -> bool:
        return (
            weight is not None
            and weight._rg
            and weight._edge is None
            and weight._view is None
            and weight._array.dtype is f32
            and type(weight._array) in HALVES
        )

    def _together(self, weights: list[Tensor], wanted: dtype) -> None:
        kind = wanted.numpy
        first: Any = None
        for weight, array in zip(weights, registry.raw.cast_all([w._array for w in weights], kind), strict=True):
            out = new_tensor(array)
            node = _Weight()
            if first is None:
                node.blank()
                first = node
            else:
                node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None
                node.seq, node.code, node.lasti = next(sequence), first.code, first.lasti
            node.edges, node.saved = (weight,), [None, kind, None]
            out._edge, out._rg = node, True
            if hub.recorded is not None:
                announce(node, (weight,), out)
            counter = weight._vc
            written = 0 if counter is None else counter.n
            self._cast[id(weight), wanted, written, True] = weight, out
            self.recorded[id(weight)] = weight, wanted, written, out

    def forget(self) -> None:
        """The outermost region ends."""
        if self._alone > 1:
            cast = [(weight, wanted) for (_, wanted, _, recorded), (weight, _) in self._cast.items() if recorded]
            if len(self._orders) >= _MOST:
                self._orders.clear()
            if cast:
                first, kind = cast[0]
                order = [weight for weight, wanted in cast if wanted is kind and self._fits(weight)]
                self._orders[id(first), kind] = [weakref.ref(weight) for weight in order]
        self._alone = 0
        self._cast.clear()
        self.recorded.clear()
        narrow.made = None
