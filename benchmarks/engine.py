"""The engine's own overhead: operations so small that hardly anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import workload


def _small(t: Any) -> tuple[Any, Any]:
    t.manual_seed(0)
    return t.rand(8, 8, requires_grad=True), t.rand(8, 8, requires_grad=True)


@workload
def chain_forward(t: Any) -> Callable[[], object]:
    """100 small operations, recorded: scalars, two tensors, functions."""
    x, w = _small(t)

    def step() -> object:
        z = x
        for _ in range(20):
            z = (z * 0.9 + w).tanh() * w - 0.1
        return z

    return step


@workload
def chain_forward_backward(t: Any) -> Callable[[], object]:
    """The same 100 operations, and back."""
    forward = chain_forward(t)

    def step() -> object:
        forward().sum().backward()  # type: ignore[attr-defined]

    return step


@workload
def chain_no_grad(t: Any) -> Callable[[], object]:
    """The same 100 operations with recording off."""
    forward = chain_forward(t)

    def step() -> object:
        with t.no_grad():
            return forward()

    return step


@workload
def product_chain(t: Any) -> Callable[[], object]:
    """100 products of two tensors that both require gradients, and back."""
    x, w = _small(t)

    def step() -> object:
        z = x
        for _ in range(100):
            z = z * w
        z.sum().backward()

    return step


@workload
def one_product(t: Any) -> Callable[[], object]:
    """(a * b).sum().backward(): what a single backward pass costs."""
    a, b = _small(t)
    return lambda: (a * b).sum().backward()


@workload
def views_and_writes(t: Any) -> Callable[[], object]:
    """Views, and writes in place through them."""
    x, w = _small(t)

    def step() -> object:
        y = x * 1.0
        for i in range(8):
            y[i] = w[i] * 0.9
            y[:, i].mul_(0.5)
        y.sum().backward()

    return step


@workload
def double_backward(t: Any) -> Callable[[], object]:
    """A gradient of a gradient."""
    x, w = _small(t)

    def step() -> object:
        y = (x * w).tanh().sum()
        (g,) = t.autograd.grad(y, x, create_graph=True)
        (g * g).sum().backward()

    return step


@workload
def custom_function(t: Any) -> Callable[[], object]:
    """A custom Function, ten times."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x, _ = _small(t)

    def step() -> object:
        z = x
        for _ in range(10):
            z = Square.apply(z)
        z.sum().backward()

    return step


@workload
def seeds_training_loop(t: Any) -> Callable[[], object]:
    """The training loop everybody writes: Linear, MSELoss, clipping, SGD; one step."""
    t.manual_seed(0)
    model = t.nn.Linear(10, 1)
    optimizer = t.optim.SGD(model.parameters(), lr=0.01)
    criterion = t.nn.MSELoss()
    inputs, targets = t.randn(32, 10), t.randn(32, 1)
    history: list[float] = []

    def step() -> object:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        history.append(loss.item())
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()

    return step
