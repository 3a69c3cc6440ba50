"""Module: the base of all layers and models."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ...compiler import compile as compiled
from ...core.bulk import clear_gradients
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, Explained
from ...events import hub
from ...ops.creation.questions import typename
from ..parameter import Buffer, Parameter, UninitializedBuffer
from .blame import name_layer
from .conversion import ConversionMixin
from .hooks import HOOK_DICTS, HookMixin, everywhere, registered
from .hooks import register_module_backward_hook as register_module_backward_hook
from .hooks import register_module_buffer_registration_hook as register_module_buffer_registration_hook
from .hooks import register_module_forward_hook as register_module_forward_hook
from .hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from .hooks import register_module_full_backward_hook as register_module_full_backward_hook
from .hooks import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from .hooks import register_module_module_registration_hook as register_module_module_registration_hook
from .hooks import register_module_parameter_registration_hook as register_module_parameter_registration_hook
from .state import EXTRA_STATE, StateMixin
from .state import _IncompatibleKeys as _IncompatibleKeys

_set = object.__setattr__
_EXTRA_STATE_KEY_SUFFIX = EXTRA_STATE
# PyTorch's names of the tables of hooks, which libraries look into.
_global_forward_pre_hooks, _global_forward_hooks = everywhere.forward_pre, everywhere.forward
_global_backward_pre_hooks, _global_backward_hooks = everywhere.backward_pre, everywhere.backward
_global_forward_hooks_always_called = everywhere.always_called
_global_forward_hooks_with_kwargs = everywhere.with_kwargs
_global_parameter_registration_hooks = everywhere.parameter_registration
_global_buffer_registration_hooks = everywhere.buffer_registration
_global_module_registration_hooks = everywhere.module_registration


class _Tables(ModuleType):
    """This file as a module: assigning one of the tables (as tests do to clear them) changes what is in it."""

    def __setattr__(self, name: str, value: Any) -> None:
        table = vars(self).get(name) if name.startswith("_global_") else None
        if isinstance(table, dict) and table is not value:
            table.clear()
            table.update(value)
            if table is everywhere.backward and not table:
                everywhere.full = None
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Tables


class Module(ConversionMixin, StateMixin, HookMixin):
    """A layer or model. Parameters, buffers and modules that are assigned to it are registered by name."""

    dump_patches: bool = False
    call_super_init: bool = False
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    _asks: bool = False  # its class has a `__getattr__` of its own, which hears of every parameter that is read

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._asks = cls.__getattr__ is not Module.__getattr__
        if not getattr(cls, "__module__", "").startswith("clarion."):
            # PyTorch's functions are built in: as attributes of a class (`activation = torch.tanh`) they stay functions.
            for name, value in list(vars(cls).items()):
                if isinstance(value, FunctionType) and (value.__module__ or "").startswith("clarion.ops."):
                    setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise ArgumentTypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise ArgumentTypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        own = self.__dict__
        own["training"] = True
        for name in ("_parameters", "_buffers", "_modules"):
            own[name] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for name in HOOK_DICTS:
            own[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        if hub.module_made is not None:
            hub.module_made(self)

    def forward(self, *input: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if hub.module_entered is not None:
            hub.module_entered(self)
        own = self.__dict__  # (an attribute of a module takes longer to find than a key)
        try:
            hooked = (
                own["_forward_hooks"]
                or own["_forward_pre_hooks"]
                or own["_backward_hooks"]
                or own["_backward_pre_hooks"]
                or _global_forward_hooks
                or _global_forward_pre_hooks
                or _global_backward_hooks
                or _global_backward_pre_hooks
            )
        except KeyError:  # who did not call `Module.__init__` is told so
            hooked = self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
        try:
            result = self._call_with_hooks(args, kwargs) if hooked else self.forward(*args, **kwargs)
        except Explained as error:
            name_layer(error, self)
            raise
        if hub.module_left is not None:
            hub.module_left(self, result)
        return result

    # Registration --------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name."""
        self._check_name("parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise ArgumentTypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ArgumentValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                    f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
        if _global_parameter_registration_hooks:
            param = registered(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer under a name; a persistent one is saved by `state_dict()`."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor) and not hasattr(tensor, "__torch_function__"):
            raise ArgumentTypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        if _global_buffer_registration_hooks:
            tensor = registered(_global_buffer_registration_hooks, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child under a name."""
        if module is not None and not isinstance(module, Module):
            raise ArgumentTypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        if _global_module_registration_hooks:
            module = registered(_global_module_registration_hooks, self, name, module)
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: str, where: str) -> None:
        if where not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise ArgumentTypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[where]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__  # (written out: every layer is found here, at every call)
        found = own.get("_parameters")
        if found is not None and name in found:
            return found[name]
        found = own.get("_buffers")
        if found is not None and name in found:
            return found[name]
        found = own.get("_modules")
        if found is not None and name in found:
            return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        params = own.get("_parameters")
        if params is None:  # before __init__
            _refuse_early(value)
            _set(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, "_buffers", "_modules")
            own.pop(name, None)
            self.register_parameter(name, value)
        elif name in params:
            if value is not None:
                raise ArgumentTypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            params[name] = None
        elif isinstance(value, Module):
            self._forget(name, "_parameters", "_buffers")
            own.pop(name, None)
            if _global_module_registration_hooks:
                value = registered(_global_module_registration_hooks, self, name, value)
            own["_modules"][name] = value
        elif name in own["_modules"]:
            if value is not None:
                raise ArgumentTypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = None
        elif isinstance(value, (Buffer, UninitializedBuffer)) or name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor) and not hasattr(value, "__torch_function__"):
                raise ArgumentTypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            kept = getattr(value, "persistent", True)  # (of a Buffer, also one without a shape)
            if not isinstance(value, (Buffer, UninitializedBuffer)):
                kept = name not in self._non_persistent_buffers_set
            takes_three = type(self).register_buffer is Module.register_buffer or not kept
            self.register_buffer(
                name, value, *((kept,) if takes_three else ())
            )  # an override may not know `persistent`
        else:
            _set(self, name, value)
            if hub.attribute_set is not None:
                hub.attribute_set(self, name, value)

    def _forget(self, name: str, *where: str) -> None:
        for each in where:
            self.__dict__[each].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in HOOK_DICTS:
            self.__dict__.setdefault(name, OrderedDict())
        if hub.module_made is not None:
            hub.module_made(self)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    # Looking up and walking ----------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name."""
        found: Any = self
        for item in target.split(".") if target else ():
            if not hasattr(found, item):
                raise AttributeError(f"{found._get_name()} has no attribute `{item}`")
            found = getattr(found, item)
            if not isinstance(found, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module under a dotted name."""
        if target == "":
            raise ArgumentValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ArgumentValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        found = getattr(owner, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return getattr(owner, name)  # type: ignore[no-any-return]

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, each once, with names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for owner_name, owner in owners:
            for name, value in get_members_fn(owner):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield f"{owner_name}.{name}" if owner_name else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each once, with dotted names."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        if recurse and self._modules:
            for _, param in self.named_parameters():
                yield param
        else:  # a single layer: its own dictionary is the answer
            yield from [p for p in dict.fromkeys(self._parameters.values()) if p is not None]

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with dotted names."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn: Callable[[Module], None]) -> Any:
        """Call `fn` on all modules below, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # Training ------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Any:
        """Set training mode, here and below."""
        if not isinstance(mode, bool):
            raise ArgumentValueError("training mode is expected to be boolean")
        if hub.training_set is not None:
            hub.training_set(self, mode)
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set evaluation mode, here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Should gradients of all parameters be recorded?"""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients, or set them to zero."""
        clear_gradients(self.parameters(), set_to_none)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have `forward` compiled, as `torch.compile` does it."""
        self.__dict__["forward"] = compiled(self.forward, *args, **kwargs)

    # Text ----------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the module's text."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        body = "\n  ".join([*lines, *children])
        return f"{self._get_name()}(\n  {body}\n)"


def _refuse_early(value: Any) -> None:
    if isinstance(value, Parameter):
        raise AttributeError("cannot assign parameters before Module.__init__() call")
    if isinstance(value, Module):
        raise AttributeError("cannot assign module before Module.__init__() call")


def _addindent(s_: str, numSpaces: int) -> str:
    """A text whose lines after the first are moved to the right: modules that write themselves import it."""
    return s_.replace("\n", "\n" + " " * numSpaces)
