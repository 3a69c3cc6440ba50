"""Parametrizations: a parameter computed from others each time it is read.

A parametrized module gets a class of its own (`ParametrizedLinear`), where the parameter's name is a property. The
tensors that it is computed from are parameters of `module.parametrizations[name]`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from ... import __future__ as future
from ...core import modes
from ...core.description import computes
from ...core.swapping import swap_tensors
from ...core.tensor import Tensor
from ...errors import ArgumentValueError, EngineError
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cached: dict[tuple[int, str], Any] = {}
_depth = 0


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cached.clear()


def _register(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _same(what: str, first: tuple[str, Any], second: tuple[str, Any], flag: str = "`unsafe`") -> None:
    """Refuse a parametrization that changes the type or the shape."""
    for kind in ("dtype", "shape"):
        a, b = getattr(first[1], kind), getattr(second[1], kind)
        if a != b:
            raise ArgumentValueError(
                f"{what.format(kind=kind)}, unless {flag} flag is enabled.\n{first[0].format(kind=kind)}: {a}\n"
                f"{second[0].format(kind=kind)}: {b}"
            )


def _must_be_tensor(value: Any, text: str = "A parametrization must return a tensor. Got {}.") -> None:
    if not isinstance(value, Tensor):
        raise ArgumentValueError(text.format(type(value).__name__))


def _write(kept: Any, value: Any) -> None:
    """Give a tensor another's value: what it is stays, unless the program or a class that wraps others wants it exchanged."""
    if not (future.conversion.swaps or computes(type(kept))):
        kept.data = value.detach()
        return
    if isinstance(kept, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value.detach(), kept.requires_grad)
    swap_tensors(kept, value)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what it is computed from: `original`, or `original0`, `original1`, …"""

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ArgumentValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = original
        with modes.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ArgumentValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        self._keep(original, new)
        if not unsafe:
            made = self()
            _must_be_tensor(made)
            text = "Registering a parametrization may not change the {kind} of the tensor"
            for kind, before in (("dtype", dtype), ("shape", shape)):
                after = getattr(made, kind)
                if before != after:
                    raise ArgumentValueError(
                        f"{text.format(kind=kind)}, unless `unsafe` flag is enabled.\nunparametrized {kind}: {before}\n"
                        f"parametrized {kind}: {after}"
                    )

    def _keep(self, original: Any, new: Any) -> None:
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ArgumentValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if new is not original:
                _write(original, new)
            _register(self, "original", original)
            return
        for i, each in enumerate(new):
            _must_be_tensor(
                each,
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                f"{i} of the sequence with type {{}}.",
            )
            if isinstance(original, Parameter):
                each = Parameter(each, original.requires_grad)
            each.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", each)

    def right_inverse(self, value: Any) -> None:
        """Make the originals what gives `value`."""
        with modes.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise EngineError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        if self.is_tensor:
            _must_be_tensor(value, "`right_inverse` should return a tensor. Got {}")
            self._set("original", value, "The tensor")
            return
        if not isinstance(value, Sequence):
            raise ArgumentValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ArgumentValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length "
                f"{len(value)}."
            )
        for i, each in enumerate(value):
            self._set(f"original{i}", each, f"Tensor {i}")

    def _set(self, name: str, value: Any, who: str) -> None:
        own = getattr(self, name)
        if own.dtype != value.dtype:
            raise ArgumentValueError(
                f"{who} returned by `right_inverse` has dtype {value.dtype} while `{name}` has dtype {own.dtype}"
            )
        if own is not value:
            _write(own, value)

    def forward(self) -> Any:
        """The tensor."""
        first, *others = self
        if self.is_tensor:
            x = first(self.original)
        else:
            x = first(*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        for module in others:
            x = module(x)
        return x


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    replica = self.__new__(self.__class__)
    memo[id(self)] = replica
    replica.__dict__.update(deepcopy(self.__dict__, memo))
    return replica


def _no_pickle(self: Any) -> Any:
    raise EngineError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _own_class(module: Module) -> None:
    cls = type(module)
    members: dict[str, Any] = {"__getstate__": _no_pickle}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _add_property(module: Module, name: str) -> None:
    def read(self: Any) -> Any:
        source = self.parametrizations[name]
        if not _depth:
            return source()
        key = (id(self), name)
        if key not in _cached:
            _cached[key] = source()
        return _cached[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Compute a parameter or buffer of a module by `parametrization`, after those that are there already."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        listed = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = listed
    else:
        raise ArgumentValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _check_another(module: Any, name: str, parametrization: Any) -> None:
    before = getattr(module, name)
    after = parametrization(before)
    _must_be_tensor(after)
    _same(
        "Registering a parametrization may not change the {kind} of the tensor",
        (f"module.{name}.{{kind}}", before),
        (f"parametrization(module.{name}).{{kind}}", after),
        "the `unsafe`",
    )
    if not hasattr(parametrization, "right_inverse"):
        return
    with contextlib.suppress(NotImplementedError):
        back = parametrization.right_inverse(after)
        _must_be_tensor(back, "parametrization.right_inverse must return a tensor. Got: {}")
        _same(
            f"The tensor returned by parametrization.right_inverse must have the same {{kind}} as module.{name}",
            (f"module.{name}.{{kind}}", before),
            ("returned {kind}", back),
            "the `unsafe`",
        )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Has a module (a tensor of it) parametrizations?"""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a tensor an ordinary parameter again: with its present value, or (`leave_parametrized=False`) the original."""
    if not is_parametrized(module, tensor_name):
        raise ArgumentValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if listed.is_tensor:
        original = listed.original
        if leave_parametrized:
            with modes.no_grad():
                value = getattr(module, tensor_name)
            if value is not original:
                _write(original, value)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ArgumentValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence "
            "of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Give a module the parametrizations and parameters of another."""
    if is_parametrized(from_module):
        names = [*from_module.parametrizations] if tensor_name is None else [tensor_name]
        for name in names:
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for each in from_module.parametrizations[name]:
                register_parametrization(to_module, name, each)
            mine, theirs = to_module.parametrizations[name], from_module.parametrizations[name]
            if hasattr(theirs, "original"):
                mine.original = theirs.original
            else:
                for i in range(theirs.ntensors):
                    setattr(mine, f"original{i}", getattr(theirs, f"original{i}"))
    return to_module
