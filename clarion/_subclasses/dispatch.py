"""What the `__torch_dispatch__` of a class is given: operations of ATen, with inputs first and then parameters.

See NOTE [Wrapped] in core/wrapped.py. Calling the operation with other tensors computes it with them.
"""

from __future__ import annotations

from typing import Any

from .._ops import RUNNING, OpOverload, ask_mode, in_atens_order, in_own_order, modes_ask, ops, overload_of
from ..core import overriding, wrapped
from ..core.dtypes import bool_
from ..core.inplace import rebase, refuse, wrote
from ..core.modes import no_grad, recording
from ..core.namespace import lifted
from ..core.overriding import Disabled
from ..core.tensor import Tensor
from ..ops.faces.api import FUNCTIONS, METHODS, NN_FUNCTIONAL
from ..ops.indexing import writing
from ..ops.indexing.reading import parse, take_index, walk
from ..ops.indexing.writing import put_index, setitem
from .pieces import PIECES

# Public functions that are no operations here, or that PyTorch shows under their own name: their names in ATen.
_LIKE = ("ones_like", "zeros_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
_COMPARED = ("allclose", "equal")
_METHODS = ("copy_", "new_zeros", "new_ones", "new_full", "new_empty", *_COMPARED)
# Functions that look at values before they compute: as long as nothing is recorded, the class is given them whole.
_WHOLE = (
    "one_hot",
    "multinomial",
    "bincount",
    "histc",
    "quantile",
    "nanquantile",
    "take",
    "take_along_dim",
    "kron",
    "combinations",
)
_SHOWN = ("t",)  # they end in an operation that is recorded


def _onward(overload: OpOverload, run: Any) -> Any:
    def onward(args: Any, kwargs: Any) -> Any:
        left = [] if wrapped.state.off else wrapped.wrapping((*args, *kwargs.values()))
        return _ask(overload, left, args, kwargs, run) if left else run(args, kwargs)

    return onward


def _ask(overload: OpOverload, classes: Any, args: Any, kwargs: Any, run: Any) -> Any:
    """Give an operation to the classes, until one of them has an answer."""
    if modes_ask():
        result = ask_mode(overload, classes, args, kwargs, _onward(overload, run))
        if result is not NotImplemented:
            return result
    before = RUNNING.overload, RUNNING.run
    named, wrapped.state.named = wrapped.state.named, None
    RUNNING.overload, RUNNING.run = overload, run
    try:
        with no_grad(), Disabled():
            for cls in classes:
                result = cls.__torch_dispatch__(overload, tuple(classes), args, kwargs)
                if result is not NotImplemented:
                    return result
    finally:
        RUNNING.overload, RUNNING.run = before
        wrapped.state.named = named
    names = ", ".join(cls.__name__ for cls in classes)
    raise TypeError(
        f"Multiple dispatch failed for 'torch._ops.{overload}'; all __torch_dispatch__ handlers returned NotImplemented: {names}"
    )


def dispatch(op: Any, inputs: tuple[Any, ...], params: tuple[Any, ...], classes: Any, written: bool = False) -> Any:
    """An operation (or a function, by name) for these classes."""
    if isinstance(op, str):
        function = FUNCTIONS.get(op) or METHODS[op]
        return _ask(
            _overload(op), classes, (*inputs, *params), {}, lambda args, kwargs: _own(function)(*args, **kwargs)
        )
    if wrapped.state.named is not None:
        overload, args, kwargs, run = wrapped.state.named
        return _ask(overload, classes, args, kwargs, run)
    named = _NAMED.get(op.name, ())
    kwargs = {name: each for name, each in zip(named, params[len(params) - len(named) :], strict=True) if each != 1}
    params = _without_defaults(params[: len(params) - len(named)], op.defaults[: len(op.defaults) - len(named)])
    given: tuple[Any, ...] = (list(inputs), *params) if op.variadic else in_atens_order(op.name, (*inputs, *params))
    call = (lambda *args: wrapped.writing.inplace(op, *args)) if written else op.call

    def run(args: Any, kwargs: Any) -> Any:
        return call(*in_own_order(op.name, args), *[kwargs.get(name, 1) for name in named])

    packet = None
    if op.name in _REDUCTIONS:
        given, packet = _shown_reduction(op.name, *given)
        run = lambda args, kwargs: call(*_own_reduction(op, *args, **kwargs))  # noqa: E731
    if op.name == "cat":  # ATen's finds the type of its result itself
        given, run = given[:-1], lambda args, kwargs: _own(FUNCTIONS["cat"])(*args, **kwargs)

    overload = overload_of(op.name, given)
    if packet is not None:
        overload = getattr(overload._overloadpacket, packet)
    if written:
        name = overload._overloadpacket.__name__.removesuffix("_") + "_"
        overload = getattr(getattr(ops.aten, name), overload._overloadname)
    return _ask(overload, classes, given, kwargs, run)


# Reductions: several dimensions, or one, and `keepdim`. ATen's list the dimensions, and are not given what changes nothing.
_SEVERAL = frozenset(["sum", "nansum", "mean", "prod", "any", "all", "count_nonzero", "logsumexp", "amax", "amin"])
_REDUCTIONS = _SEVERAL | {"max_dim", "min_dim", "argmax", "argmin", "mode", "median_dim", "nanmedian_dim"}
_BY_COUNT = {
    "any": ("default", "dim", "dims"),
    "all": ("default", "dim", "dims"),
    "count_nonzero": ("default", "default", "dim_IntList"),
}


def _shown_reduction(name: str, x: Any, dim: Any = None, keepdim: bool = False) -> tuple[tuple[Any, ...], str | None]:
    """A reduction's arguments as ATen has them, and which of its forms takes so many dimensions, where that depends on them."""
    count = 0 if dim is None else len(dim) if isinstance(dim, tuple) else 1
    if isinstance(dim, tuple):
        dim = dim[0] if count == 1 and (name in _BY_COUNT or name == "prod") else list(dim)
    form = _BY_COUNT[name][min(count, 2)] if name in _BY_COUNT else None
    return (x, dim, True) if keepdim else (x,) if dim is None else (x, dim), form


def _own_reduction(op: Any, x: Any, dim: Any = None, keepdim: bool = False) -> tuple[Any, ...]:
    """The arguments of clarion's operation, from ATen's."""
    n = max(x.dim(), 1)
    if op.name in _SEVERAL and dim is not None:
        dim = tuple([each % n for each in (dim if isinstance(dim, (list, tuple)) else (dim,))])
    elif dim is not None:
        dim %= n
    return (x, dim, keepdim) if len(op.params) == 2 else (x, dim)


# Parameters at the end that ATen takes by name only; they are 1 if they are not given.
_NAMED = dict.fromkeys(("addmm", "addmv", "addbmm", "baddbmm", "addr"), ("beta", "alpha")) | {
    "add_scaled": ("alpha",), "sub_scaled": ("alpha",), "index_add": ("alpha",),
}  # fmt: skip


def _without_defaults(params: tuple[Any, ...], defaults: tuple[Any, ...]) -> tuple[Any, ...]:
    """Parameters at the end that are what they are without being given are not shown."""
    while params and defaults and type(params[-1]) is type(defaults[-1]) and params[-1] == defaults[-1]:
        params, defaults = params[:-1], defaults[:-1]
    return params


def _overload(name: str) -> OpOverload:
    return getattr(getattr(ops.aten, name), "default")  # type: ignore[no-any-return]  # noqa: B009


def _own(function: Any) -> Any:
    return overriding._under.get(function, function)


def _by_name(function: Any, name: str) -> Any:
    """A function that makes its result from nothing but its arguments: given to the class as it is, never recorded."""

    def look(*args: Any, **kwargs: Any) -> Any:
        classes = () if wrapped.state.off else wrapped.wrapping((*args, *kwargs.values()))
        own = overriding._under[function]
        if not classes:
            return own(*args, **kwargs)
        result = _ask(_overload(name), classes, args, kwargs, lambda a, k: own(*a, **k))
        if name == "detach":
            wrapped.a_tensor(result)._vc = args[0]._counter()  # one memory, whatever it is made of
        if name[-1] == "_" and type(args[0]) in wrapped.CLASSES:
            args[0]._counter().n += 1
        return result

    return look


def _whole(function: Any, name: str) -> Any:
    """A function that is given to the class as it is, unless its result would have a history."""
    by_name = _by_name(function, name)

    def look(*args: Any, **kwargs: Any) -> Any:
        if recording() and any(isinstance(each, Tensor) and each.requires_grad for each in args):
            return overriding._under[function](*args, **kwargs)
        return by_name(*args, **kwargs)

    return look


def _shown_as(function: Any, name: str) -> Any:
    """A function whose one operation has another name here: the class sees the function."""

    def look(*args: Any, **kwargs: Any) -> Any:
        own = overriding._under[function]
        if wrapped.state.off or not wrapped.wrapping(args):
            return own(*args, **kwargs)
        before = wrapped.state.named
        wrapped.state.named = (_overload(name), args, kwargs, lambda a, k: own(*a, **k))
        try:
            return own(*args, **kwargs)
        finally:
            wrapped.state.named = before

    return look


def _indexed(x: Any, tensors: Any) -> Any:
    """Reading with index tensors and masks: ATen's `index` is given a list with None for each dimension that is left alone."""
    own = overriding._under[take_index]
    classes = () if wrapped.state.off else wrapped.wrapping((x, *(each for _, each in tensors)))
    if not classes:
        return own(x, tensors)
    indices = _listed(tensors)

    def run(args: Any, kwargs: Any) -> Any:
        return own(args[0], _placed(args[1]))

    overload = ops.aten.index.Tensor
    if not (recording() and x.requires_grad):
        return _ask(overload, classes, (x, indices), {}, run)
    before = wrapped.state.named
    wrapped.state.named = (overload, (x, indices), {}, run)
    try:
        return own(x, tensors)
    finally:
        wrapped.state.named = before


def _listed(tensors: Any) -> list[Any]:
    """Index tensors as ATen has them, from those with their dimensions."""
    indices: list[Any] = []
    end = 0
    for dim, each in tensors:
        indices += [None] * (dim - end)
        indices.append(each)
        end = dim + _dims(each)
    return indices


def _placed(indices: Any) -> list[Any]:
    """Index tensors with their dimensions, from ATen's list."""
    found, dim = [], 0
    for each in indices:
        if each is not None:
            found.append((dim, each))
        dim += 1 if each is None else _dims(each)
    return found


def _put(x: Any, target: Any, tensors: Any, values: Any, accumulate: bool) -> None:
    """Writing to where index tensors and masks say."""
    own = overriding._under[put_index]
    classes = () if wrapped.state.off else wrapped.wrapping((x, values, *(each for _, each in tensors)))
    recorded = recording() and (x.requires_grad or values.requires_grad)
    if not classes or (recorded and (x._view is not None or type(x) not in wrapped.CLASSES)):
        own(x, target, tensors, values, accumulate)
        return

    def run(args: Any, kwargs: Any) -> Any:
        x, indices, values, *rest = args
        own(x, x._array, _placed(indices), values, bool(rest and rest[0]))
        return x

    given = (x, _listed(tensors), values, *([True] if accumulate else ()))
    if not recorded:
        _ask(ops.aten.index_put_.default, classes, given, {}, run)
        x._counter().n += 1
        return
    op, inputs, params, spread = writing.put_plan(x._array, tensors, values, accumulate)
    inputs = (x, spread, *inputs)
    refuse(x, "index_put_")
    before = writing._before(op, x, inputs)
    _ask(ops.aten.index_put_.default, classes, given, {}, run)
    wrote(x)
    rebase(op, x, (before, *inputs[1:]), params)


def _assigned(self: Any, index: Any, value: Any) -> None:
    """`self[index] = value`: a view is taken, and written to."""
    own = overriding._under[setitem]
    items = None if wrapped.state.off else parse(index)
    recorded = recording() and (self.requires_grad or (isinstance(value, Tensor) and value.requires_grad))
    if items is None or not wrapped.wrapping((self, value, items)):
        own(self, index, value)
        return
    part, tensors = walk(self, items, lifted)
    if recorded and (not tensors or part is not self):
        own(self, index, value)
    elif tensors:
        _put(part, None, tensors, value if isinstance(value, Tensor) else _tensor_of(part, value), False)
    elif isinstance(value, Tensor):
        METHODS["copy_"](part, value)
    else:
        METHODS["fill_"](part, value)
    if part is not self:
        self._counter().n += 1


def _tensor_of(like: Any, number: Any) -> Any:
    return FUNCTIONS["full"]((), number, dtype=like.dtype)


def _dims(index: Any) -> int:
    """How many dimensions an index takes: a mask takes all that it has."""
    return index.dim() if index.dtype is bool_ else 1


def _item(self: Any) -> Any:
    if type(self) in wrapped.CLASSES and not wrapped.state.off:
        return _ask(_overload("_local_scalar_dense"), [type(self)], (self,), {}, lambda a, k: a[0].item())
    return overriding._under[Tensor.item](self)  # type: ignore[attr-defined]


def install() -> None:
    """Let the functions look that are no operations."""
    wrapped.dispatch, wrapped.ask = dispatch, _ask
    wrapped.PIECES.update(PIECES)
    for name in (*_LIKE, *_COMPARED):
        overriding.look_below(FUNCTIONS[name], _by_name(FUNCTIONS[name], name))
    for table in (FUNCTIONS, METHODS, NN_FUNCTIONAL):
        for name in _WHOLE:
            if name in table and table[name] not in overriding._under:
                overriding.look_below(table[name], _whole(table[name], name))
    for name in _METHODS:
        if name in METHODS and METHODS[name] not in overriding._under:
            overriding.look_below(METHODS[name], _by_name(METHODS[name], name))
    overriding.look_below(Tensor.detach, _by_name(Tensor.detach, "detach"))
    overriding.look_below(Tensor.item, _item)  # type: ignore[attr-defined]
    overriding.look_below(take_index, _indexed)
    overriding.look_below(put_index, _put)
    overriding.look_below(setitem, _assigned)
    for table in (FUNCTIONS, METHODS):
        for name in _SHOWN:
            if table[name] not in overriding._under:
                overriding.look_below(table[name], _shown_as(table[name], name))


install()
