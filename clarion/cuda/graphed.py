"""`make_graphed_callables`: parts of a model whose forward and backward passes are captured, and replayed in one launch each.

A training step that is captured whole (`graph(step)`) needs none of this; it is for models of which a part cannot be captured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import grad as gradients
from ..core import modes
from ..core.function import Function
from ..core.tensor import Tensor, new_tensor
from ..errors import EngineError
from ..nn.modules.module import Module
from ..pytree import tree_flatten, tree_unflatten
from .graphs import CUDAGraph, graph, graph_pool_handle


class _Graphed:
    """One function or module: two graphs, and the memory that they read and write."""

    def __init__(self, function: Callable[..., Any], args: Any, allow_unused: bool) -> None:
        self.function, self.allow_unused = function, allow_unused
        given, self.shape = tree_flatten(tuple(args) if isinstance(args, (tuple, list)) else (args,))
        if not all(isinstance(each, Tensor) for each in given):
            raise EngineError(
                "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
            )
        self.inputs = [_like(each) for each in given]
        parameters = function.parameters() if isinstance(function, Module) else ()
        # What gradients are computed for: arguments first, then parameters.
        self.parameters = [each for each in parameters if each.requires_grad]
        self.wanted = [each for each in [*self.inputs, *self.parameters] if each.requires_grad]
        self.forward, self.backward = CUDAGraph(), CUDAGraph()
        self.results: list[Any] = []
        self.arriving: list[Tensor] = []
        self.gradients: list[Any] = []

    def _run(self) -> list[Any]:
        results, self.result_shape = tree_flatten(self.function(*tree_unflatten(self.inputs, self.shape)))
        return results

    def warm(self, times: int) -> None:
        """Run it some times as it is: kernels are compiled, libraries make their choices."""
        for _ in range(times):
            results = [each for each in self._run() if each.requires_grad]
            if results and self.wanted:
                self._differentiate(results, [_like(each) for each in results])

    def capture_forward(self, pool: Any) -> None:
        """The forward pass, once."""
        with graph(self.forward, pool):
            self.results = self._run()

    def capture_backward(self, pool: Any) -> None:
        """The backward pass of what was captured."""
        results = [each for each in self.results if each.requires_grad]
        self.differentiable = [each.requires_grad for each in self.results]
        if results and self.wanted:
            self.arriving = [_like(each) for each in results]
            with graph(self.backward, pool):
                self.gradients = self._differentiate(results, self.arriving)
        self.results = [new_tensor(each._array) for each in self.results]  # without their history

    def _differentiate(self, results: list[Any], arriving: list[Tensor]) -> list[Any]:
        return list(gradients(results, self.wanted, arriving, allow_unused=self.allow_unused))

    def __call__(self, *args: Any) -> Any:
        given, shape = tree_flatten(args)
        if str(shape) != str(self.shape):
            raise EngineError(f"a graphed callable takes arguments like its sample_args: {self.shape}, not {shape}")
        found = _Replay.apply(self, *given, *self.parameters)
        return tree_unflatten(list(found) if isinstance(found, tuple) else [found], self.result_shape)


def _like(x: Tensor) -> Tensor:
    made = new_tensor(x._array.copy())
    made._rg = x.requires_grad
    return made


def _filled(places: list[Tensor], values: Any) -> None:
    """Bring values to where a graph reads them."""
    with modes.no_grad():
        for place, value in zip(places, values, strict=True):
            if value is not None and place._array.data.ptr != value._array.data.ptr:
                place.copy_(value)  # type: ignore[attr-defined]
            elif value is None:
                place.zero_()  # type: ignore[attr-defined]


class _Replay(Function):
    """The two graphs, as one operation."""

    @staticmethod
    def forward(ctx: Any, graphed: _Graphed, *inputs: Any) -> Any:
        ctx.graphed = graphed
        _filled(graphed.inputs, inputs[: len(graphed.inputs)])
        graphed.forward.replay()
        made = tuple([new_tensor(each._array) for each in graphed.results])
        ctx.mark_non_differentiable(*[out for out, has in zip(made, graphed.differentiable, strict=True) if not has])
        return made if len(made) > 1 else made[0]

    @staticmethod
    def backward(ctx: Any, *arrived: Any) -> Any:
        graphed = ctx.graphed
        _filled(graphed.arriving, [g for g, has in zip(arrived, graphed.differentiable, strict=True) if has])
        graphed.backward.replay()
        found = iter(graphed.gradients)
        every = [*graphed.inputs, *graphed.parameters]
        return None, *[_copied(next(found)) if each.requires_grad else None for each in every]


def _copied(g: Any) -> Any:
    """A gradient in memory of its own: the next replay writes to the graph's."""
    return None if g is None else new_tensor(g._array.copy())


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """Functions or modules that replay their captured forward and backward passes, for arguments like `sample_args`.

    A module is given back itself: while it is in the mode (training or not) of its capture, calls of it replay.
    """
    single = not isinstance(callables, tuple)
    functions = (callables,) if single else callables
    samples = (sample_args,) if single else sample_args
    pool = graph_pool_handle() if pool is None else pool
    made = [_Graphed(function, args, allow_unused_input) for function, args in zip(functions, samples, strict=True)]
    for each in made:
        each.warm(num_warmup_iters)
    # What a forward pass keeps is read by its backward pass, after those of all that come later.
    for each in made:
        each.capture_forward(pool)
    for each in reversed(made):
        each.capture_backward(pool)
    results = tuple([_in_place(each) if isinstance(each.function, Module) else each for each in made])
    return results[0] if single else results


def _in_place(graphed: _Graphed) -> Any:
    module: Any = graphed.function
    training, eager = module.training, module.forward

    def forward(*args: Any) -> Any:
        return graphed(*args) if module.training is training else eager(*args)

    graphed.function = eager
    module.forward = forward
    return module
