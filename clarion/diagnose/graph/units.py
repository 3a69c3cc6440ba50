"""Units of activations, seen in the graph of a loss just before its backward pass: which ReLUs follow a layer, and what
comes after them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import engine
from ..engine import Node
from .reach import operation, reachable
from .traits import having

_CONVOLUTIONS = having("convolution")
_LAYERS = having("product attention recurrent")
_NORMS = having("normalizes")
# Between a layer and its activation: shifts and scales, another activation.
_BETWEEN = having("normalizes arithmetic pools activation softmax")
# After a margin or a penalty, on the way to the loss: sums and weights, and nothing that it is compared with.
_SUMMED = having("total extreme norm arithmetic power root", but="difference")
# What an output of a model goes into.
_JUDGES = having("loss difference softmax")
PENALTY, FEATURE, OUTPUT, HIDDEN = range(4)


class Activation(NamedTuple):
    """A ReLU (or the like) that follows a layer."""

    node: Node
    role: int  # what its result is used for, at most: PENALTY, FEATURE, OUTPUT, HIDDEN
    layer: Node
    axis: int  # the dimension of its units
    values: Any  # an array that is positive where a unit fires


def activations(root: Any) -> Iterator[Activation]:
    """The activations behind a root, the youngest first."""
    engine.unfold(root)
    roles: dict[Node, int] = {}
    for node in sorted(reachable([root]), key=lambda node: node.seq):  # the youngest first: consumers before inputs
        role = roles.get(node, PENALTY)
        name = operation(node)
        values = engine.firing(node)
        if values is not None:
            layer = _layer_before(node)
            if layer is not None and _is_trained(layer):
                yield Activation(node, role, layer, _axis(layer, values), values)
        op = engine.op(node)
        if name in _LAYERS or name in _NORMS:
            role = HIDDEN
        elif name in _JUDGES:
            role = max(role, OUTPUT)
        elif name not in _SUMMED and not (op is not None and op.moves):
            role = max(role, FEATURE)
        for edge in node.edges:
            if engine.is_node(edge):
                roles[edge] = max(roles.get(edge, PENALTY), role)


def _layer_before(node: Node) -> Node | None:
    """The layer whose result, shifted or scaled perhaps, an activation gets."""
    stack: list[tuple[Node, int]] = [(edge, 8) for edge in node.edges if engine.is_node(edge)]
    while stack:
        found, hops = stack.pop()
        name = operation(found)
        if name in _LAYERS:
            return found
        op = engine.op(found)
        if hops and (name in _BETWEEN or (op is not None and op.view)):
            stack.extend((edge, hops - 1) for edge in reversed(found.edges) if engine.is_node(edge))
    return None


def _is_trained(layer: Node) -> bool:
    return len(layer.edges) > 1 and layer.edges[1] is not None


def weight_of(layer: Node) -> Any:
    """The layer's own parameter, if it is a leaf."""
    return next((e for e in layer.edges[1:] if engine.is_tensor(e) and len(engine.shape(e)) >= 2), None)


def _axis(layer: Node, values: Any) -> int:
    """Which dimension counts the units: the channels of a convolution, the last one of other layers."""
    usual = 1 if operation(layer) in _CONVOLUTIONS and values.ndim > 2 else values.ndim - 1
    weight = weight_of(layer)
    if weight is not None:
        shape = engine.shape(weight)
        count = shape[0] if operation(layer) in _CONVOLUTIONS or operation(layer).startswith("linear") else shape[-1]
        if values.shape[usual] != count:
            return next((i for i, n in enumerate(values.shape) if i and n == count), usual)
    return usual
