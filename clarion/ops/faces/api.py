"""From an operation to its public faces: `torch.name`, `Tensor.name`, `Tensor.name_` and `out=`.

    @public(inplace=True, out=True)
    def clamp(input, min=None, max=None, *, run=call):
        return run(clamp_op, input, min, max)

The function parses PyTorch's arguments once and ends in `run(op, ...)`: `call` computes, `inplace`
writes into the first input. Operators (`__add__`) are bound to `op.call` directly: they are the hot path.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...core import modes
from ...core.devices import write, xp_of
from ...core.inplace import check_type, inplace, refuse, refuse_history, refuse_overlap, wrote
from ...core.op import Op
from ...core.overriding import tables
from ...core.tensor import Tensor
from ...errors import EngineError, NotSupportedError, not_a_tensor
from ...kernels.batched.levels import Mapped, refuse_random_out, refuse_rule
from .autocast import CASTS
from .out_types import RENAMED, by_out, refuse_type


class Names(dict[str, Any]):
    """Public names and what they stand for. A name is given once: the order of imports decides nothing."""

    def __setitem__(self, name: str, value: Any) -> None:
        if self.setdefault(name, value) is not value:
            raise ValueError(f"{name!r} is registered twice: {self[name]!r} and {value!r}")

    def replace(self, name: str, value: Any) -> None:
        """Put another function behind a name that is there: a quicker form of it, or a stricter one."""
        if name not in self:
            raise ValueError(f"{name!r} is not registered, and cannot be replaced")
        super().__setitem__(name, value)


FUNCTIONS = Names()
METHODS = Names()
NN_FUNCTIONAL = Names()  # re-exported by clarion/nn/functional.py
tables.extend((FUNCTIONS, METHODS, NN_FUNCTIONAL))

F = Callable[..., Any]


def call(op: Op, *args: Any) -> Any:
    """Run an operation out of place."""
    return op.call(*args)


def public(
    name: str | None = None,
    *,
    function: bool = True,
    method: bool = True,
    inplace: bool = False,
    out: bool = False,
    aliases: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Register a function under PyTorch's name as function, method, in-place method, with `out=`."""

    def register(fn: F) -> F:
        title = name or fn.__name__.rstrip("_")
        shown = with_out(title, fn) if out else fn
        for each in (title, *aliases):
            if function:
                FUNCTIONS[each] = shown
            if method:
                METHODS[each] = fn
            if inplace:
                writer = _inplace_form(fn, each + "_")
                METHODS[each + "_"] = writer
                FUNCTIONS.setdefault(each + "_", writer)
        return shown

    return register


def method(name: str | None = None) -> Callable[[F], F]:
    """Register a function as a Tensor method only."""
    return public(name, function=False)


def functional(name: str | None = None, *, inplace: bool = False) -> Callable[[F], F]:
    """Register a function of `torch.nn.functional` (and `name_`, which writes into its input)."""

    def register(fn: F) -> F:
        title = name or fn.__name__.rstrip("_")
        NN_FUNCTIONAL[title] = fn
        if inplace:
            NN_FUNCTIONAL[title + "_"] = _inplace_form(fn, title + "_")
        return fn

    return register


# Written at places that are read meanwhile, a tensor would depend on the order.
_APART = frozenset(("index_add_", "index_copy_", "index_fill_", "put_", "scatter_", "scatter_add_", "scatter_reduce_"))


def _inplace_apart(op: Op, x: Any, *args: Any) -> Any:
    """`inplace` where no other operand may lie in the memory that is written to."""
    refuse_overlap(x, args)
    return inplace(op, x, *args)


def _inplace_in_step(op: Op, x: Any, *args: Any) -> Any:
    """`inplace` where an operand may lie in that memory element by element, as the mask of `x.masked_fill_(x, 0)`."""
    refuse_overlap(x, args, partly=True)
    return inplace(op, x, *args)


# They look at their arguments at length; PyTorch looks first whether the tensor may be written to.
_LEAF_FIRST = frozenset(
    """addbmm_ addmm_ addmv_ addr_ baddbmm_ cumprod_ cumsum_ index_add_ index_copy_ index_fill_ index_reduce_ masked_scatter_ put_
    renorm_ scatter_ scatter_add_ scatter_reduce_ tril_ triu_""".split()  # noqa: SIM905
)


