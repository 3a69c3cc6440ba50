"""Tensors that wrap others: they have a shape and a type, no memory, and their class computes (`__torch_dispatch__`).

NOTE [Wrapped]: nothing here runs until the first such tensor is made. Then every operation looks whether one is among its
inputs (`install`): if so, the class is given the operation below the graph (`dispatch`, told by the room above), and the call
is recorded as any other. Gradient rules run in the world of Tensors from then on, without a graph of their own, so that
they reach the class by the same way.
"""

from __future__ import annotations

import functools
import math
import threading
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from ..errors import ArgumentTypeError, EngineError, NoDataError, NotSupportedError
from . import backward, modes, overriding
from . import inplace as writing
from . import tensor as tensors
from .description import Description, computes
from .devices import _BY_ARRAY, CPU, HOST, Kind, device
from .dtypes import default_float
from .inplace import refuse
from .namespace import OPS
from .recording import finish, record
from .tensor import Tensor, new_object


class _State(threading.local):
    off: bool = False  # do classes see no operations in this thread?
    named: Any = None  # the public function that is running, if PyTorch shows it under its own name


state = _State()
CLASSES: set[type] = set()  # that compute for themselves
_KEPT_APART = ("_grad", "_hooks", "_number", "_story", "_is_parameter")  # of one tensor, not of its values


class WrapperArray:
    """Stands in `_array` of a tensor without memory: what is known of it, its class, and its attributes."""

    __slots__ = ("attributes", "cls", "device", "dtype", "offset", "owner", "shape", "slots", "strides")

    base = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...], where: device, cls: type) -> None:
        self.shape, self.dtype, self.strides, self.device, self.cls = shape, dtype, strides, where, cls
        self.offset = 0  # in bytes
        self.attributes: dict[str, Any] = {}  # the owner's own, without it: a result may be needed after it is gone
        self.owner: Any = lambda: None
        self.slots: dict[str, Any] = {}

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    flags = property(lambda self: self)
    writeable = True

    @property
    def c_contiguous(self) -> bool:
        """Would the elements lie in order, if there were any?"""
        return self.strides == packed(self.shape, self.itemsize)

    def __len__(self) -> int:
        return self.shape[0]

    def copy(self, order: str = "K") -> WrapperArray:
        """There is nothing to copy."""
        return self

    def tensor(self) -> Tensor:
        """A tensor of the class with the same attributes, outside the graph."""
        made: Any = new_object(self.cls)
        tensors._blank(made, self)
        made.__dict__.update({name: each for name, each in self.attributes.items() if name not in _KEPT_APART})
        self.settle(self.owner())
        for name, each in self.slots.items():
            setattr(made, name, each)
        return made  # type: ignore[no-any-return]

    def settle(self, owner: Any) -> None:
        """Keep what the owner has in slots, which no dict holds."""
        if owner is not None and (names := slots_of(self.cls)):
            self.slots = {name: getattr(owner, name) for name in names if hasattr(owner, name)}

    def item(self) -> Any:
        """The one element, as the class says."""
        return self.tensor().item()

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NoDataError(
            f"{self.cls.__name__} has no memory of its own, and this operation is not given to its __torch_dispatch__ by clarion"
        )

    __array_ufunc__ = __array_function__ = __array__ = __getitem__ = __setitem__ = __iadd__ = __float__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


@functools.cache
def slots_of(cls: type) -> tuple[str, ...]:
    """The slots that a class adds to Tensor's."""
    found: list[str] = []
    for base in cls.__mro__[: cls.__mro__.index(Tensor)]:
        names = vars(base).get("__slots__", ())
        found += [names] if isinstance(names, str) else names
    return tuple([name for name in found if name not in ("__dict__", "__weakref__")])


class _Nothing:
    """The array library of arrays without memory: it makes ordinary ones, for gradients to begin with, and computes nothing."""

    any_device = True  # a gradient may be an ordinary tensor though the value is none
    ones, zeros = staticmethod(HOST.xp.ones), staticmethod(HOST.xp.zeros)
    empty, full = staticmethod(HOST.xp.empty), staticmethod(HOST.xp.full)

    def ones_like(self, array: Any) -> Any:
        """Ones of the same shape and type."""
        return self.ones(array.shape, array.dtype)

    def zeros_like(self, array: Any) -> Any:
        """Zeros of the same shape and type."""
        return self.zeros(array.shape, array.dtype)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """What has no memory shares none."""
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoDataError(f"a tensor without memory of its own was given to {name}, which is not given to its class")


class _Wrapped(Kind):
    name = "wrapper"
    array = WrapperArray
    xp = _Nothing()
    draws = False

    def device(self, array: Any = None) -> device:
        return array.device  # type: ignore[no-any-return]

    def to_host(self, array: Any) -> Any:
        raise NoDataError(f".tolist() is not supported for tensor subclasses, got {array.cls.__name__}")

    def address(self, array: Any) -> int:
        return 0

    def offset(self, array: Any) -> int:
        return array.offset  # type: ignore[no-any-return]


