"""Operations that refuse some data types, and gradients that PyTorch does not define."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core.calls import pick_call
from ...core.dtypes import FROM_NUMPY, NUMBERS, broadcast_shapes
from ...core.messages import broadcast_error
from ...core.node import Node
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import EngineError, NotSupportedError, not_a_tensor


class TypedOp(Op):
    """An operation that is not defined on some kinds of numbers.

    refuse     NumPy's letters of the kinds: b(ool), i and u (integers), f(loating), c(omplex)
    complaint  what is raised instead of PyTorch's '"name" not implemented for 'Bool''

    The types are looked at after promotion, off the hot path: float32 and float64 are not asked.
    """

    checks_types = True
    complaint: Exception | None = None
    title = ""
    takes_halves = True
    rounds_early = False  # computed in half precision itself, not in float32 and rounded at the end

    def refusing(self, kinds: str, complaint: str | Exception | None = None, title: str = "") -> TypedOp:
        """Set what is refused, and the words."""
        self.refuse = kinds
        self.complaint = EngineError(complaint) if isinstance(complaint, str) else complaint
        self.title = title or f"{self.name}_cpu"
        if "f" in kinds:
            self.call = pick_call(self)  # (which floats do not pass)
            self.looks_first, self.writes = True, False  # in place, too, the types are looked at
        return self

    def without_halves(self) -> TypedOp:
        """Set that it is not defined on types of two bytes."""
        self.takes_halves = False
        return self

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        """As every operation's, after a look at the types."""
        arrays, half = super().raw_operands(operands)
        dtype = next(a.dtype for a in arrays if a is not None)
        if dtype.kind in self.refuse or not (self.takes_halves or half is None):
            if self.complaint is not None:
                raise type(self.complaint)(*self.complaint.args)
            self._fit(arrays)
            raise NotSupportedError(f"\"{self.title}\" not implemented for '{FROM_NUMPY[half or dtype].old}'")
        if half is not None and self.rounds_early:
            return [None if a is None else a.astype(half) for a in arrays], None
        return arrays, half

    def _fit(self, arrays: list[Any]) -> None:
        """Raise if the shapes do not fit either: PyTorch looks at them first."""
        if self.broadcast:
            shapes = [() if isinstance(a, NUMBERS) else a.shape for a in arrays if a is not None]
            try:
                broadcast_shapes(*shapes)
            except ValueError:
                raise broadcast_error(*shapes) from None


def no_gradient(name: str) -> Callable[[Any], Any]:
    """The rule of an operation that PyTorch knows no derivative of: it says so when one is needed."""

    def rule(g: Any) -> Any:
        raise EngineError(f"derivative for aten::{name} is not implemented")

    return rule


def not_implemented(what: str) -> Callable[[Any], Any]:
    """The rule of an operation (or of an input of it) whose derivative PyTorch lists as missing."""

    def rule(g: Any) -> Any:
        raise NotSupportedError(f"the derivative for '{what}' is not implemented.")

    return rule


def show_edges(op: Op, *positions: int) -> None:
    """PyTorch's node has no edge for a mask or a number: show users the edges of these inputs only."""

    def next_functions(self: Any) -> tuple[Any, ...]:
        edges = super(op.node_class, self).next_functions
        return tuple(edges[i] for i in positions)

    op.node_class.next_functions = property(next_functions)  # type: ignore[assignment]


@functools.cache
def _kind_of_part(name: str) -> type[Node]:
    return type(name, (Node,), {"__slots__": ()})


def part(name: str, *edges: Any) -> tuple[Any, int]:
    """An edge to a node that is only there to be seen; none where nothing behind it wants a gradient."""
    if all(target is None for target, _ in edges):
        return None, 0
    node = _kind_of_part(name)()
    node.blank()
    node.edges, node.nrs = tuple(target for target, _ in edges), tuple(nr for _, nr in edges)
    return node, 0


def show_parts(op: Op, shown: Callable[..., tuple[Any, ...]]) -> None:
    """PyTorch records several nodes where this operation is one: `shown(*edges)` says what users see behind it."""

    def next_functions(self: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] | None = self.__dict__.get("_shown")
        if found is None:
            found = self.__dict__["_shown"] = shown(*super(op.node_class, self).next_functions)
        return found

    op.node_class.next_functions = property(next_functions)  # type: ignore[assignment]


def need_tensors(name: str, *values: Any) -> None:
    """Some functions take tensors only."""
    for position, value in enumerate(values):
        if not isinstance(value, Tensor):
            title = ("input", "other")[position]
            raise not_a_tensor(name, title, value, position + 1)


def one_tensor(name: str, input: Any, other: Any) -> None:
    """At least one of two operands must be a tensor."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        need_tensors(name, input)
