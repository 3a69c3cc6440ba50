"""What a function depends on beside its arguments, and the test that all of it is as it was.

`Watch` begins with the globals and closures that the code reads and goes on through modules, optimizers, containers and objects. Every
value it meets becomes a condition: the same object, an equal number, a dictionary of the same size. Tensors are collected: their
values may change, their looks may not. What it meets and cannot compare (an iterator, a file) is refused.
The conditions are compiled into one function, some 20 ns each.
"""

from __future__ import annotations

import enum
import functools
import inspect
import threading
import types
from collections import OrderedDict, defaultdict, deque
from types import CodeType
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..nn.modules.hooks import everywhere
from ..nn.modules.module import Module
from ..optim.elementwise import Elementwise
from ..optim.optimizer import Optimizer, _global_post_hooks, _global_pre_hooks
from ..pytree import tree_leaves
from .appending import Appended, only_appended_to
from .kinds import FUNCTIONS, NOT_WATCHED, VALUES, Unwatchable, refuse_chance
from .pointwise import Pointwise
from .source import globals_read, is_ours, is_users, is_written_by_user, names_read

_ARRAY = "the memory of a tensor"
_CONTAINERS = (dict, list, tuple, set, frozenset, deque)
_MOST = 20_000  # conditions
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Watch:
    """Conditions under which a recording may be replayed."""

    def __init__(self, codes: dict[CodeType, dict[str, Any]]) -> None:
        self.conditions: list[tuple[str, str]] = []  # text, and what it is about
        self.scope: dict[str, Any] = {}
        self.tensors: list[tuple[Tensor, str]] = []
        self.optimizers: list[Optimizer] = []
        self._memory: list[tuple[Tensor, str]] = []
        self.appended: dict[int, Appended] = {}  # lists that are only appended to
        self.names: set[str] = set()
        self._met: dict[int, Any] = {}
        self._closures: dict[int, Any] = {}
        self._reached: set[CodeType] = set()
        self._codes = codes
        for code in codes:
            self.names |= names_read(code)

    # Conditions ------------------------------------------------------------------------------------------

    def _constant(self, value: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def _require(self, condition: str, about: str) -> None:
        if len(self.conditions) > _MOST:
            raise Unwatchable(f"{about}: more than {_MOST} values would have to be compared")
        self.conditions.append((condition, about))

    def compile(self) -> Any:
        """The test: a function without arguments. (An attribute or a key that is gone raises: the caller counts that as no.)"""
        lines = (
            ["def holds():"]
            + [f"    if not ({text}): return False" for text, _ in self.conditions]
            + ["    return True"]
        )
        exec(compile("\n".join(lines), "<conditions of a replay>", "exec"), self.scope)
        return self.scope["holds"]

    def broken(self) -> str | None:
        """What is no longer as it was, in words."""
        for text, about in self.conditions:
            try:
                if not eval(text, self.scope):
                    return about
            except Exception:
                return about
        return None

    # Roots -------------------------------------------------------------------------------------------------

    def function(self, function: Any, about: str) -> None:
        """A function that is called: what it reads."""
        while isinstance(function, functools.partial):
            name = self._constant(function)
            self.value(function.args, f"{name}.args", about)
            self.value(function.keywords, f"{name}.keywords", about)
            function = function.func
        if isinstance(function, types.MethodType):
            self.value(function.__self__, self._constant(function.__self__), about)
            function = function.__func__
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None and wrapped is not function:
            self.function(wrapped, about)
        if isinstance(function, types.FunctionType):
            self._closure(function, about)
        elif id(function) not in self._met:
            self.value(function, self._constant(function), about)

    def _closure(self, function: types.FunctionType, about: str) -> None:
        if id(function) in self._closures:
            return
        self._closures[id(function)] = function
        code = function.__code__
        if not is_users(code.co_filename):
            return
        self._reached.add(code)
        name = self._constant(function)
        self._require(f"{name}.__code__ is {self._constant(code)}", f"the code of {function.__qualname__}")
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                inside = cell.cell_contents
            except ValueError:
                continue
            self.value(inside, f"{self._constant(cell)}.cell_contents", variable, variable)
        for place in ("__defaults__", "__kwdefaults__"):
            self.value(getattr(function, place), f"{name}.{place}", f"the defaults of {function.__qualname__}")
        space = self._constant(function.__dict__)
        if function.__dict__ or self.names & {"hasattr", "AttributeError"}:
            self._require(f"len({space}) == {len(function.__dict__)}", f"the attributes of {function.__qualname__}")
        for each in sorted(self.names & set(function.__dict__)):
            self.value(function.__dict__[each], f"{space}[{each!r}]", f"{function.__qualname__}.{each}")

    def asked_for(self) -> None:
        """Refuse what nobody watches."""
        for name in sorted(self.names & NOT_WATCHED):
            raise Unwatchable(f"{name} is asked for, which is not watched")

    def globals(self) -> None:
        """The globals that the code reads."""
        for code, space in self._codes.items():
            known = self._constant(space)
            for name in globals_read(code):
                if name in space:
                    self.value(space[name], f"{known}[{name!r}]", name, name)
                else:
                    self._require(f"{name!r} not in {known}", name)

    def closed(self) -> None:
        """Is every closure that was called reached from somewhere, or made in the call itself?"""
        inner = {each for code in self._codes for each in code.co_consts if isinstance(each, CodeType)}
        for code in self._codes:
            if (
                code.co_freevars
                and code not in self._reached
                and code not in inner
                and set(code.co_freevars) != {"__class__"}
            ):
                raise Unwatchable(f"the variables of {code.co_qualname} cannot be watched")

    def argument(self, value: Any) -> None:
        """An argument that is no tensor: what it holds, for as long as it is given."""
        for leaf in tree_leaves(value):
            if not isinstance(leaf, Tensor) and not (isinstance(leaf, VALUES) and is_ours(type(leaf))):
                self.value(leaf, self._constant(leaf), f"an argument ({type(leaf).__name__})")

    # Tensors -------------------------------------------------------------------------------------------------

    def counters(self) -> set[int]:
        """The tensors of optimizers' states that count steps: they are read and written by Python, before each replay."""
        return {
            id(kept[name])
            for optimizer in self.optimizers
            if isinstance(optimizer, Elementwise)
            for kept in optimizer.state.values()
            for name in optimizer.counters
            if name in kept
        }

    @functools.cached_property
    def _states(self) -> set[int]:
        """The tensors of optimizers' states: there are many, and nobody gives them gradients."""
        return {
            id(each) for optimizer in self.optimizers for kept in optimizer.state.values() for each in kept.values()
        }

    def counting(self) -> list[Tensor]:
        """The tensors that `counters` names."""
        counters = self.counters()
        return [tensor for tensor, _ in self.tensors if id(tensor) in counters]

    def stays(self, tensor: Tensor, array: Any, may_move: bool = False) -> str:
        """A tensor's memory must be where it was (see `moved`); gives its name in conditions."""
        name, memory = self._constant(tensor), self._constant(array)
        if may_move:
            self._memory.append((tensor, memory))
        self._require(f"{name}._array is {memory}", _ARRAY)
        return name

    def look(self, known: Any) -> None:
        """A tensor must look as it did: the same memory, no hook, no graph."""
        name = self.stays(known.tensor, known.array, may_move=True)
        edge = "None" if known.edge is None else self._constant(known.edge)
        self._require(
            f"{name}._edge is {edge} and {name}._rg is {known.needs} and {name}._hooks is None", "a tensor's history"
        )
        if id(known.tensor) not in self._states:  # (one that is frozen may have a gradient, too)
            self._require(f"({name}._grad is None) is {known.grad is None}", "whether a parameter has a gradient")

    def moved(self) -> bool:
        """Tensors that lie elsewhere now, in memory of the same form (an optimizer has gathered its state): take note of it."""
        found = False
        for tensor, name in self._memory:
            now, old = tensor._array, self.scope[name]
            if (
                now is not old
                and type(now) is np.ndarray
                and (now.shape, now.strides, now.dtype) == (old.shape, old.strides, old.dtype)
            ):
                self.scope[name], found = now, True
        return found

    def look_at_gradient(self, leaf: Tensor, array: Any) -> None:
        """A gradient that is read: its memory is found at each replay, its form must be the same."""
        form = self._constant((array.shape, array.strides, array.dtype))
        found = f"{self._constant(leaf)}._grad"
        self._require(
            f"{found}._edge is None and ({found}._array.shape, {found}._array.strides, {found}._array.dtype) == {form}",
            "a gradient",
        )

    # Values --------------------------------------------------------------------------------------------------

    def value(self, value: Any, text: str, about: str, name: str = "") -> None:
        """A value that stands at `text`; `name` is that of the variable or attribute, where it is one."""
        if isinstance(value, VALUES):
            kind = type(value)
            if is_ours(kind):
                self._same_value(value, text, about)
                return
            known = self._constant(
                value
            )  # a class of the user's that is a number, a text, an Enum: with attributes and methods
            self._require(f"{text} is {known}", about)
            if id(value) not in self._met:
                self._met[id(value)] = value
                self._class(kind, self._constant(kind), about)
                self._attributes(value, about)
            return
        if type(value) is tuple:  # (made anew each time it may be: its elements count)
            self._require(f"type({text}) is tuple and len({text}) == {len(value)}", about)
            for i, each in enumerate(value):
                self.value(each, f"{text}[{i}]", about)
            return
        known = self._constant(value)
        self._require(f"{text} is {known}", about)
        appended = type(value) is list and name != "" and only_appended_to(name, self._codes)
        if id(value) in self._met and (appended or id(value) not in self.appended):
            return
        if appended:
            self.appended[id(value)] = Appended(value)
        else:
            self.appended.pop(id(value), None)  # somebody else looks into it
        self._met[id(value)] = value
        if not appended:
            self._inside(value, known, about)

    def _same_value(self, value: Any, text: str, about: str) -> None:
        name = self._constant(value)
        if value is None or value is True or value is False or isinstance(value, (enum.Enum, type(Ellipsis))):
            self._require(f"{text} is {name}", about)
        elif isinstance(value, float) and (value != value or value == 0):
            self._require(f"({text} is {name} or repr({text}) == {repr(value)!r})", about)
        else:
            kind = self._constant(type(value))
            self._require(f"({text} is {name} or (type({text}) is {kind} and {text} == {name}))", about)

    def _inside(self, value: Any, name: str, about: str) -> None:
        """What an object holds."""
        if isinstance(value, Tensor):
            self.tensors.append((value, about))
            self._attributes_of_tensor(value, about)
        elif isinstance(value, Module):
            self._module(value, about)
        elif isinstance(value, Optimizer):
            self._optimizer(value, name, about)
        elif isinstance(value, types.ModuleType):
            self._python_module(value, name)
        elif isinstance(value, types.BuiltinFunctionType):
            return
        elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            self.function(value, about)
        elif isinstance(value, type):
            self._class(value, name, about)
        elif type(value) in (list, deque):
            self._require(f"len({name}) == {len(value)}", about)
            for i, each in enumerate(value):
                self.value(each, f"{name}[{i}]", f"{about}[{i}]")
        elif type(value) in (dict, OrderedDict, defaultdict, types.MappingProxyType):
            self._dictionary(value, name, about)
        elif type(value) in (set, frozenset):
            self._require(f"{name} == {self._constant(set(value))}", about)
        elif isinstance(value, Pointwise):
            self._require(f"{name}._op is {self._constant(value._op)} and {name}.current()", about)
        elif isinstance(value, (staticmethod, classmethod)):
            self.function(value.__func__, about)
        elif isinstance(value, FUNCTIONS):
            refuse_chance(value, about)
        elif isinstance(value, _CONTAINERS):
            self._container(value, name, about)
        else:
            self._object(value, name, about)

    def _container(self, value: Any, name: str, about: str) -> None:
        """A class of somebody's that is a list, a dictionary, …: what it holds as one, and its attributes."""
        kind = next(base for base in _CONTAINERS if isinstance(value, base))
        own = self._constant(kind)
        if kind in (set, frozenset):
            self._require(f"{own}.__eq__({name}, {self._constant(kind(value))}) is True", about)
        else:
            self._require(f"{own}.__len__({name}) == {kind.__len__(value)}", about)
            for i, each in kind.items(value) if kind is dict else enumerate(kind.__iter__(value)):
                place = self._constant(i)
                self.value(
                    each, f"{own}.__getitem__({name}, {place})", f"{about}[{i!r}]" if kind is not dict else about
                )
        if type(value).__module__ != "collections":
            self._class(type(value), self._constant(type(value)), about)
        if any(hasattr(type(value), special) for special in ("__getattr__", "__missing__")) and not hasattr(
            value, "__dict__"
        ):
            raise Unwatchable(f"{about} is a {type(value).__name__}, whose elements may differ from call to call")
        for each, inside in list(getattr(value, "__dict__", {}).items()):
            self.value(inside, f"{self._constant(value.__dict__)}[{each!r}]", f"{about}.{each}", each)

    def _attributes_of_tensor(self, tensor: Tensor, about: str) -> None:
        """What somebody has written to a tensor as attributes."""
        space = tensor.__dict__
        if space or "hasattr" in self.names:
            name = self._constant(space)
            named = [each for each in space if each in self.names]
            if named or "hasattr" in self.names:
                self._require(f"len({name}) == {len(space)}", about)
            for each in named:
                self.value(space[each], f"{name}[{each!r}]", f"{about}.{each}", each)

    def _dictionary(
        self, value: Any, name: str, about: str, skip: tuple[str, ...] = (), attributes: bool = False
    ) -> None:
        self._require(f"len({name}) == {len(value)}", about)
        for key, each in list(value.items()):
            if key in skip:
                continue
            place = repr(key) if isinstance(key, (str, int, bool, float)) else self._constant(key)
            attribute = key if attributes and isinstance(key, str) else ""
            self.value(
                each, f"{name}[{place}]", f"{about}[{key!r}]" if isinstance(key, (str, int)) else about, attribute
            )

    def _no_hooks_everywhere(self) -> None:
        """Hooks on all modules count for each."""
        if "hooked" in self.scope:
            return
        self.scope["hooked"] = everywhere
        tables = [f"hooked.{name}" for name in ("forward", "forward_pre", "backward", "backward_pre")]
        if any(eval(table, self.scope) for table in tables):
            raise Unwatchable("there are hooks on all modules")
        self._require(f"not ({' or '.join(tables)})", "hooks on all modules")

    def _module(self, module: Module, about: str) -> None:
        self._no_hooks_everywhere()
        space = self._space(module, about)
        kind = self._constant(type(module))
        own = self._constant(module)
        self._require(f"type({own}) is {kind}", about)
        self._require(f"{kind}.forward is {self._constant(type(module).forward)}", f"{about}.forward")
        self.function(type(module).forward, f"{about}.forward")
        self._class(type(module), kind, about)
        for place in _HOOKS:
            if module.__dict__.get(place):
                raise Unwatchable(f"{about} has hooks")
            self._require(f"not {space}[{place!r}]", f"the hooks of {about}")
        hooks = tuple(key for key in module.__dict__ if "_hook" in key)
        inside = ("_parameters", "_buffers", "_modules")
        self._dictionary(module.__dict__, space, about, (*hooks, *inside, "_non_persistent_buffers_set"), True)
        for place in inside:
            members = module.__dict__[place]
            known = self._constant(members)
            self._require(f"{space}[{place!r}] is {known}", about)
            self._dictionary(members, known, about)

    def _optimizer(self, optimizer: Optimizer, name: str, about: str) -> None:
        """Its groups and its state. The numbers that its rule reads afresh at each step may change."""
        self.optimizers.append(optimizer)
        if optimizer._hooked():
            raise Unwatchable(f"{about} has hooks")
        own = self._space(optimizer, about)
        steps = [f"{own}['_optimizer_step_pre_hooks']", f"{own}['_optimizer_step_post_hooks']"]
        steps += [self._constant(each) for each in (_global_pre_hooks, _global_post_hooks)]
        self._require(f"not ({' or '.join(steps)})", f"the hooks of {about}")
        groups = optimizer.param_groups
        self._require(
            f"{name}.param_groups is {self._constant(groups)} and len({name}.param_groups) == {len(groups)}", about
        )
        fresh = isinstance(optimizer, Elementwise)
        # Numbers that the function looks at or sets itself.
        reads = bool(self.names & {"param_groups", "defaults", "state_dict"})
        read = self.names if not self.names & {"items", "values", "state_dict"} else {k for g in groups for k in g}
        for each, inside in list(optimizer.__dict__.items()):
            if each in self.names and each not in ("param_groups", "state", "_plans"):
                self.value(inside, f"{own}[{each!r}]", f"{about}.{each}", each)
        self._class(type(optimizer), self._constant(type(optimizer)), about)
        for group in groups:
            known = self._constant(group)
            numbers = tuple(
                k
                for k, v in group.items()
                if k == "params" or (fresh and not (reads and k in read) and (type(v) in (int, float) or k == "betas"))
            )
            self._dictionary(group, known, about, numbers)
            self.value(group["params"], f"{known}['params']", about)
        self._require(f"{name}.state is {self._constant(optimizer.state)}", about)
        self._require(f"len({name}.state) == {len(optimizer.state)}", f"the state of {about}")
        for param, kept in optimizer.state.items():
            where = f"{self._constant(optimizer.state)}[{self._constant(param)}]"
            if isinstance(kept, dict):
                self.value(kept, where, f"the state of {about}")

    def _python_module(self, module: types.ModuleType, name: str) -> None:
        """Of a module those names that the code reads."""
        space = vars(module)
        known = self._constant(space)
        for each in sorted(self.names & set(space)):
            inside = space[each]
            refuse_chance(inside, f"{module.__name__}.{each}")
            if isinstance(inside, Tensor) or not is_ours(inside) or isinstance(inside, types.ModuleType):
                self.value(inside, f"{known}[{each!r}]", f"{module.__name__}.{each}")
            else:
                self._require(f"{known}[{each!r}] is {self._constant(inside)}", f"{module.__name__}.{each}")

    def _class(self, kind: type, name: str, about: str) -> None:
        if not is_ours(kind):
            self._require(f"{name}.__mro__ is {self._constant(kind.__mro__)}", f"what {kind.__name__} inherits from")
        for base in kind.__mro__:
            if is_ours(base):
                continue
            space = self._constant(base.__dict__)
            self._require(
                f"len({space}) == {len(base.__dict__)}", f"what {base.__name__} has"
            )  # (a new name may hide another)
            for each, inside in list(base.__dict__.items()):
                if each in self.names or self._ran(inside):
                    self.value(inside, f"{space}[{each!r}]", f"{base.__name__}.{each}")

    def _ran(self, member: Any) -> bool:
        """Is a member of a class a method that has run? (Many are called by nobody's name: `__call__`, a Function's `forward`.)"""
        function = getattr(member, "__func__", member)
        return getattr(function, "__code__", None) in self._codes

    def _object(self, value: Any, name: str, about: str) -> None:
        """Any other object: the attributes that the code reads; of clarion's own objects all."""
        kind = type(value)
        self._require(f"type({name}) is {self._constant(kind)}", about)
        slots = [each for base in kind.__mro__ for each in base.__dict__.get("__slots__", ()) if each in self.names]
        for each in slots:
            self._require(f"hasattr({name}, {each!r}) is {hasattr(value, each)}", f"{about}.{each}")
            if hasattr(value, each):
                self.value(getattr(value, each), f"{name}.{each}", f"{about}.{each}")
        if slots and not hasattr(value, "__dict__"):
            self._class(kind, self._constant(kind), about)
            return
        if (
            (kind.__module__ == "builtins" and is_ours(kind))
            or inspect.isgenerator(value)
            or not hasattr(value, "__dict__")
            or isinstance(value, np.ndarray)
        ):
            raise Unwatchable(f"{about} is a {kind.__name__}: what it holds may differ from call to call")
        if isinstance(value, (functools._lru_cache_wrapper, threading.local)):
            raise Unwatchable(f"{about} is a {kind.__name__}: what it keeps cannot be watched")
        if any(hasattr(kind, special) for special in ("__getattr__", "__next__")):
            raise Unwatchable(f"{about} is a {kind.__name__}, whose attributes may differ from call to call")
        self._class(kind, self._constant(kind), about)
        self._attributes(value, about, whole=not is_written_by_user(kind))

    def _space(self, value: Any, about: str) -> str:
        """The dictionary of an object: nobody may put another one in its place."""
        space = self._constant(value.__dict__)
        self._require(f"{self._constant(value)}.__dict__ is {space}", about)
        return space

    def _attributes(self, value: Any, about: str, whole: bool = False) -> None:
        """What stands in an object's own dictionary: the names that the code reads, or the whole of it."""
        own = getattr(value, "__dict__", {})
        space = self._space(value, about) if hasattr(value, "__dict__") else self._constant(own)
        self._require(f"len({space}) == {len(own)}", about)
        for each, inside in list(own.items()):
            if whole or each in self.names:
                self.value(inside, f"{space}[{each!r}]", f"{about}.{each}", each)
