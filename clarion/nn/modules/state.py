"""Saving and loading the state of modules: `state_dict()` and `load_state_dict()`."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ... import __future__ as future
from ...core import modes
from ...core.hooks import RemovableHandle
from ...core.swapping import swap_tensors
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError
from ...events import hub
from ...ops.faces.options import warn_user
from ..parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    def __str__(self) -> str:
        return repr(self)


class StateDict(OrderedDict[str, Any]):
    """What `state_dict()` returns: an OrderedDict that also carries the versions of the modules."""

    _metadata: OrderedDict[str, Any]


class _WithModule:
    """A hook that is given its module, which it does not keep alive; the two can be pickled together."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self.module()
        if module is None:
            raise EngineError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)

    def __reduce__(self) -> Any:
        return _WithModule, (self.hook, self.module())


class StateMixin:
    """The part of Module that saves and loads."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """Override to put more than tensors into the state_dict."""
        raise EngineError("get_extra_state() was called on a module that does not define it")

    def set_extra_state(self, state: Any) -> None:
        """Override to take up what `get_extra_state()` gave."""
        raise EngineError("set_extra_state() was called on a module that does not define it")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by name."""
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/main/"
                "generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        outermost = destination is None
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, metadata)
            if result is not None:
                if getattr(hook, "_from_public_api", False):
                    raise EngineError("state_dict post-hook must return None")
                destination = result
        if outermost and hub.state_taken is not None:
            hub.state_taken(self, destination)
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    # Hooks ---------------------------------------------------------------------------------------

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise EngineError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` after the state was collected."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` before the state is collected."""
        return _add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return _add(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(module, incompatible_keys)` after loading; it may change the lists of keys."""
        return _add(self._load_state_dict_post_hooks, hook)

    # Loading -------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy a state into this module; `strict` wants exactly the same names, `assign` takes the tensors over."""
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        if hub.state_loaded is not None:
            hub.state_loaded(self, state_dict)
        missing: list[str] = []
        unexpected: list[str] = []
        messages: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)

        whole = StateDict(state_dict)
        if metadata is not None:
            whole._metadata = metadata
        _load(self, whole, "", metadata, assign, (missing, unexpected, messages))
        if strict:
            for title, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    listed = ", ".join(f'"{k}"' for k in keys)
                    messages.insert(0, f"{title} key(s) in state_dict: {listed}. ")
        if messages:
            lines = "\n\t".join(messages)
            raise EngineError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        kept = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        mine = {k: v for k, v in (*self._parameters.items(), *kept.items()) if v is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in mine.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, target, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if first not in (self._modules if rest else mine):
                        unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, target: Any, value: Any, assign: bool, error_msgs: list[str]) -> None:
        if not isinstance(value, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
                f"but received {type(value)}"
            )
            return
        if is_lazy(target):  # both: a shape that is known was given to the target before
            return
        if target.ndim == 0 and value._array.shape == (1,):
            value = value[0]  # type: ignore[index]  # saved by a very old version
        if value.shape != target.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current "
                f"model is {target.shape}."
            )
            return
        if target.is_meta and not value.is_meta and not assign:
            warn_user(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
                "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
                "corresponding key in the module instead of copying them in place?)"
            )
        try:
            with modes.no_grad():
                if future.conversion.swaps:
                    _swap(target, value, assign)
                elif assign:
                    setattr(self, name, _as_parameter(target, value))
                else:
                    target.copy_(value)
        except Exception as error:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {target.size()} and whose '
                f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )


def _load(module: Any, state: Any, prefix: str, metadata: Any, assign: bool, found: tuple[list[str], ...]) -> None:
    """Load a module and those inside it; `found`: names that are missing, that are not expected, and messages."""
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, local, True, *found)
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            _load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner, metadata, assign, found)
    keys = _IncompatibleKeys(found[0], found[1])
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                "incompatible_keys need to be modified, it should be done inplace."
            )


def _as_parameter(target: Any, value: Any) -> Any:
    """What takes the place of a parameter: one, and trained as it is."""
    if not isinstance(target, Parameter):
        return value
    if isinstance(value, Parameter):
        return value._requiring(target.requires_grad)
    return Parameter(value, requires_grad=target.requires_grad)


def _swap(target: Any, value: Any, assign: bool) -> None:
    """Let `target` be what it makes of a value that is loaded (`module_load`)."""
    loaded = target.module_load(value, assign=assign)
    if loaded is value or loaded is target:
        raise EngineError(
            "module_load returned one of self or other, please .detach() the result if returning one of the inputs in "
            "module_load"
        )
    swap_tensors(target, _as_parameter(target, loaded))


def _add(hooks: OrderedDict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
