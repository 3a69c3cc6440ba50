"""`torch._C`: what libraries ask PyTorch's compiled part for. Questions are answered; the rest is not there."""

from __future__ import annotations

import enum
import importlib
import weakref
from typing import Any

from ..absent import pytorch_names, refusing_class, why
from ..core import engine as _engine
from ..core import passes as _passes
from ..core.devices import device as _device
from ..core.node import Node as _Node
from ..core.overriding import AllDisabled as DisableTorchFunction  # noqa: F401
from ..core.overriding import Disabled as DisableTorchFunctionSubclass  # noqa: F401
from ..core.overriding import disabled as _disabled_torch_function_impl  # noqa: F401
from ..core.overriding import state as _overriding
from ..core.tensor import Tensor
from ..errors import EngineError
from ..linalg import LinAlgError as _LinAlgError  # noqa: F401
from ..ops.creation.memory import StorageBase as StorageBase
from ..ops.random.generator import Generator as Generator
from . import _functions as _functions
from . import _functorch as _functorch
from . import _nn as _nn

TensorBase = _TensorBase = Tensor
_TensorMeta = type(Tensor)
Graph, Value, Node, Block, ScriptFunction, ScriptModule = (
    refusing_class(f"torch._C.{name}") for name in ("Graph", "Value", "Node", "Block", "ScriptFunction", "ScriptModule")
)
FileCheck = refusing_class("torch._C.FileCheck")
has_lapack = has_spectral = True  # linear algebra and Fourier transforms are computed
has_mkl = has_mkldnn = False


class _Guard:
    """A block in which PyTorch's dispatcher leaves something out; there is no dispatcher here."""

    def __init__(self, *args: Any) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


_ExcludeDispatchKeyGuard = _AutoDispatchBelowAutograd = _Guard


class DispatchKey:
    """Names of the places where PyTorch looks for a kernel."""

    def __class_getitem__(cls, name: str) -> str:
        return name


for _name in ("AutocastCPU", "AutocastCUDA", "AutocastXPU", "Autograd", "AutogradCPU", "CPU", "CUDA", "Python", "Meta"):
    setattr(DispatchKey, _name, _name)


class DispatchKeySet:
    """Several of them."""

    def __init__(self, key: Any) -> None:
        self.keys = {key}

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        both = DispatchKeySet(None)
        both.keys = self.keys | other.keys
        return both

    def has(self, key: Any) -> bool:
        """Is it among them?"""
        return key in self.keys


def _get_tracing_state() -> None:
    """The recording of `torch.jit.trace`: there is none."""


def _are_functorch_transforms_active() -> bool:
    """Do transforms of `torch.func` rewrite operations? They never do here."""
    return False


def _is_torch_function_mode_enabled() -> bool:
    """Is a mode active that takes calls over?"""
    return bool(_overriding.modes)


def _len_torch_function_stack() -> int:
    """How many modes are active that take calls over?"""
    return len(_overriding.modes)


def _pop_torch_function_stack() -> Any:
    """The innermost of them, taken out."""
    *rest, mode = _overriding.modes
    _overriding.modes = tuple(rest)
    return mode


class _TorchFunctionState(enum.Enum):
    """Who may take calls over."""

    ENABLED = 0
    SUBCLASSES_DISABLED = 1
    ALL_DISABLED = 2


def _get_torch_function_state() -> _TorchFunctionState:
    """Who may take calls over in this thread?"""
    return _TorchFunctionState.ENABLED if _overriding.enabled else _TorchFunctionState.SUBCLASSES_DISABLED


def _set_torch_function_state(state: _TorchFunctionState) -> None:
    """From now on it is so."""
    _overriding.enabled = state is _TorchFunctionState.ENABLED


def _get_accelerator(check: Any = None) -> _device:
    """The accelerator: the processor."""
    return _device("cpu")


def _get_privateuse1_backend_name() -> str:
    """The name of a device that a program adds: none was added."""
    return "privateuseone"


def _get_default_device() -> str:
    """Where new tensors are made."""
    return "cpu"


def _is_alias_of(first: Tensor, second: Tensor) -> bool:
    """Do two tensors lie in one piece of memory?"""
    return first.untyped_storage() == second.untyped_storage()  # type: ignore[attr-defined,no-any-return]


class _WeakTensorRef:
    """A reference that does not keep a tensor alive."""

    def __init__(self, tensor: Tensor) -> None:
        self._of = weakref.ref(tensor)

    def expired(self) -> bool:
        """Is the tensor gone?"""
        return self._of() is None


def _current_graph_task_id() -> int:
    """The number of the backward pass that is running in this thread, or -1."""
    return -1 if _passes.running.this is None else _passes.current_run()


def _current_autograd_node() -> _Node | None:
    """The node whose gradients are being computed, or None."""
    return _engine.current_node()


def _will_engine_execute_node(node: Any) -> bool:
    """Will the running pass come to this node?"""
    if not isinstance(node, _Node):
        raise EngineError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return _passes.will_run(node)


def _log_api_usage_once(event: str) -> None:
    """Nobody is told."""


def _cuda_isInBadFork() -> bool:
    """Was CUDA in use before a fork? There is none."""
    return False


def _cuda_clearCublasWorkspaces() -> None:
    """Nothing: there is no CUDA device."""


def _jit_setting(*args: Any) -> bool:
    """A switch of the compiler of TorchScript, which is not there."""
    return False


_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_set_texpr_fuser_enabled = _jit_setting
_jit_override_can_fuse_on_gpu = _jit_override_can_fuse_on_cpu = _jit_set_nvfuser_enabled = _jit_setting
_jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _jit_set_nvfuser_guard_mode = _jit_set_nvfuser_single_node_mode = (
    _jit_setting
)


def __getattr__(name: str) -> Any:
    if name in ("_DisableTorchDispatch", "_disabled_torch_dispatch_impl"):  # made when the first class asks
        wrapped = importlib.import_module("...core.wrapped", __name__ + ".x")
        return wrapped.Off if name == "_DisableTorchDispatch" else wrapped.plainly
    if name in ("_autograd", "_nn", "_linalg", "_fft", "_special"):
        return importlib.import_module(f".{name}", __name__)
    if name in ("_VariableFunctions", "_VariableFunctionsClass"):  # functions of torch are attributes of it
        return importlib.import_module("..", __name__)
    if not name.startswith("_") and name in pytorch_names()["torch"]:  # PyTorch's package shows all public names of it
        return getattr(importlib.import_module("..", __name__), name)
    raise AttributeError(f"clarion does not have torch._C.{name}: {why('torch._C')}")