def _inplace_form(fn: Any, name: str) -> F:
    """The function that writes."""
    made = _writing_form(fn, name)
    if name not in _LEAF_FIRST:
        return made

    @functools.wraps(made)
    def writer(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return made(self, *args, **kwargs)
        except (RuntimeError, IndexError):
            if isinstance(self, Tensor):
                refuse_history(self, name)
            raise

    return writer


def _writing_form(fn: Any, name: str) -> F:
    """The function that writes: the same code with another `run`, or, where mixed precision may exchange that code, a call of it."""
    run = _inplace_apart if name in _APART else _inplace_in_step if name == "masked_fill_" else inplace
    if (
        type(fn) is FunctionType
        and "run" in (fn.__kwdefaults__ or ())
        and all(fn is not each.function for each in CASTS)
    ):
        made = FunctionType(fn.__code__, fn.__globals__, name, fn.__defaults__, fn.__closure__)
        made.__kwdefaults__, made.__annotations__ = fn.__kwdefaults__ | {"run": run}, dict(fn.__annotations__)
        made.__qualname__, made.__doc__, made.__module__ = name, fn.__doc__, fn.__module__
        return made

    @functools.wraps(fn)
    def writer(self: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(self, *args, run=run, **kwargs)

    writer.__name__ = name
    return writer


def with_numpys_names(fn: F) -> F:
    """`fn`, which also takes NumPy's names of arguments. (`with_out` does that, too: this is for what is a method as well.)"""
    others = _other_names(fn)

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return fn(*args)
        try:
            return fn(*args, **kwargs)
        except TypeError:
            if others.isdisjoint(kwargs):
                raise
            return fn(*args, **_renamed(others, kwargs))

    return wrapper  # type: ignore[return-value]


def _other_names(fn: Any) -> set[str]:
    """NumPy's names that are none of the function's own."""
    code = inspect.unwrap(fn).__code__
    return RENAMED.keys() - code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _renamed(names: set[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments: those that have NumPy's `names` with PyTorch's."""
    if names.isdisjoint(kwargs):
        return kwargs
    return {RENAMED[name] if name in names else name: value for name, value in kwargs.items()}


# What has no derivative may be written to `out` whatever requires a gradient.
_WITHOUT_GRADIENT = frozenset(
    """all any argmax argmin bucketize eq ge gt le lt ne greater greater_equal less less_equal not_equal floor_divide isin
    logical_and logical_not logical_or logical_xor nonzero searchsorted""".split()  # noqa: SIM905
)


def in_one_step(name: str, op: Op) -> None:
    """A write along a dimension, `x.name(dim, numbers, elements)`, is tried as one step first, where nothing has a history (Op.quick_write)."""
    usual = METHODS[name]

    @functools.wraps(usual)
    def writer(self: Any, dim: Any, index: Any, *more: Any, **others: Any) -> Any:
        if (
            len(more) == 1
            and not others
            and not modes.special
            and op.quick_write(self, index, more[0], dim) is not None
        ):
            return self
        return usual(self, dim, index, *more, **others)

    METHODS.replace(name, writer)


def with_out(name: str, fn: F) -> F:
    """`fn` with PyTorch's `out=` argument."""
    other_names = _other_names(fn)

    @functools.wraps(fn)
    def wrapper(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            if not kwargs:
                return fn(*args)
            try:
                return fn(*args, **kwargs)
            except TypeError:
                if other_names.isdisjoint(kwargs):
                    raise
                return fn(*args, **_renamed(other_names, kwargs))
        kwargs = _renamed(other_names, kwargs)
        targets = out if isinstance(out, (tuple, list)) else (out,)
        for target in targets:
            if not isinstance(target, Tensor):
                raise not_a_tensor(name, "out", target)
        if modes.batches and any(_is_mapped(a) for a in _flat((*args, *kwargs.values(), *targets))):
            refuse_rule(f"{name}.out", out=True)
        refuse_random_out(name)
        given = (*args, *kwargs.values(), *targets)
        if name not in _WITHOUT_GRADIENT and modes.recording() and any(map(_wants_grad, given)):
            raise EngineError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
        if modes.special and modes.dual is not None and modes.dual.touches(_flat((*args, *kwargs.values(), *targets))):
            raise NotSupportedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
            )
        kwargs = by_out(name, args, kwargs, targets)
        with modes.no_grad():
            result = fn(*args, **kwargs)
            results = result if isinstance(result, tuple) else (result,)
            for place, (target, value) in enumerate(zip(targets, results, strict=True)):
                refuse_type(name, target, value, place)
                write_out(target, value)
        return type(result)(*targets) if hasattr(result, "n_fields") else out

    return wrapper


def _flat(values: Any) -> list[Any]:
    """Arguments, with the members of lists and tuples among them."""
    return [each for value in values for each in (value if isinstance(value, (list, tuple)) else (value,))]


def _is_mapped(value: Any) -> bool:
    return isinstance(value, Tensor) and isinstance(value._array, Mapped)


def _wants_grad(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.requires_grad
    return isinstance(value, (list, tuple)) and any(_wants_grad(v) for v in value)


def no_gradient(function: str, **arguments: Any) -> None:
    """Refuse arguments that require a gradient which the function cannot give: they would silently never get one."""
    for name, value in arguments.items():
        if value is not None and value.requires_grad and modes.recording():
            raise EngineError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                f"have requires_grad True. Pass {name}.detach() if no gradient is wanted."
            )


def write_out(target: Tensor, value: Tensor) -> None:
    """Put a result into the tensor given as `out=`, resizing it if it has another shape."""
    refuse(target, "out")
    check_type(target, value._array.dtype)
    if target._array.shape != value._array.shape:
        if target._array.size:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(target._array.shape)}, which "
                f"does not match the required output shape {list(value._array.shape)}. This behavior is deprecated, and "
                "in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        # In memory it lies as the result does, as PyTorch's.
        target._array = xp_of(target._array).empty_like(value._array, target._array.dtype)
    write(target._array, value._array)
    wrote(target)


def attach() -> None:
    """Put all registered methods on Tensor, and call it what programs call it."""
    Tensor.__module__ = "clarion"
    for name, fn in METHODS.items():
        setattr(Tensor, name, fn)
