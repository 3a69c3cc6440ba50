"""`torch.fx._symbolic_trace`: a program is run with proxies for its arguments, and what it does is written down."""

from __future__ import annotations

import collections
import functools as functools
import inspect
import math
import operator
import threading
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .. import pytree
from ..absent import refusing_class, rest
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..nn import functional
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ._compatibility import compatibility as compatibility
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule
from .names import METHODS_THERE
from .proxy import ParameterProxy, Scope, ScopeContextManager, TracerBase
from .wrapping import _autowrap_check as _autowrap_check
from .wrapping import _patch_wrapped_functions as _patch_wrapped_functions
from .wrapping import _Patcher as _Patcher
from .wrapping import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from .wrapping import _wrapped_methods_to_patch as _wrapped_methods_to_patch
from .wrapping import functions_of
from .wrapping import wrap as wrap

_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__
ScriptObject = refusing_class("torch.jit.ScriptObject")
_lock = threading.RLock()  # a trace changes classes that all threads see
_proxyable_classes: dict[type, None] = {}


class _State(threading.local):
    tracing: bool = False


_state = _State()


def is_fx_tracing() -> bool:
    """Is this code being traced?"""
    return _state.tracing


def is_fx_symbolic_tracing() -> bool:
    """Is this code being traced with symbols?"""
    return _state.tracing


