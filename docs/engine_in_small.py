"""The engine in small: the ideas of clarion's core, without its hot paths. `python docs/engine_in_small.py` runs it.

Six ideas, in the order in which you meet them below:

1. An operation is a kernel on raw arrays and, for each input, a rule for its gradient.
2. What a rule *names* is what is saved: memory follows from the text of the rules.
3. A recorded call is a node. Edges go from results to inputs only, so a graph is freed when its result is.
4. Rules run in two worlds: on arrays, or on Tensors, where the same text records its own derivative.
5. The backward pass is a heap on the order of birth: the youngest node first, so its gradient is complete.
6. Every node knows the line of the program that made it.

In clarion: core/op.py (1, 2), core/recording.py and core/node.py (3), core/rules.py (4), core/engine.py (5),
core/provenance.py (6).
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

recording = True
birth = itertools.count()
OPS: dict[str, Op] = {}
raw = SimpleNamespace()  # what rules see as `ops` in the world of arrays: the kernels, by name
lifted = SimpleNamespace()  # … and in the world of Tensors: the operations


class Tensor:
    """An array, whether it wants a gradient, and the node that made it (None: it is a leaf)."""

    def __init__(self, array: Any, requires_grad: bool = False, node: Node | None = None) -> None:
        self.array = np.asarray(array, float)
        self.requires_grad = requires_grad or node is not None
        self.node, self.grad = node, None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def backward(self) -> None:
        """Add the gradient of this one number to `.grad` of every leaf it was computed from."""
        for leaf, g in backward_pass(self).items():
            leaf.grad = g if leaf.grad is None else leaf.grad + g

    def __repr__(self) -> str:
        return f"Tensor({self.array}{f', made by {self.node.op.name} at {self.node.place}' if self.node else ''})"


class Node:
    """A recorded call: edges to what it was computed from, what its rules will ask for, and the line that made it."""

    def __init__(self, op: Op, edges: list[Any], saved: dict[str, Any], shapes: list[tuple[int, ...]]) -> None:
        self.op, self.edges, self.saved, self.shapes = op, edges, saved, shapes
        self.number = next(birth)
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == __file__ and frame.f_code.co_name != "main":
            frame = frame.f_back
        self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"

    def gradient_of(self, name: str, g: Any, ops: Any) -> Any:
        """The gradient of one input. Saved inputs are Tensors; in the world of arrays their arrays are enough."""
        if self.saved is None:
            raise RuntimeError(f"backward a second time: what {self.op.name} saved at {self.place} has been freed")
        values: dict[str, Any] = {"ops": ops}
        for key, value in self.saved.items():
            if ops is raw:
                values[key] = value.array if isinstance(value, Tensor) else value
            else:  # an output is saved as its array: holding the Tensor would close a cycle. It gets its history back
                values[key] = Tensor(value, node=self) if key == "out" else value
        return self.op.rules[name](g, *[values[key] for key in self.op.named[name]])


class Op:
    """One operation: `Op("mul", "x y", kernel).vjp(x=lambda g, y: g * y, …)`; parameters come after the inputs."""

    def __init__(self, name: str, inputs: str, kernel: Callable[..., Any], params: str = "") -> None:
        self.name, self.inputs, self.params, self.kernel = name, inputs.split(), params.split(), kernel
        OPS[name] = self
        setattr(raw, name, kernel)
        setattr(lifted, name, self)

    def vjp(self, **rules: Callable[..., Any]) -> Op:
        """Declare the rules. The names of a rule's arguments, after the gradient, are read once, here."""
        self.rules = rules
        self.named = {name: rule.__code__.co_varnames[1 : rule.__code__.co_argcount] for name, rule in rules.items()}
        return self

    def __call__(self, *args: Any) -> Tensor:
        inputs = [a if isinstance(a, Tensor) else Tensor(a) for a in args[: len(self.inputs)]]
        params = args[len(self.inputs) :]
        out = Tensor(self.kernel(*[t.array for t in inputs], *params))
        if recording and any(t.requires_grad for t in inputs):
            known = (
                dict(zip(self.inputs, inputs, strict=True))
                | dict(zip(self.params, params, strict=True))
                | {"out": out.array}
            )
            known |= {f"{name}_shape": t.shape for name, t in zip(self.inputs, inputs, strict=True)}
            wanted = [name for name, t in zip(self.inputs, inputs, strict=True) if t.requires_grad]
            saved = {key: known[key] for name in wanted for key in self.named[name] if key != "ops"}
            edges = [t.node or t if t.requires_grad else None for t in inputs]
            out.node = Node(self, edges, saved, [t.shape for t in inputs])
            out.requires_grad = True
        return out


