"""`torch.fx.proxy`: what stands for a value while a program is traced. Whatever is done with it becomes a step of the graph."""

from __future__ import annotations

import collections
import contextlib
import copy
import inspect
import operator
import sys
import traceback
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

from ..absent import rest
from ..bytecode import instructions
from ..core import overriding
from ..core.devices import device
from ..core.dtypes import dtype, layout, memory_format
from ..core.provenance import here, is_inside
from ..core.provenance import text as place_text
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from .code import MAGIC as magic_methods
from .graph import Graph
from .immutable_collections import immutable_dict, immutable_list
from .names import is_method, python_signature, spelled
from .node import Node, map_aggregate

base_types = (
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, type(None), type(Ellipsis), range,
)  # fmt: skip


class TraceError(ValueError):
    """The program does something with a traced value that cannot be written down as a step: it depends on what it is."""


def _at_line(message: str) -> TraceError:
    """The refusal, with the line of the program."""
    return TraceError(f"{message}\n(at {place_text(here())})")


class Scope:
    """The module that is being traced: its path and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


@contextlib.contextmanager
def ScopeContextManager(scope: Scope, current_scope: Scope) -> Iterator[Scope]:
    """While it is entered, `scope` tells of another module."""
    before = copy.copy(scope)
    scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
    try:
        yield scope
    finally:
        scope.module_path, scope.module_type = before.module_path, before.module_type


class TracerBase:
    """What a tracer must do: make nodes and proxies, and say what an argument is in the graph."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: collections.OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """A new step of the graph."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if hasattr(self, "node_name_to_scope"):
            self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces:
            node.stack_trace = _user_trace()
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for the result of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Any = None,
    ) -> Any:  # fmt: skip
        """A new step, and what stands for its result."""
        arguments, named = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(arguments, tuple) or not isinstance(named, dict):
            raise AssertionError(
                f"Expected args and kwargs to be a tuple and a dict, got {type(arguments)} and {type(named)}"
            )
        node = self.create_node(kind, target, arguments, named, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node: proxies as their nodes, containers piece by piece."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            parts = [self.create_arg(each) for each in a]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, list):
            return immutable_list([self.create_arg(each) for each in a])
        if isinstance(a, dict):
            return immutable_dict({self._key(key): self.create_arg(each) for key, each in a.items()})
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            named = {each.name: self.create_arg(getattr(a, each.name)) for each in fields(a)}
            return self.create_node("call_function", type(a), (), named)
        if isinstance(a, (*base_types, Node)) or hasattr(a, "_overloadpacket") or isinstance(a, _enum()):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        key = self.create_arg(key)

        def refuse(each: Any) -> Any:
            if isinstance(each, Node):
                raise EngineError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")
            return each

        map_aggregate(key, refuse)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """Is it true? That is not known while it is traced."""
        raise _at_line("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What is in it? That is not known while it is traced."""
        raise _at_line(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types "
            "of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Its keys, for `**`."""
        return Attribute(obj, "keys")()


def _enum() -> type:
    from enum import Enum

    return Enum


def _user_trace() -> str:
    """The lines of the program that led here, without those of clarion."""
    frames = [
        frame
        for frame in traceback.extract_stack()
        if not is_inside(frame.filename) and not frame.filename.startswith("<frozen ")
    ]
    return "".join(traceback.StackSummary.from_list(frames).format()).strip()


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies that are made by hand: steps go into the graph of their node."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """Stands for the result of a node. Operators, methods, attributes and functions of torch make new nodes of it.

    It has no value: `if`, `for`, `len` and `int` of it are refused. `a, b = proxy` works, since the line says how many there are.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        overriding.install()  # so that functions of torch look whether an argument takes the call over
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("node", "tracer") or (k.startswith("__") and k.endswith("__") and k not in _DUNDERS):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: Any) -> Proxy:
        """A proxy of a graph of its own."""
        graph, nodes = Graph(), dict[Node, Node]()
        graph.graph_copy(self.node.graph, nodes)
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.node = nodes[self.node]
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame: Any = inspect.currentframe()
        caller = frame.f_back
        at = next((each for each in instructions(caller.f_code) if each.offset == caller.f_lasti), None)
        if at is not None and at.opname == "UNPACK_SEQUENCE":
            return iter([self[i] for i in range(at.argval)])
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _in_assert():
            from ..symbols import _assert

            self.tracer.create_proxy("call_function", _assert, (self, ""), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Its keys, for `**`."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise EngineError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A function of torch was called with it: that is a step."""
        kwargs = kwargs or {}
        proxies: list[Proxy] = []
        map_aggregate((args, kwargs), lambda each: proxies.append(each) if isinstance(each, Proxy) else each)
        if not proxies:
            raise ArgumentValueError(f"{orig_method}: no traced value among its arguments")
        tracer = proxies[0].tracer
        if is_method(orig_method):
            name = orig_method.__name__
            return tracer.create_proxy("call_method", "eq" if name == "__eq__" else name, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, *_as_pytorch_passes_on(orig_method, args, kwargs))


_DUNDERS = frozenset(["__torch_function__"])


def _in_assert() -> bool:
    """Does the line that asks for a truth belong to an `assert`?"""
    frame: Any = sys._getframe(2)
    found = [each for each in instructions(frame.f_code) if each.offset > frame.f_lasti][:3]
    return any(each.opname == "LOAD_ASSERTION_ERROR" for each in found)


def _as_pytorch_passes_on(function: Any, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Functions that are Python in PyTorch pass on what they need by position and all options by name."""
    known = spelled(function)
    if known is None or not known.python:
        return args, kwargs
    if known.name == "einsum" and len(args) == 2 and isinstance(args[1], tuple | list):
        return (args[0], *args[1]), kwargs
    signature = python_signature(function)
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in signature.parameters.values()):
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    bound.apply_defaults()
    needed = {name for name, each in signature.parameters.items() if each.default is each.empty}
    positional = tuple([each for name, each in bound.arguments.items() if name in needed])
    return positional, {name: each for name, each in bound.arguments.items() if name not in needed}


class Attribute(Proxy):
    """An attribute of a traced value. Called, it is a method; otherwise it becomes a step when it is used."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The step that reads the attribute: made when somebody asks."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter, whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """Of the parameter."""
        return self.param.shape

    def size(self, *args: Any) -> Any:
        """Of the parameter."""
        return self.param.size(*args)

    def dim(self) -> int:
        """Of the parameter."""
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        """Of the parameter."""
        return int(self.param.ndim)

    def numel(self) -> int:
        """Of the parameter."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """Of the parameter."""
        return int(self.param.numel())


def _operator(name: str) -> Any:
    target = getattr(operator, name)

    def impl(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    impl.__name__ = f"__{name.strip('_')}__"
    impl.__doc__ = f"A step with operator.{name}."
    return impl


def _reflected(name: str) -> Any:
    target = getattr(operator, name)

    def impl(self: Any, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    impl.__name__ = f"__r{name.strip('_')}__"
    impl.__doc__ = f"A step with operator.{name}, the other way around."
    return impl


reflectable_magic_methods = {
    name: magic_methods[name]
    for name in [
        "add",
        "floordiv",
        "mul",
        "mod",
        "pow",
        "sub",
        "lshift",
        "rshift",
        "or_",
        "and_",
        "xor",
        "truediv",
        "matmul",
        "getitem",
    ]
}
for _name in magic_methods:
    setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name))
for _name in reflectable_magic_methods:
    if _name != "getitem":
        setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]

__getattr__ = rest(__name__)
