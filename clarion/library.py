"""`torch.library`: operations that programs declare. They are Python functions, known by name at `torch.ops`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ._ops import DECLARED, OpOverload, ask_mode, modes_ask, ops
from .absent import rest
from .core.function import Function
from .core.tensor import Tensor
from .errors import ArgumentTypeError, EngineError
from .events import hub


class CustomOpDef:
    """A declared operation: its kernel, and how it is differentiated."""

    def __init__(self, name: str, fn: Callable[..., Any] | None = None, schema: str | None = None) -> None:
        if "::" not in name:
            raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name!r}")
        self._qualname = name
        self._namespace, _, self._name = name.partition("::")
        self._kernel = fn
        self._schema = schema
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._autograd: type[Function] | None = None
        self.__name__ = self._name
        self.__doc__ = getattr(fn, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._kernel is None:
            raise EngineError(f"{self._qualname} has no kernel: it was declared, and never implemented")
        if self._backward is None:
            output = self._compute(*args, **kwargs)
        else:
            if self._autograd is None:
                self._autograd = _function_of(self)
            args, kwargs = self._given(args, kwargs)
            output = self._autograd.apply(*args, *([kwargs] if kwargs else ()))
        if hub.declared is not None:
            hub.declared(self._qualname, args, kwargs, output)
        return output

    @property
    def _opoverload(self) -> OpOverload:
        return getattr(getattr(ops, self._namespace), self._name).default  # type: ignore[no-any-return]

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        """Below the graph: modes see it, then classes that compute for themselves, then the kernel has its turn."""
        wrapping = sys.modules.get("clarion.core.wrapped")  # whoever has such a class has loaded it
        classes = [] if wrapping is None or wrapping.state.off else wrapping.wrapping((*args, *kwargs.values()))
        if classes:
            return wrapping.ask(self._opoverload, classes, args, kwargs, lambda a, k: self._compute(*a, **k))  # type: ignore[union-attr]
        if modes_ask():
            return ask_mode(self._opoverload, (), args, kwargs, lambda a, k: self._compute(*a, **k))
        return self._kernel(*args, **kwargs)  # type: ignore[misc]

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All arguments, those with defaults, too: by their places, and what has none by name."""
        assert self._kernel is not None
        bound = inspect.signature(self._kernel).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """How it is differentiated: as the two halves of an `autograd.Function`."""
        self._backward, self._setup, self._autograd = backward, setup_context, None

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """A kernel for certain devices: taken if it is for the CPU."""

        def take(kernel: Callable[..., Any]) -> Callable[..., Any]:
            kinds = [device_types] if isinstance(device_types, str) else device_types
            if kinds is None or "cpu" in kinds:
                self._kernel, self._autograd = kernel, None
            return kernel

        return take if fn is None else take(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Shapes without data, for compilers: not needed here."""
        return fn

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> Any:
        """Interception below autograd: there is none here."""
        return (lambda f: f) if fn is None else fn

    def register_vmap(self, func: Any = None) -> Any:
        """A rule for `vmap`, which maps the kernel itself here."""
        return (lambda f: f) if func is None else func

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _function_of(op: CustomOpDef) -> type[Function]:
    """The autograd.Function of an operation with a rule."""
    backward, setup = op._backward, op._setup
    assert backward is not None
    assert op._kernel is not None
    # What is given by name alone comes last, in one dictionary, which has no gradient.
    named = any(p.kind is p.KEYWORD_ONLY for p in inspect.signature(op._kernel).parameters.values())

    def forward(*args: Any) -> Any:
        return op._compute(*args[:-1], **args[-1]) if named else op._compute(*args)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        if setup is not None and named:
            setup(ctx=ctx, inputs=inputs[:-1], keyword_only_inputs=inputs[-1], output=output)
        elif setup is not None:
            setup(ctx=ctx, inputs=inputs, output=output)

    def backwards(ctx: Any, *grads: Any) -> Any:
        found = backward(ctx, *grads)
        return (*(found if isinstance(found, (tuple, list)) else (found,)), None) if named else found

    methods = {"forward": forward, "setup_context": setup_context, "backward": backwards}
    name = f"GeneratedBackwardFor_{op._namespace}_{op._name}_default"  # nodes go by it
    return type(Function)(name, (Function,), {title: staticmethod(each) for title, each in methods.items()})


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str] = (),
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Declare a function as an operation: `@custom_op("mylib::twice", mutates_args=())`."""

    def declare(function: Callable[..., Any]) -> CustomOpDef:
        op = CustomOpDef(name, function, schema or infer_schema(function, mutates_args=mutates_args))
        DECLARED[name] = op
        return op

    return declare if fn is None else declare(fn)


triton_op = custom_op


def _declared(op: Any) -> CustomOpDef:
    """The operation that a name, a definition or an entry of `torch.ops` stands for; a name that is new is declared."""
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else op._qualified_op_name if hasattr(op, "_qualified_op_name") else op.name()
    name = re.sub(r"\..*$", "", name)
    if name not in DECLARED:
        DECLARED[name] = CustomOpDef(name)
    found = DECLARED[name]
    if not isinstance(found, CustomOpDef):
        raise ArgumentTypeError(f"{name} is no operation that was declared with torch.library")
    return found


def define(qualname: Any, schema: str, *more: Any, lib: Any = None, tags: Any = ()) -> Any:
    """Declare an operation by its name and schema; `impl` gives it a kernel. Of a Library: for the kernel below it."""
    if isinstance(qualname, Library):
        return _taking(qualname, qualname.define(schema, *more), "")
    DECLARED[qualname] = CustomOpDef(qualname, schema=schema)
    return None


def _taking(library: Any, name: Any, key: str) -> Callable[..., Any]:
    def take(kernel: Callable[..., Any]) -> Callable[..., Any]:
        library.impl(name, kernel, key)
        return kernel

    return take


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Give a declared operation a kernel: taken if it is for the CPU or for all devices. Of a Library: `impl(lib, name, key)`."""
    if isinstance(qualname, Library):
        return _taking(qualname, types, func or "")

    def take(kernel: Callable[..., Any]) -> Callable[..., Any]:
        kinds = [types] if isinstance(types, str) else list(types)
        if any(
            kind.lower() in ("cpu", "default", "compositeexplicitautograd", "compositeimplicitautograd")
            for kind in kinds
        ):
            _declared(qualname)._kernel = kernel
        return kernel

    return take if func is None else take(func)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """A kernel for certain devices."""
    return _declared(op).register_kernel(device_types, func)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """How a declared operation is differentiated."""
    _declared(op).register_autograd(backward, setup_context=setup_context)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: Any = False
) -> Any:
    """Shapes without data, for compilers: not needed here, whether the operation is there or not."""
    return (lambda f: f) if func is None else func


impl_abstract = register_fake


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Interception below autograd: there is none here."""
    return (lambda f: f) if func is None else func


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """A rule for `vmap`, which maps the kernel itself here."""
    return (lambda f: f) if func is None else func


def get_kernel(op: Any, dispatch_key: Any) -> Callable[..., Any]:
    """The kernel of a declared operation."""
    kernel = _declared(op)._kernel
    if kernel is None:
        raise EngineError(f"{_declared(op)._qualname} has no kernel")
    return kernel


class Library:
    """Declarations of one namespace: `Library("mylib", "DEF").define("twice(Tensor x) -> Tensor")`."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns == "prim" and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operation by its schema; its name."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name.partition('.')[0]}", schema)
        return name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **options: Any) -> None:
        """Give an operation of the namespace a kernel. What is put in the place of PyTorch's own is refused."""
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name if "::" in name else f"{self.ns}::{name}"
        if self.ns == "aten":
            raise EngineError(f"torch.library: {name} is clarion's own; it cannot be implemented anew")
        impl(name.partition(".")[0], dispatch_key or self.dispatch_key or "default", fn)

    def _register_fake(self, op_name: Any, fn: Any, *args: Any, **options: Any) -> None:
        """Shapes without data: not needed."""

    def _destroy(self) -> None:
        for name in [name for name in DECLARED if name.startswith(f"{self.ns}::")]:
            del DECLARED[name]


_TYPES = {"Tensor": "Tensor", "int": "SymInt", "float": "float", "bool": "bool", "str": "str", "dtype": "ScalarType"}


def infer_schema(prototype: Callable[..., Any], /, *, mutates_args: Any = (), op_name: str | None = None) -> str:
    """The schema of a function, from its annotations: `(Tensor x, float p=0.5) -> Tensor`."""
    signature = inspect.signature(prototype)
    parts = []
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty:
            raise ValueError(
                f"infer_schema(func): Parameter {parameter.name} must have a type annotation. Got func with signature {signature})"
            )
        default = "" if parameter.default is parameter.empty else f"={parameter.default}"
        parts.append(f"{_type_name(parameter.annotation)} {parameter.name}{default}")
    result = signature.return_annotation
    arrow = "()" if result in (None, "None") else _type_name(result)
    return f"{op_name or ''}({', '.join(parts)}) -> {arrow}"


def _type_name(kind: Any) -> str:
    if isinstance(kind, str):
        kind = kind.removeprefix("torch.")
        return _TYPES.get(kind, kind)
    if isinstance(kind, type) and issubclass(kind, Tensor):
        return "Tensor"
    return _TYPES.get(getattr(kind, "__name__", ""), str(kind))


__getattr__ = rest(__name__)
