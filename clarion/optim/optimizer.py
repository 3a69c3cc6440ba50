"""Optimizer: parameter groups, state, hooks; each algorithm adds `_update(group)`, which writes arrays in place."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..core import devices, modes, overriding, provenance
from ..core.bulk import bump, clear_gradients
from ..core.dtypes import FROM_NUMPY, default_float, f32
from ..core.hooks import RemovableHandle
from ..core.namespace import OPS
from ..core.tensor import Tensor
from ..core.versions import INFERENCE
from ..errors import ArgumentTypeError, ArgumentValueError, EngineError, InplaceError
from ..events import hub
from ..ops.creation.questions import typename
from .grouping import by_device_and_dtype
from .recorded import record

StateDict = dict[str, Any]
ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    """Stands in `defaults` for an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)

_global_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_post_hooks: OrderedDict[int, Any] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` before every optimizer's step."""
    return _add(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` after every optimizer's step."""
    return _add(_global_post_hooks, hook)


def _add(hooks: OrderedDict[int, Any], hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def scalar(value: Any) -> float:
    """An option that may be a Tensor of one element."""
    return value.item() if isinstance(value, Tensor) else value  # type: ignore[attr-defined,no-any-return]


class Optimizer:
    """Base of all optimizers."""

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A `step` of the user's own runs the step hooks too."""
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise ArgumentTypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{typename(params)}\nPut it into a list: [tensor]."
            )
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ArgumentValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        devices.tidy()
        if hub.optimizer_made is not None:
            hub.optimizer_made(self)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise ArgumentTypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [item[0] for item in params if isinstance(item, tuple)]
        params = [item[1] if isinstance(item, tuple) else item for item in params]
        if names:
            if len(names) != len(params):
                raise ArgumentValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            param_group["param_names"] = names
        param_group["params"] = params
        self._check_params(params)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ArgumentValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_overlap(param_group)
        self.param_groups.append(param_group)

    def _check_params(self, params: list[Any]) -> None:
        for param in params:
            if not isinstance(param, Tensor):
                raise ArgumentTypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(param)}"
                )
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                assert param._edge is not None
                raise ArgumentValueError(
                    "can't optimize a non-leaf Tensor\n"
                    f"It was computed at {provenance.text(param._edge.place)}: give the optimizer what it was computed "
                    "from, or start afresh with .detach().requires_grad_()."
                )

    def _check_overlap(self, param_group: dict[str, Any]) -> None:
        params = param_group["params"]
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                UserWarning,
                stacklevel=3,
            )
        known: set[Any] = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ArgumentValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{kind} to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ArgumentValueError("some parameters appear in more than one parameter group")

    # The step ------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters that have a gradient. A closure recomputes the loss, which is returned."""
        told = hub.stepped is not None and "_stepping" not in self.__dict__
        if told and hub.step_began is not None:
            hub.step_began(self)
        if self._hooked():
            loss = _run_with_hooks(Optimizer._step, self, (closure,) if closure is not None else (), {})
        else:
            loss = self._step(closure)
        if told and hub.stepped is not None:
            hub.stepped(self)
        return loss

    def _step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        written: list[Any] = []
        for group in self.param_groups:
            if self.defaults.get("differentiable"):
                record(self, group)
            elif overriding._under and (apart := [p for p in group["params"] if devices.wraps(p._array)]):
                record(self, {**group, "params": apart}, recorded=False)
                self._update({**group, "params": [p for p in group["params"] if not devices.wraps(p._array)]}, written)
            else:
                self._update(group, written)
        bump(written)
        return loss

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        """Change the parameters of one group; append those that were written."""
        raise NotImplementedError(f"{type(self).__name__} defines neither step() nor _update()")

    def _hooked(self) -> bool:
        return bool(
            self._optimizer_step_pre_hooks  # type: ignore[attr-defined]
            or self._optimizer_step_post_hooks  # type: ignore[attr-defined]
            or _global_pre_hooks
            or _global_post_hooks
        )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        groups = self.param_groups
        clear_gradients(
            groups[0]["params"] if len(groups) == 1 else [p for g in groups for p in g["params"]], set_to_none
        )

    # State ---------------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """The state of all parameters by number, and the options of all groups."""
        for hook in self._optimizer_state_dict_pre_hooks.values():  # type: ignore[attr-defined]
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        result: StateDict = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():  # type: ignore[attr-defined]
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take up what `state_dict()` gave."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():  # type: ignore[attr-defined]
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups = self.param_groups
        saved = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ArgumentValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved, strict=True)):
            raise ArgumentValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        old = chain.from_iterable(g["params"] for g in saved)
        new = chain.from_iterable(g["params"] for g in groups)
        params = dict(zip(old, new, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param = params.get(key)
            state[key if param is None else param] = value if param is None else _fitted(param, value)
        for group, loaded in zip(groups, saved, strict=True):
            loaded["params"] = group["params"]
            if "param_names" in group and "param_names" not in loaded:
                loaded["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():  # type: ignore[attr-defined]
            hook(self)

    _group_tensors_by_device_and_dtype = staticmethod(by_device_and_dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            text += f"\nParameter Group {i}\n{options}"
        return text + ")"

    # Hooks ---------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` before each step; it may return other (args, kwargs)."""
        return _add(self._optimizer_step_pre_hooks, hook)  # type: ignore[attr-defined]

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` after each step."""
        return _add(self._optimizer_step_post_hooks, hook)  # type: ignore[attr-defined]

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` before the state is collected."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` after; it may return another."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` before loading; it may return another."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)  # type: ignore[attr-defined]

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` after loading."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)  # type: ignore[attr-defined]


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A step of a library's optimizer: recorded where the optimizer is `differentiable`, and only there."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with modes.set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return func(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(params: list[Any], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Should a library's optimizer take a fused step, or step lists of tensors? Neither: loops are as fast here."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Devices on which a step can be captured in a graph."""
    return ["cuda"]


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions; a number as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Complex parameters, and what belongs to them, as pairs of real numbers: in the lists themselves."""
    for i, param in enumerate(params):
        if param.is_complex():
            for each in (params, *state_and_grads):
                each[i] = OPS["view_as_real"].call(each[i])


def _get_scalar_dtype(is_fused: Any = None) -> Any:
    """The type in which steps are counted."""
    return FROM_NUMPY[f32] if is_fused else FROM_NUMPY[default_float()]


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """A mark for a compiler: the function itself."""
    return lambda func: func


# Texts that libraries put into the documentation of their optimizers.
_params_doc = "params (iterable): the parameters to optimize, or dictionaries that define groups of them"
_foreach_doc = "foreach (bool, optional): whether lists of tensors are stepped together"
_fused_doc = "fused (bool, optional): whether the step is one kernel"
_capturable_doc = "capturable (bool, optional): whether the step can be captured in a graph"
_maximize_doc = "maximize (bool, optional): whether the objective is maximized"
_differentiable_doc = "differentiable (bool, optional): whether gradients flow through the step"


def _fitted(param: Tensor, value: Any, key: str | None = None) -> Any:
    """Loaded state in the parameter's type; the count of steps stays as it is."""
    if isinstance(value, Tensor):
        if key == "step" or not param.is_floating_point():
            return value
        return value.to(dtype=param.dtype)  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {k: _fitted(param, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(param, v) for v in value)  # type: ignore[call-arg]
    return value


def _run_with_hooks(function: Any, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own_pre = optimizer._optimizer_step_pre_hooks  # type: ignore[attr-defined]
    own_post = optimizer._optimizer_step_post_hooks  # type: ignore[attr-defined]
    args = (optimizer, *args)
    for hook in (*_global_pre_hooks.values(), *own_pre.values()):
        changed = hook(optimizer, args, kwargs)
        if changed is None:
            continue
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise EngineError(f"{function} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
        args, kwargs = changed
    result = function(*args, **kwargs)
    for hook in (*own_post.values(), *_global_post_hooks.values()):
        hook(optimizer, args, kwargs)
    return result


def _with_hooks(step: Any) -> Any:
    if getattr(step, "hooked", False):
        return step

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if (
            "_optimizer_step_pre_hooks" not in self.__dict__
        ):  # a wrapper that is no optimizer of its own: made without us
            return step(self, *args, **kwargs)
        outermost = not self.__dict__.get("_stepping")  # a step of the user's own may call its parent's
        if outermost and hub.step_began is not None:
            self._stepping = True
            hub.step_began(self)
        try:
            result = _run_with_hooks(step, self, args, kwargs) if self._hooked() else step(self, *args, **kwargs)
        finally:
            if outermost:
                self.__dict__.pop("_stepping", None)
        if outermost and hub.stepped is not None:
            hub.stepped(self)
        return result

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


def writable(param: Tensor) -> Any:
    """The parameter's array, to be written."""
    if param._vc is INFERENCE and not modes.state.inference:
        raise InplaceError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update."
        )
    return param._array
