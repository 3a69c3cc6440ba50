"""What every transform of a function does: run it on inputs of its own, and give back what belongs to the caller.

NOTE [Inside and outside]: a transform differentiates with respect to *its* inputs, whatever the caller does with them. Inputs
that the caller records are joined to the caller's graph by an alias; others become leaves that only the transform knows.
What is computed then requires a gradient because of these leaves; for the caller it does only if something else lies
behind it, too. So results are looked at before they are given back, and the caller's graph is built (`create_graph`) only
where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import modes
from ..core.backward import gradients
from ..core.batching import shared
from ..core.namespace import lifted
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.batched.levels import open_levels
from ..ops.faces.api import FUNCTIONS
from ..pytree import TreeSpec, tree_flatten, tree_leaves, tree_map, tree_unflatten
from .captured import guarded

Argnums = int | tuple[int, ...]


_NO_HOOKS = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."


class Level:
    """One call of a transformed function: its inputs, and what of the results is the caller's."""

    def __init__(self) -> None:
        self.recorded = modes.recording()  # does the caller record?
        self.own: set[int] = set()  # ids of leaves that are only known here
        self._alive: list[Tensor] = []

    def input(self, value: Any) -> Tensor:
        """An input to be differentiated with respect to."""
        if not isinstance(value, Tensor):
            raise ArgumentValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        levels = open_levels.levels  # inside `vmap`, what all samples share has a gradient for each of them
        if self.recorded and value.requires_grad:
            return lifted.alias(shared(value, levels) if levels else value)  # type: ignore[no-any-return]
        alone: Any = value.clone() if value.is_inference() else value.detach()  # type: ignore[attr-defined]
        return self.leaf(shared(alone, levels) if levels else alone)

    def leaf(self, tensor: Any) -> Tensor:
        """Begin to record a tensor, for this call alone."""
        tensor._requiring()
        self.own.add(id(tensor))
        self._alive.append(tensor)
        return tensor  # type: ignore[no-any-return]

    def is_callers(self, tensors: Sequence[Tensor]) -> bool:
        """Does something of the caller's lie behind one of them?"""
        if not self.recorded:
            return False
        stack: list[Any] = [t if t._edge is None else t._edge for t in tensors if t.requires_grad]
        seen: set[Any] = set()
        while stack:
            node = stack.pop()
            if isinstance(node, Tensor):
                if id(node) not in self.own:
                    return True
            elif id(node) not in seen:
                seen.add(id(node))
                stack += [edge for edge in node.edges if edge is not None]
        return False

    def result(self, tree: Any) -> Any:
        """A result for the caller: without history, unless the history is the caller's."""

        def given_back(value: Any) -> Any:
            if not isinstance(value, Tensor) or not value.requires_grad:
                return value
            return value if self.is_callers([value]) else value.detach()  # type: ignore[attr-defined]

        return tree_map(given_back, tree)


def run(
    what: str, level: Level, func: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None, has_aux: bool,
    kwargs: dict[str, Any] | None = None, forwards: bool = False,
) -> tuple[list[Tensor], Any, Any, Any]:  # fmt: skip
    """Run the function on inputs of this level: (inputs, tree of all inputs, outputs, aux).

    `forwards`: for tangents, which the function may write to its inputs for, and which no_grad inside it does not end.
    """
    state = modes.state
    if not forwards and state.saved_hooks:
        raise EngineError(_NO_HOOKS)
    before = state.tangents, state.saved_hooks_disabled
    state.tangents = forwards
    if not forwards:
        state.saved_hooks_disabled = _NO_HOOKS
    state.transforms += 1
    try:
        with guarded(func, args, tuple((kwargs or {}).values())):
            return _run(what, level, func, args, argnums, has_aux, kwargs, forwards)
    finally:
        state.tangents, state.saved_hooks_disabled = before
        state.transforms -= 1


def _run(
    what: str, level: Level, func: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None, has_aux: bool,
    kwargs: dict[str, Any] | None, forwards: bool,
) -> tuple[list[Tensor], Any, Any, Any]:  # fmt: skip
    with modes.inference_mode(False):  # a transform records, wherever it is called
        chosen = args if argnums is None else take(args, argnums)
        values, spec = tree_flatten(chosen)
        inputs = [level.input(value) for value in values]
        changed = tree_unflatten([_writable(x) for x in inputs] if forwards else inputs, spec)
        output = func(*(changed if argnums is None else put(args, changed, argnums)), **(kwargs or {}))
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise EngineError(f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True")
            output, aux = output
            for each in tree_leaves(aux):
                if not isinstance(each, Tensor):
                    raise EngineError(f"Expected tensors, got unsupported type {type(each)}")
    return inputs, spec, output, aux


def _writable(x: Tensor) -> Tensor:
    """The same memory, as the result of an operation: what is written to it is recorded."""
    out: Tensor = lifted.alias(x)
    out._view = None
    return out


def take(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """The arguments that are meant."""
    if not isinstance(argnums, (int, tuple)):
        raise EngineError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        return args[_position(argnums, len(args))]
    places = [_position(each, len(args)) for each in argnums]
    if not places:
        raise EngineError("argnums must be non-empty")
    if len(set(places)) != len(places):
        raise EngineError(f"argnums elements must be unique, got {tuple(places)}")
    return tuple(args[i] for i in places)


def put(args: tuple[Any, ...], changed: Any, argnums: Argnums) -> tuple[Any, ...]:
    """All arguments, the meant ones replaced."""
    result = list(args)
    for place, value in [(argnums, changed)] if isinstance(argnums, int) else zip(argnums, changed, strict=True):
        result[place] = value
    return tuple(result)


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise EngineError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise EngineError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def tensors_of(what: str, output: Any) -> tuple[list[Tensor], TreeSpec]:
    """The outputs of a function, which must be tensors."""
    outputs, spec = tree_flatten(output)
    if not outputs or outputs == [None]:
        raise EngineError(f"{what}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for each in outputs:
        if not isinstance(each, Tensor):
            raise EngineError(f"{what}: expected f(*primals) to return only tensors, got unsupported type {type(each)}")
    return outputs, spec


def zero_like(tensor: Any) -> Tensor:
    """Zeros, for a derivative that is not there."""
    return FUNCTIONS["zeros_like"](tensor.detach())  # type: ignore[no-any-return]


def derivatives(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Any], create_graph: bool, retain: bool = True
) -> list[Tensor | None]:
    """Gradients with None where nothing is connected."""
    pairs = [(out, vector) for out, vector in zip(outputs, vectors, strict=True) if out.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    outs, seeds = zip(*pairs, strict=True)
    return list(gradients(outs, tuple(inputs), seeds, retain or create_graph, create_graph, allow_unused=True))
