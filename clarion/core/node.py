"""A node of the graph: one recorded operation, its edges to what it was computed from, what it saved."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..errors import ArgumentTypeError
from . import provenance
from .dtypes import FROM_NUMPY, Size
from .hooks import NodeHooks, RemovableHandle

if TYPE_CHECKING:
    from .op import Op
    from .tensor import Tensor

# Later nodes have smaller numbers, so that a heap hands out the latest first.
# `next(sequence)`: the builtin is twice as fast as the bound method.
sequence = itertools.count(0, -1)


# Stands in `node.saved` once the values were released. A list: there is nothing left to free.
FREED: Any = []


_BY_HAND = ("CopyBackwards", "NotImplemented")


class Mixed(tuple[Any, ...]):
    """The `fix` of a node that saved whole numbers or truth values of an operation which computes with them as floating ones.

    Its rules are given them in that type, too: the array library's logarithm of 8 bits would be a half-precision number, and
    the difference of truth values none at all.
    """


class Node:
    """Base of all `grad_fn`s. Operations make a subclass each, named as in PyTorch (`MulBackward0`).

    edges      where gradients go, one per differentiable input: a Node, a leaf Tensor, or None
    nrs        which output of the edge's node the input was; None means all 0
    saved      values the rules name, in the operation's layout (see recording.py)
    versions   of the saved inputs; None means all 0
    out_guard  for a saved output: its version counter, or [(counter, version, array, silent writes), …]
    fix        per input (shape, dtype) to bring the gradient back to, where broadcasting or promotion took part

    There is no `__getattr__` here: it would triple the time of every attribute that the engine reads.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "code",
        "edges",
        "fix",
        "hooks",
        "lasti",
        "nrs",
        "out_guard",
        "saved",
        "seq",
        "versions",
    )

    op: ClassVar[Op]
    n_out = 1
    onto = False  # can its rule add to the gradient that has arrived for the first input?
    _widens = False  # does it hand its gradient on as it is, to be brought to float32 at the end of the pass?
    edges: tuple[Any, ...]
    nrs: tuple[int, ...] | None
    saved: Any
    versions: tuple[Any, ...] | None
    out_guard: Any
    fix: tuple[Any, ...] | None
    seq: int
    code: Any
    lasti: int
    hooks: NodeHooks | None

    # Shapes and dtypes of the outputs, kept where the engine may have to make zeros for them.
    out_meta: tuple[tuple[tuple[int, ...], Any], ...] | None = None
    needs: tuple[bool, ...] | None = None
    # The CopySlices that runs this node, if it wrote to a view.
    run_by: Callable[[], Any] | None = None
    # Does it run though no gradient has reached it, and do those behind it where it returns None? (NOTE [Undefined gradients])
    hands_on_nothing: ClassVar[bool] = False
    # In which order leaves with hooks get their gradients, where PyTorch's is not that of the edges.
    leaf_order: ClassVar[tuple[int, ...] | None] = None

    def blank(self) -> None:
        """Set every slot to its empty value (for nodes made off the hot path)."""
        self.edges = ()
        self.nrs = None
        self.saved = ()
        self.versions = None
        self.out_guard = None
        self.fix = None
        self.seq = next(sequence)
        provenance.mark(self)
        self.hooks = None

    @property
    def place(self) -> provenance.Place | None:
        """The user's line that made the node (see provenance.py)."""
        return None if self.code is None else (self.code, self.lasti)

    @place.setter
    def place(self, place: provenance.Place | None) -> None:
        self.code, self.lasti = place if place is not None else (None, 0)

    # What the engine calls -----------------------------------------------------------------------

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        """Gradients of the inputs on raw arrays."""
        raise NotImplementedError

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        """Gradients of the inputs on Tensors, recorded (create_graph)."""
        raise NotImplementedError

    def release(self) -> None:
        """Let go of saved values, so that a second walk says so. The engine does this itself where `saved` is a tuple."""

    # What users see ------------------------------------------------------------------------------

    def name(self) -> str:
        """The node's name, as in PyTorch: those that it writes by hand have its namespace before them."""
        own = type(self).__name__
        return f"torch::autograd::{own}" if own in _BY_HAND else own

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The edges: ((node, output number), ...)."""
        nrs = self.nrs or (0,) * len(self.edges)
        return tuple((as_node(target), nr) for target, nr in zip(self.edges, nrs, strict=True))

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for whatever the user wants to attach."""
        found: dict[str, Any] = self.__dict__.setdefault("_metadata", {})
        return found

    @property
    def requires_grad(self) -> bool:
        """Always True: what needs no gradient has no node."""
        return True

    def _sequence_nr(self) -> int:
        return -self.seq

    @property
    def _input_metadata(self) -> tuple[Any, ...]:
        return tuple([InputMetadata(*meta) for meta in self.out_meta or ()])

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node has run; it may return new grad_inputs."""
        return self._hooks().add(self._hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs; it may return new grad_outputs."""
        return self._hooks().add(self._hooks().pre, fn)

    def __call__(self, *grads: Any) -> Any:
        """Gradients of the inputs for given gradients of the outputs: one Tensor, or a tuple of them."""
        from .tensor import Tensor

        for given in grads:
            if given is not None and not isinstance(given, Tensor):
                raise ArgumentTypeError(f"expected Tensor or None, but got {type(given).__name__}")
        if len(grads) != self.n_out:
            raise ArgumentTypeError(
                f"expected {self.n_out} arguments, got {len(grads)} instead\n"
                f"{self.name()} takes one gradient for each of its outputs."
            )
        op = getattr(type(self), "op", None)
        if self.n_out > 1 and op is not None and not op.multi_view and len(op.grad_outputs) == 1:
            grads = (grads[op.grad_outputs[0]],)
        results = tuple(self.apply_tensors(grads[0] if len(grads) == 1 else grads))
        return results[0] if len(results) == 1 else results

    def _hooks(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def as_node(target: Any) -> Any:
    """The node behind an edge: a leaf Tensor shows itself as AccumulateGrad."""
    if target is None or isinstance(target, Node):
        return target
    return accumulator(target)


class InputMetadata:
    """Shape and type of a gradient that a node takes: those of its output."""

    is_tensor_subclass = is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = Size(shape), FROM_NUMPY[dtype]


class AccumulateGrad(Node):
    """Where gradients of a leaf end. Inside the engine the leaf itself is the edge; users see this.

    The leaf keeps only a weak reference to it, as long as somebody looks: no cycle.
    """

    variable: Tensor

    def __init__(self, variable: Tensor) -> None:
        self.blank()
        self.variable = variable

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return 2**64 - 1

    def __call__(self, *grads: Any) -> Any:
        """Add a gradient to the leaf's, as a backward pass that ends here would."""
        from .backward import backward

        if len(grads) != 1:
            raise ArgumentTypeError(f"expected 1 arguments, got {len(grads)} instead")
        backward((self.variable,), grads, inputs=(self.variable,))
        return ()

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        return self._leaf_hooks().add(self._leaf_hooks().post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        return self._leaf_hooks().add(self._leaf_hooks().pre, fn)

    def _leaf_hooks(self) -> NodeHooks:
        if self.variable._hooks is None:
            self.variable._hooks = NodeHooks(leaf=True)
        return self.variable._hooks


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The AccumulateGrad node of a leaf: the same one as long as it is referenced."""
    import weakref

    known = leaf.__dict__.get("_accumulator")
    node: AccumulateGrad | None = known() if known is not None else None
    if node is None:
        node = AccumulateGrad(leaf)
        leaf.__dict__["_accumulator"] = weakref.ref(node)
    return node


class GradientEdge(NamedTuple):
    """An edge of the graph: a node and the number of its output. Accepted where a tensor is, by grad and backward."""

    node: Node
    output_nr: int
    ownership_token: Any = None