def packed(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of elements that lie in order."""
    return tuple([itemsize * math.prod(n or 1 for n in shape[i + 1 :]) for i in range(len(shape))])


def make(
    cls: type, size: Any, strides: Any = None, storage_offset: Any = None, memory_format: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False, *answers: Any,
    **options: Any,
) -> Any:  # fmt: skip
    """`Tensor._make_wrapper_subclass`: a tensor of a class that computes for itself."""
    if not computes(cls):
        raise ArgumentTypeError(f"{cls.__name__} must define __torch_dispatch__")
    enlist(cls)
    from .devices import device as device_class

    shape = tuple([int(n) for n in size])
    kind = default_float() if dtype is None else dtype.numpy
    steps = packed(shape, kind.itemsize) if strides is None else tuple([int(n) * kind.itemsize for n in strides])
    array = WrapperArray(shape, kind, steps, CPU if device is None else device_class(device), cls)
    array.offset = int(storage_offset or 0) * kind.itemsize
    made: Any = new_object(cls)
    tensors._blank(made, array)
    array.attributes, array.owner = made.__dict__, weakref.ref(made)
    made._rg = bool(requires_grad)
    return made


def enlist(cls: type, data: Any = None) -> None:
    """There are tensors of a class that computes for itself. The data of one are not made another class's."""
    if data is not None and computes(type(data)) and not issubclass(type(data), cls):
        raise EngineError(
            f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a python object of "
            f"type {type(data).__name__} which is not a subclass of the requested type"
        )
    if computes(cls):
        install()
        CLASSES.add(cls)


# Operations look first ----------------------------------------------------------------------------------

# dispatch(operation or name, inputs and parameters as given, classes) -> the result: told by the room above.
dispatch: Callable[..., Any] = NotImplemented
# ask(overload, classes, arguments, keyword arguments, what computes it) -> the result: the same of what is no operation here.
ask: Callable[..., Any] = NotImplemented
# Operations that PyTorch shows to classes in pieces: what is done instead (NotImplemented: it is shown as it is).
PIECES: dict[str, Callable[..., Any]] = {}


def wrapping(values: Any) -> list[type]:
    """The classes among the arguments that compute for themselves; a subclass before the class it is made from."""
    found: list[type] = []
    for value in values:
        kind = type(value)
        if kind in CLASSES:
            if kind not in found:
                at = next((i for i, other in enumerate(found) if issubclass(kind, other)), len(found))
                found.insert(at, kind)
        elif kind is list or kind is tuple:
            found += [each for each in wrapping(value) if each not in found]
    return found


def install() -> None:
    """Let operations look whether a tensor without memory is among their inputs."""
    if WrapperArray in _BY_ARRAY:
        return
    _BY_ARRAY[WrapperArray] = _Wrapped()
    overriding.install()
    import importlib

    importlib.import_module("clarion._subclasses.dispatch")
    for op in OPS.values():
        overriding.look_below(op.call, _of_operation(op, op.call))
    for member in {**vars(Description), **vars(Tensor)}.values():
        if isinstance(member, FunctionType) and "otherwise" in member.__globals__ and "op" in member.__globals__:
            if member not in overriding._under:
                overriding.look_below(member, _of_operation(member.__globals__["op"], member))
    for function in {each for table in overriding.tables for each in table.values()}:
        if isinstance(function, FunctionType) and "with_target" in function.__globals__:
            overriding.look_below(function, _of_function(function.__globals__))
    overriding.look_below(tensors.new_tensor, _new_tensor)
    overriding.look_below(writing.inplace, _in_place)
    overriding.look_below(backward.backward, _backward)
    overriding.look_below(backward.gradients, _gradients)


def _of_function(scope: dict[str, Any]) -> Callable[..., Any]:
    """A function that is written like an operation's call (core/calls.py) leaves the looking to that."""
    call, with_target = scope["op"].call, scope["with_target"]
    return lambda input, *, out=None: call(input) if out is None else with_target(input, out=out)


def _of_operation(op: Any, call: Any) -> Callable[..., Any]:
    def look(*args: Any, **kwargs: Any) -> Any:
        classes = () if state.off else wrapping(args)
        if not classes:
            return overriding._under[call](*args, **kwargs)
        if op.name in PIECES and state.named is None:
            result = PIECES[op.name](*args)
            if result is not NotImplemented:
                return result
        return computed(op, args, classes)

    return look


def computed(op: Any, args: tuple[Any, ...], classes: Any) -> Any:
    """An operation done by the class of an input, and recorded."""
    if op.variadic:
        args = (*args[0], *args[1:])
        n_in = len(args) - len(op.params)
    else:
        n_in = len(op.inputs)
        if len(args) < op.arity:
            args += op.defaults[len(op.defaults) - (op.arity - len(args)) :]
    inputs, params = args[:n_in], args[n_in:]
    result = dispatch(op, inputs, params, classes)
    if result is NotImplemented or result is None:
        return result
    several = result if isinstance(result, tuple | list) else (a_tensor(result),)
    outs = tuple([_fresh(each, inputs) for each in several])
    for out in outs:
        if isinstance(out, Tensor) and type(out._array) is WrapperArray:
            out._array.settle(out)
    if op.differentiable and (modes.special == 0 or modes.recording()):
        record(op, inputs, params, outs)
    if modes.special and outs:
        if modes.dual is not None:
            named, state.named = state.named, None  # tangents are computed from other arguments than its
            try:
                modes.dual.derive(op, inputs, params, outs)
            finally:
                state.named = named
        if isinstance(outs[0], Tensor) and outs[0]._edge is not None:
            finish(outs[0]._edge, outs)
    return outs[0] if len(op.outputs) == 1 and isinstance(result, Tensor) else outs


def a_tensor(result: Any) -> Tensor:
    """What a class gives back where there is to be a tensor."""
    if not isinstance(result, Tensor):
        raise EngineError(
            f"Unable to cast {result} to Tensor: {type(result).__name__} was given back by __torch_dispatch__"
        )
    return result


def _fresh(out: Any, inputs: tuple[Any, ...]) -> Any:
    """A result that may get a history: not the input itself, and not one that has one."""
    if isinstance(out, Tensor) and (out._edge is not None or out._rg or any(out is each for each in inputs)):
        return alias(out)
    return out


def alias(tensor: Tensor) -> Tensor:
    """The same tensor outside the graph."""
    if type(tensor._array) is WrapperArray:
        return tensor._array.tensor()
    made = tensors.make_subclass(type(tensor), tensor)
    made.__dict__.update({name: each for name, each in vars(tensor).items() if name not in _KEPT_APART})
    return made  # type: ignore[no-any-return]


def _new_tensor(array: Any) -> Tensor:
    return array.tensor() if type(array) is WrapperArray else overriding._under[tensors.new_tensor](array)


def _in_place(op: Any, x: Any, *args: Any) -> Any:
    classes = () if state.off else wrapping((x, *args))
    if not classes:
        return overriding._under[writing.inplace](op, x, *args)
    if len(args) + 1 < op.arity:
        args += op.defaults[len(op.defaults) - (op.arity - 1 - len(args)) :]
    refuse(x, op.name + "_")
    n_in = len(op.inputs) - 1
    inputs, params = (x, *args[:n_in]), args[n_in:]
    if modes.special and modes.dual is not None and modes.dual.touches(inputs):
        raise NotSupportedError(f"{op.name}_: tangents of tensors that wrap others are not written in place")
    dispatch(op, inputs, params, classes, written=True)
    if op.differentiable and (modes.special == 0 or modes.recording()):
        record(op, inputs, params, (x,))  # what was saved of x itself is refused when it is needed: it is written now
    x._counter().n += 1
    return x


def _seeded(tensors_: Any, seeds: Any) -> Any:
    """The gradients a pass begins with: ones, made by the class of the tensor."""
    given = tensors_ if isinstance(tensors_, tuple | list) else (tensors_,)
    seeds = (None,) * len(given) if seeds is None else backward._as_tuple(seeds)
    made = [
        dispatch("ones_like", (each,), (), [type(each)]) if seed is None and type(each) in CLASSES else seed
        for each, seed in zip(given, seeds, strict=False)
    ]
    return made if any(each is not None for each in made) else None


def _reaches(roots: Any, seeds: Any) -> bool:
    """Does a graph hold a tensor that its class computes with? Then its rules run on Tensors."""
    given = [*(roots if isinstance(roots, tuple | list) else (roots,)), *(seeds or ())]
    if wrapping(given):
        return True
    waiting = [each._edge for each in given if isinstance(each, Tensor)]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node, Tensor):
            if type(node) in CLASSES:
                return True
            continue
        saved = node.saved if isinstance(node.saved, tuple | list) else ()
        if any(type(each) is WrapperArray or type(each) in CLASSES for each in saved):
            return True
        waiting += node.edges
    return False


