"""`torch.autograd.graph`: nodes, edges, hooks on saved tensors and on several gradients."""

from __future__ import annotations

import abc
import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import inplace as _inplace
from ..core import modes, passes
from ..core.delayed import DelayedError, UndefinedGrad
from ..core.hooks import RemovableHandle as RemovableHandle
from ..core.node import GradientEdge as GradientEdge
from ..core.node import Node as _Node
from ..core.node import accumulator
from ..core.saved import Hooks
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentTypeError, EngineError
from ..events import subscribe
from ..forks import fork_safe
from ..kernels.layout import memory_root

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class Node(abc.ABC):
    """What every `grad_fn` is an instance of, though none inherits from it."""

    @abc.abstractmethod
    def name(self) -> str:
        """The name of its class."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Where its gradients go."""

    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """What programs keep with it."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """When it was made."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> list[Any]:
        """What arrives at it."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Hooks of a tensor that came before the node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """`fn(grad_inputs, grad_outputs)` after it has run."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """`fn(grad_outputs)` before it runs."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return True if cls is Node and issubclass(subclass, _Node | DelayedError | UndefinedGrad) else NotImplemented


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which gradients of `tensor` arrive; stands for it in grad() and backward()."""
    if not tensor.requires_grad:
        raise EngineError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        return GradientEdge(accumulator(tensor), 0)
    return GradientEdge(node, tensor.output_nr, node)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Tell the engine that `tensor` was written by other means."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _inplace.wrote(each)


class saved_tensors_hooks:
    """Values saved for backward go through `pack_hook(tensor)`; `unpack_hook(packed)` must bring the tensor back."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if not (callable(self.pack_hook) and callable(self.unpack_hook)):
            raise ArgumentTypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument types are "
                "supported:\n    1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None"
            )
        modes.push_saved_hooks(Hooks(self.pack_hook, self.unpack_hook))

    def __exit__(self, *_: Any) -> None:
        modes.set_saved_hooks(modes.state.saved_hooks[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Keep values saved for backward in main memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            return tensor.device, tensor.detach().clone()

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Refuse saved-tensor hooks within, with `error_message`. A context manager and decorator."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        if modes.state.saved_hooks:
            raise EngineError(self.error_message)
        self._before = modes.state.saved_hooks_disabled
        modes.state.saved_hooks_disabled = self.error_message

    def __exit__(self, *_: Any) -> None:
        modes.state.saved_hooks_disabled = self._before

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return modes.decorate(lambda: type(self)(self.error_message), fn)


class _MultiHandle(RemovableHandle):
    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.tid_to_weakhandle = tuple(handles)

    def remove(self) -> None:
        for handle in self.tid_to_weakhandle:
            handle.remove()

    def __getstate__(self) -> Any:
        return self.tid_to_weakhandle

    def __setstate__(self, state: Any) -> None:
        self.tid_to_weakhandle = state


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` when the gradients of all tensors are known (`mode="any"`: of the first one), once per backward."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return _register_any(tensors, fn)
    count: dict[int, int] = {}
    buffer: dict[int, list[Tensor | None]] = {}
    expected: dict[int, int] = {}
    lock = fork_safe(threading.Lock())
    # Weak: the hooks hang on these very nodes and leaves.
    targets = [weakref.ref(tensor.grad_fn or tensor) for tensor in tensors]

    def hook_of(i: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            run = passes.current_run()
            with lock:
                if run not in count:
                    count[run] = 0
                    buffer[run] = [None] * n
                    expected[run] = sum(passes.will_reach(target()) for target in targets)
                count[run] += 1
                buffer[run][i] = grad
                if count[run] < expected[run]:
                    return
                grads = buffer.pop(run)
                del count[run], expected[run]
            fn(grads)

        return hook

    n = len(tensors)
    handles = [tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors)]
    del tensors
    return _MultiHandle(handles)


def _register_any(tensors: Sequence[Tensor], fn: Callable[..., None]) -> RemovableHandle:
    lock = fork_safe(threading.Lock())
    seen: dict[int, bool] = {}

    def hook(grad: Tensor) -> None:
        run = passes.current_run()
        with lock:
            if seen.get(run):
                return
            seen.clear()
            seen[run] = True
        fn(grad)

    return _MultiHandle([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])


# Mutation of saved tensors -------------------------------------------------------------------------


class _Handle:
    """Stands in the graph for a saved tensor that may be cloned before it is overwritten."""

    __slots__ = ("__weakref__",)


class _Guarded:
    """What `allow_mutation_on_saved_tensors` keeps: saved tensors, and clones of those that were written to."""

    def __init__(self) -> None:
        self.original: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int, int], _Handle] = (
            weakref.WeakValueDictionary()
        )
        self.sid_to_tid: dict[int, set[tuple[int, int, int]]] = {}

    def pack(self, tensor: Tensor) -> _Handle:
        """One handle per tensor and version."""
        key = (id(tensor), tensor.data_ptr(), tensor._version)
        self.sid_to_tid.setdefault(_memory(tensor), set()).add(key)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """The value as it was saved."""
        if not _mutation_allowed or (handle not in self.original and handle not in self.cloned):
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        found = self.cloned.get(handle)
        return found if found is not None else self.original[handle]

    def before_write(self, tensor: Tensor) -> None:
        """Clone everything saved that lives in the memory about to be written."""
        for key in self.sid_to_tid.get(_memory(tensor), ()):
            handle = self.tid_to_weakhandle.get(key)
            if handle is None or handle in self.cloned:
                continue
            saved = self.original.pop(handle)
            self.cloned[handle] = new_tensor(saved._array.copy())

    def clear(self) -> None:
        """Forget everything."""
        for each in (self.original, self.cloned, self.tid_to_weakhandle, self.sid_to_tid):
            each.clear()


def _memory(tensor: Tensor) -> int:
    return int(memory_root(tensor._array).__array_interface__["data"][0])


_mutation_allowed = False


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Guarded]:
    """Within, tensors saved for backward are cloned before they are overwritten, so that backward still works."""
    global _mutation_allowed
    guarded = _Guarded()
    with saved_tensors_hooks(guarded.pack, guarded.unpack):
        if _mutation_allowed:
            raise EngineError("allow_mutation_on_saved_tensors contexts cannot be nested")
        _mutation_allowed = True
        stop = subscribe("will_write", guarded.before_write)
        try:
            yield guarded
        finally:
            stop()
            guarded.clear()
            _mutation_allowed = False