def backward_pass(root: Tensor, create_graph: bool = False) -> dict[Any, Any]:
    """The gradients of one number by all leaves. With `create_graph` they are recorded, to be differentiated again."""
    ops = lifted if create_graph else raw
    start = root.node or root
    grads: dict[Any, Any] = {start: Tensor(np.ones(root.shape)) if create_graph else np.ones(root.shape)}
    heap = [(-start.number, start)] if isinstance(start, Node) else []
    while heap:
        _, node = heapq.heappop(heap)  # the youngest: all that was computed from it has run already
        g = grads.pop(node)
        for edge, name, shape in zip(node.edges, node.op.inputs, node.shapes, strict=True):
            if edge is None:
                continue
            part = node.gradient_of(name, g, ops)
            part = part if part.shape == shape else ops.sum_to(part, shape)  # broadcasting is undone once, here
            if edge in grads:
                grads[edge] = grads[edge] + part
            else:
                grads[edge] = part
                if isinstance(edge, Node):
                    heapq.heappush(heap, (-edge.number, edge))
        if not create_graph:
            node.saved = None  # what is done is freed
    return grads


def grad(root: Tensor, leaves: list[Tensor], create_graph: bool = False) -> list[Any]:
    """The gradients of one number by some leaves."""
    found = backward_pass(root, create_graph)
    return [found[leaf] for leaf in leaves]


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Nothing is recorded inside."""
    global recording
    before, recording = recording, False
    try:
        yield
    finally:
        recording = before


# Operations: one block each ---------------------------------------------------------------------------------


def _sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    x = x.sum(tuple(range(x.ndim - len(shape))))
    return x.sum(tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


add = Op("add", "x y", np.add).vjp(x=lambda g: g, y=lambda g: g)
sub = Op("sub", "x y", np.subtract).vjp(x=lambda g: g, y=lambda g: -g)
neg = Op("neg", "x", np.negative).vjp(x=lambda g: -g)
mul = Op("mul", "x y", np.multiply).vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
exp = Op("exp", "x", np.exp).vjp(x=lambda g, out: g * out)
log = Op("log", "x", np.log).vjp(x=lambda g, x, ops: g * ops.exp(-ops.log(x)))
tanh = Op("tanh", "x", np.tanh).vjp(x=lambda g, out: g * (1 - out * out))
t = Op("t", "x", np.transpose).vjp(x=lambda g, ops: ops.t(g))
mm = Op("mm", "x y", np.matmul).vjp(x=lambda g, y, ops: ops.mm(g, ops.t(y)), y=lambda g, x, ops: ops.mm(ops.t(x), g))
sum_all = Op("sum_all", "x", np.sum).vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape))
expand = Op("expand", "x", np.broadcast_to, "shape").vjp(x=lambda g, x_shape, ops: ops.sum_to(g, x_shape))
sum_to = Op("sum_to", "x", _sum_to, "shape").vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape))

for _name, _op in {"add": add, "sub": sub, "mul": mul, "matmul": mm}.items():
    setattr(Tensor, f"__{_name}__", lambda x, y, op=_op: op(x, y))
    setattr(Tensor, f"__r{_name}__", lambda x, y, op=_op: op(y, x))
Tensor.__neg__ = lambda x: neg(x)  # type: ignore[attr-defined]
Tensor.__array_ufunc__ = None  # type: ignore[attr-defined]  # NumPy leaves `array * tensor` to us


def main() -> None:
    """A line through noisy points, by gradient descent, and a second derivative."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((32, 3))
    y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.3
    w, b = Tensor(np.zeros((3, 1)), True), Tensor(np.zeros(1), True)
    for step in range(101):
        error = x @ w + b - y
        loss = sum_all(error * error) * (1 / len(x))
        if step % 25 == 0:
            print(f"step {step:3}  loss {loss.array:.6f}")
        loss.backward()
        for parameter in (w, b):
            parameter.array = parameter.array - 0.1 * parameter.grad
            parameter.grad = None
    print("w", w.array.ravel().round(3), "b", b.array.round(3))
    z = Tensor(0.5, True)
    (first,) = grad(tanh(z), [z], create_graph=True)
    (second,) = grad(first, [z])
    print(f"tanh'(0.5) = {first.array:.6f}, tanh''(0.5) = {second:.6f}")
    print(tanh(z))


if __name__ == "__main__":
    main()