def _backward(
    roots: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None,
    recorded: bool = True,
) -> None:  # fmt: skip
    own = overriding._under[backward.backward]
    grad_tensors = _seeded(roots, grad_tensors)
    if create_graph or not _reaches(roots, grad_tensors):
        own(roots, grad_tensors, retain_graph, create_graph, inputs, recorded)
    else:
        own(roots, grad_tensors, bool(retain_graph), True, inputs, False)


def _gradients(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None, create_graph: bool = False,
    allow_unused: Any = None, materialize_grads: bool = False, recorded: bool = True, told: bool = True,
) -> Any:  # fmt: skip
    own = overriding._under[backward.gradients]
    seeds = _seeded(outputs, grad_outputs)
    if create_graph or not _reaches(outputs, seeds):
        return own(outputs, inputs, seeds, retain_graph, create_graph, allow_unused, materialize_grads, recorded, told)
    return own(outputs, inputs, seeds, bool(retain_graph), True, allow_unused, materialize_grads, False, told)


def plainly(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_dispatch__` of a class that does not take part."""
    with Off():
        return func(*args, **(kwargs or {}))


plainly.is_disabled = True  # type: ignore[attr-defined]


class Off:
    """While it is entered, classes see no operations in this thread."""

    def __enter__(self) -> None:
        self._before, state.off = state.off, True

    def __exit__(self, *_: object) -> None:
        state.off = self._before