class PHBase:
    """A place in nested arguments that is traced."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class ProxyableClassMeta(type):
    """A class whose objects are made by a step of the graph if a traced value goes into them."""

    def __init__(cls, name: str, bases: Any, attrs: Any) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.__new__(cls)
        if not is_fx_tracing():
            cls.__init__(made, *args, **kwargs)  # type: ignore[misc]
            return made
        from .wrapping import _find_proxy

        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            cls.__init__(made, *args, **kwargs)  # type: ignore[misc]
            return made
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


def _assert_is_none(value: Any, msg: str) -> None:
    assert value is None, msg


class Tracer(TracerBase):
    """Traces a program. A subclass may say what is looked into (`is_leaf_module`) and what becomes of values (`create_arg`)."""

    root: Module

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        functions = functions_of(autowrap_modules) + list(autowrap_functions)
        self._autowrapped = functions  # so that their ids stay theirs
        self._autowrap_function_ids = {id(each) for each in functions}
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self.tensor_attrs: dict[Any, str] = {}
        self._qualname_counter: dict[str, int] = collections.Counter()

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name under which the root holds nothing yet."""
        count = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{count}"):
            count += 1
        self._qualname_counter[prefix] = count + 1
        return f"{prefix}{count}"

    # Arguments ------------------------------------------------------------------------------------------

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node: what the module holds is read from there, other tensors are kept as constants."""
        if isinstance(a, Parameter):
            for name, each in self.root.named_parameters():
                if a is each:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, each in self.root.named_buffers():
                if a is each:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", self._constant(a), (), {})
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            parts = tuple([self.create_arg(each) for each in a])
            return self.create_node("call_function", type(a), parts, {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(tuple(a) if isinstance(a, Size) else a)

    def _constant(self, a: Tensor) -> str:
        name = self.tensor_attrs.get(a)
        if name is None:
            name = self.tensor_attrs[a] = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, name, a)
        return name

    # Modules --------------------------------------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Is a call of this module one step? So are all of torch.nn but Sequential."""
        place = m.__module__
        return place.startswith(("torch.nn", "clarion.nn", "torch.ao.nn")) and type(m).__name__ != "Sequential"

    def path_of_module(self, mod: Module) -> str:
        """The path of a module in the root."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, each in self.root.named_modules():
            if mod is each:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module is called: one step if it is a leaf, what it does otherwise."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            key = f"{self.scope.module_path}@{calls}" if calls else self.scope.module_path
            self.module_stack[key] = (path, type(m))
            self.num_calls[path] = calls + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """A module is asked for something it holds: parameters are steps of the graph."""
        members: Any = ()
        if isinstance(attr_val, Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        for name, each in members:
            if attr_val is each:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self._read(name, each)
                return parameter_proxy_cache[name]
        return attr_val

    def _read(self, name: str, value: Any) -> Any:
        if self.param_shapes_constant and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
            make = lambda node: ParameterProxy(self, node, name, value)  # noqa: E731
            return self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=make)
        return self.create_proxy("get_attr", name, (), {})

    # The arguments of the program -----------------------------------------------------------------------

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> tuple[Any, list[Any]]:
        """The function to call and the proxies for its arguments."""
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        names = iter(code.co_varnames)
        total = code.co_argcount + code.co_kwonlyargcount
        args: list[Any] = []
        skip = 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            skip = 1
            next(names)
            args.append(self.root)
        signature = inspect.signature(analysed)
        if isinstance(concrete_args, tuple):
            if len(signature.parameters) - skip != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(signature.parameters) - skip} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip([*signature.parameters][skip:], concrete_args, strict=True))
        names_used = [next(names) for _ in range(skip, total)]
        args += [self._placeholder(name, concrete_args, signature, analysed) for name in names_used]
        if code.co_kwonlyargcount > 0 or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._placeholder("*" + next(names), concrete_args, signature, analysed))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._placeholder("**" + next(names), concrete_args, signature, analysed))
            root_fn = _with_plain_arguments(root_fn, len(args))
        if concrete_args is not None and any(_nested(each) for each in concrete_args.values()):
            root_fn, args = self._flattened(root_fn, args, code.co_varnames[:total], skip)
        return root_fn, args

    def _placeholder(self, name: str, concrete: Any, signature: inspect.Signature, function: Any) -> Any:
        if concrete is not None and name in concrete:
            count = [0]

            def replaced(value: Any) -> Any:
                count[0] += 1
                if isinstance(value, PHBase):
                    return self.create_proxy("placeholder", f"{name}_{count[0]}", (), {})
                return self._specialised(name, count[0], value, signature)

            return pytree.tree_map(replaced, concrete[name])
        bare = name.lstrip("*")
        parameter = signature.parameters.get(bare)
        default: tuple[Any, ...] = ()
        if name[0] != "*" and parameter is not None and parameter.default is not inspect.Parameter.empty:
            default = (parameter.default,)
        return self.create_proxy("placeholder", name, default, {}, type_expr=_annotations(function).get(name))

    def _specialised(self, name: str, count: int, value: Any, signature: inspect.Signature) -> Any:
        """An argument that is known while the program is traced: later calls must give the same."""
        parameter = signature.parameters.get(name)
        default = () if parameter is None or parameter.default is inspect.Parameter.empty else (parameter.default,)
        out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
        if type(value) in (bool, int, float) or value is None:
            message = f"{name} has been specialized to have value {value} but got another value"
            if value is None:
                self.create_proxy("call_function", _assert_is_none, (out, message), {})
            else:
                from ..symbols import _assert

                self.create_proxy("call_function", _assert, (out == value, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the "
                "user to make sure that your inputs match the inputs you specialized the function with.",
                stacklevel=2,
            )
        return value

    def _flattened(self, root_fn: Any, args: list[Any], names: tuple[str, ...], skip: int) -> tuple[Any, list[Any]]:
        """Arguments that are nested containers are taken apart: each leaf is a placeholder."""
        leaves, spec = pytree.tree_flatten(list(args[skip:]))
        self.graph._codegen = codegen = _PyTreeCodeGen(_PyTreeInfo(list(names[skip:]), spec, None))
        own = args[:skip]

        def flat(*values: Any) -> Any:
            nested = pytree.tree_unflatten(list(values[skip:]), spec)
            result, out_spec = pytree.tree_flatten(root_fn(*own, *nested))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        flat.__annotations__ = {}
        return flat, [*own, *leaves]

    # The trace ------------------------------------------------------------------------------------------

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of a module's `forward`, or of a function."""
        with _lock:
            before, _state.tracing = _state.tracing, True
            try:
                return self._trace(root, concrete_args)
            finally:
                _state.tracing = before

    def _trace(self, root: Any, concrete_args: Any) -> Graph:
        if isinstance(root, Module):
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            self.root, function = root, getattr(type(root), self.traced_func_name)
            self.root_module_name = type(root).__name__
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, function = Module(), root
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        self._collect(self.root, ())
        if not callable(function):
            raise AssertionError(f"Expected a function, got {type(function)}")
        code = getattr(function, "__code__", None)
        if code is not None:
            self.graph._traced = f" from {code.co_filename}:{code.co_firstlineno} in {code.co_name}"
        table = function.__globals__ if hasattr(function, "__globals__") else {}
        function, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        with _Patcher() as patches:
            self._patch_modules(patches)
            _patch_wrapped_functions(patches)
            _autowrap_check(patches, table, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patches, vars(module), self._autowrap_function_ids)
            result = self.create_arg(function(*args))
            returns = _annotations(function).get("return")
            self.create_node("output", "output", (result,), {}, type_expr=returns)
        self.submodule_paths = None
        return self.graph

    def _collect(self, module: Module, prefix: tuple[str, ...]) -> None:
        """Tensors that modules hold without having registered them."""
        for name, value in vars(module).items():
            if isinstance(value, Tensor):
                self.tensor_attrs[value] = ".".join((*prefix, name))
        for name, child in module.named_children():
            self._collect(child, (*prefix, name))

    def _patch_modules(self, patches: _Patcher) -> None:
        cache: dict[str, Any] = {}
        tracer = self

        def module_getattr(mod: Any, attr: str) -> Any:
            return tracer.getattr(attr, _orig_module_getattr(mod, attr), cache)

        def module_call(mod: Any, *args: Any, **kwargs: Any) -> Any:
            table = getattr(getattr(mod, "forward", None), "__globals__", {})
            _autowrap_check(patches, table, tracer._autowrap_function_ids)
            return tracer.call_module(mod, lambda *a, **k: _orig_module_call(mod, *a, **k), args, kwargs)

        for name in METHODS_THERE:
            patches.patch(vars(functional), name, operator.methodcaller(name))
        patches.patch_method(Module, "__getattr__", module_getattr)
        patches.patch_method(Module, "__call__", module_call)

    def __deepcopy__(self, memo: Any) -> Tracer:
        made = type(self).__new__(type(self))
        made.__dict__.update({name: each for name, each in vars(self).items() if name != "_autowrap_search"})
        made._autowrap_search = list(self._autowrap_search)
        return made


def _annotations(function: Any) -> dict[str, Any]:
    """The annotations of a program; those of clarion's own code are for its readers."""
    own = str(getattr(function, "__module__", "")).startswith("clarion.")
    return {} if own else getattr(function, "__annotations__", {})


def _nested(value: Any) -> bool:
    return isinstance(value, list | dict | tuple)


def _with_plain_arguments(function: Any, count: int) -> Any:
    """The same function with all its arguments by position: `*args` and `**kwargs` are given as they are."""
    code: CodeType = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Trace a module or a function; the GraphModule that does the same."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


__getattr__ = rest(__name__)
