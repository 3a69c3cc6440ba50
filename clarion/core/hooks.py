"""Hooks: on tensors, on nodes, after accumulation, and on several tensors at once."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ArgumentTypeError, EngineError

Hook = Callable[..., Any]

_next_id = itertools.count().__next__

# How many hooks sit on leaves. While there are none, the moment in which a leaf's gradient is
# accumulated cannot be observed, and the engine takes the cheap way (see engine.py).
leaf_hook_count = 0


class RemovableHandle:
    """Returned by every `register_*`: `remove()` takes the hook off; doing it twice is fine. A context manager too."""

    def __init__(self, hooks: dict[int, Hook], *, on_leaf: bool = False, marks: Sequence[dict[int, Any]] = ()) -> None:
        self.id = _next_id()
        self._marks = marks  # tables that say more of the hook, and forget it with it
        self._hooks = weakref.ref(hooks) if isinstance(hooks, HookDict) else (lambda: hooks)
        self._on_leaf = on_leaf

    @property
    def hooks_dict_ref(self) -> Callable[[], Any]:
        """A reference to the table that the hook stands in: call it."""
        return self._hooks

    def remove(self) -> None:
        """Take the hook off."""
        global leaf_hook_count
        hooks = self._hooks()
        if hooks is not None and hooks.pop(self.id, None) is not None and self._on_leaf:
            leaf_hook_count -= 1
        for mark in self._marks:
            mark.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __getstate__(self) -> Any:
        return (self._hooks(), self.id)

    def __setstate__(self, state: Any) -> None:
        hooks, self.id = state
        self._on_leaf, self._marks = False, ()
        kept = hooks if hooks is not None else HookDict()
        self._hooks = lambda: kept


class HookDict(dict[int, Hook]):
    """id -> hook, in order of registration (a dict that can be referenced weakly)."""

    __slots__ = ("__weakref__",)


class NodeHooks:
    """All hooks of one node (or of one leaf, which is where its AccumulateGrad keeps them)."""

    __slots__ = ("leaf", "post", "post_accumulate", "pre", "retain", "tensor")

    def __init__(self, leaf: bool = False) -> None:
        self.leaf = leaf
        self.tensor: dict[int, HookDict] = {}  # output number -> hooks of that output tensor
        self.retain: dict[int, weakref.ref[Any]] = {}  # output number -> tensor that keeps its gradient
        self.pre = HookDict()
        self.post = HookDict()
        self.post_accumulate = HookDict()

    def __del__(self) -> None:
        global leaf_hook_count
        if self.leaf:  # a leaf that dies takes its hooks along
            leaf_hook_count -= len(self.pre) + len(self.post) + len(self.post_accumulate)
            leaf_hook_count -= sum(len(hooks) for hooks in self.tensor.values())

    def of_output(self, nr: int) -> HookDict:
        """Tensor hooks of output `nr`."""
        return self.tensor.setdefault(nr, HookDict())

    def add(self, where: HookDict, hook: Hook) -> RemovableHandle:
        """Register a hook; the handle removes it."""
        global leaf_hook_count
        handle = RemovableHandle(where, on_leaf=self.leaf)
        where[handle.id] = hook
        if self.leaf:
            leaf_hook_count += 1
        return handle


def run_tensor_hooks(hooks: HookDict, grad: Any) -> Any:
    """Pass a gradient (a Tensor) through the hooks of its tensor; each sees what the one before returned."""
    for hook in tuple(hooks.values()):
        result = hook(grad)
        if result is not None:
            check_replacement(hook, grad, result)
            grad = result
    return grad


def check_replacement(hook: Hook, grad: Any, result: Any) -> None:
    """A hook may change a gradient's values, not its kind."""
    from .tensor import Tensor

    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(result, Tensor):
        raise ArgumentTypeError(
            f"expected Variable, but hook returned '{type(result).__name__}'\n"
            f"The hook '{name}' must return a Tensor of the gradient's shape, or None to leave it as it is."
        )
    if grad is None:
        raise EngineError(f"can't replace a None gradient with a non-None value (hook '{name}')")
    if result._array.shape != grad._array.shape:
        raise EngineError(
            f"hook '{name}' has changed the size of value\n"
            f"It was given a gradient of shape {list(grad._array.shape)} and returned {list(result._array.shape)}."
        )
    if result._array.dtype != grad._array.dtype:
        was, got = grad.type(), result.type()
        raise EngineError(f"hook '{name}' has changed the type of value (was {was} got {got})")
