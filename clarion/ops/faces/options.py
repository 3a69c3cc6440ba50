"""Arguments that every factory takes: sizes, dtype, device, layout, memory format, out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from ...core import devices, modes
from ...core.devices import HOST, Kind, device, find, home, is_available, kind_of, write, xp_of
from ...core.dtypes import (
    FROM_NUMPY,
    NumpyNumber,
    channels_last,
    channels_last_3d,
    contiguous_format,
    default_float,
    dtype,
    meant,
    preserve_format,
    strided,
)
from ...core.inplace import refuse, wrote
from ...core.provenance import warn_user as warn_user
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.layout import channels_last as has_channels_last
from ...kernels.layout import dense_order


def numpy_type(name: str, given: Any, default: Any = None) -> Any:
    """The NumPy type for a `dtype=` argument (Python's float, int, bool and complex count too)."""
    if given is None:
        return default if default is not None else default_float()
    given = meant(given)
    if isinstance(given, dtype):
        return given.numpy
    raise ArgumentTypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")


def place(name: str, where: Any = None, layout: Any = None, like: Any = None, pin_memory: bool = False) -> Kind:
    """The kind of device on which `name` makes its tensor: the one named, that of the array `like`, or the default.

    Layouts other than strided are refused, and pinned memory, which only an accelerator's driver can give.
    """
    if where is None and layout is None and not pin_memory:
        return kind_of(like) if like is not None else home() if devices.elsewhere else HOST
    if layout is not None and layout is not strided:
        raise NotSupportedError(f"{name}(): clarion has no layout {layout!r} yet, only torch.strided")
    if pin_memory and not is_available("cuda"):
        raise EngineError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            f"this system.\n{name}() was asked for page-locked memory: pin_memory=torch.cuda.is_available()."
        )
    if where is None:
        return home() if like is None else kind_of(like)
    if not isinstance(where, (device, str, int)) or isinstance(where, bool):
        raise ArgumentTypeError(f"{name}(): argument 'device' must be torch.device, not {type(where).__name__}")
    return find(where)


# Sizes ---------------------------------------------------------------------------------------------


def size_of(name: str, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape from `f(2, 3)`, `f((2, 3))`, `f([2, 3])` or `f(Size)`, checked."""
    for n in args:
        if type(n) is not int or n < 0:
            break
    else:
        if args:
            return args
    if len(args) == 1 and type(args[0]) is not int:
        only = args[0]
        if isinstance(only, (tuple, list)):
            return one_size(name, only)
        if not is_int(only):
            _bad_size(name, only)
    elif not args:
        raise ArgumentTypeError(f'{name}() missing 1 required positional arguments: "size"')
    elif isinstance(args[0], (tuple, list)):
        if name == "new":  # (the old constructors)
            raise ArgumentTypeError(f"new() received an invalid combination of arguments - got {spelled(args, {})}")
        raise ArgumentTypeError(f"{name}() takes 1 positional argument but {len(args)} were given")
    return one_size(name, args)


def one_size(name: str, size: Any) -> tuple[int, ...]:
    """The shape from a sequence of integers, checked."""
    if not isinstance(size, (tuple, list)):
        _bad_size(name, size)
    for n in size:
        if type(n) is not int or n < 0:
            break
    else:
        return tuple(size)
    shape = tuple([n if type(n) is int else _int(name, i, n) for i, n in enumerate(size)])
    if shape and min(shape) < 0:
        _negative(name, shape)
    return shape


def is_int(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value._array.size == 1 and value._array.dtype.kind in "iu"
    if isinstance(value, NumpyNumber) or getattr(value, "shape", None) == ():  # NumPy's numbers, arrays of one
        return value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)


def _int(name: str, position: int, value: Any) -> int:
    if not is_int(value):
        if position == 0:
            _bad_size(name, value)
        raise ArgumentTypeError(
            f"{name}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {type(value).__name__}"'
        )
    return int(value._array.item()) if isinstance(value, Tensor) else int(value)


def _bad_size(name: str, value: Any) -> NoReturn:
    kind = type(value).__name__
    raise ArgumentTypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind}")


def _negative(name: str, shape: tuple[int, ...]) -> NoReturn:
    if name == "zeros":
        raise ShapeError(f"{name}: Dimension size must be non-negative.\nThe size was {list(shape)}.")
    worst = next(n for n in shape if n < 0)
    raise ShapeError(f"Trying to create tensor with negative dimension {worst}: {list(shape)}")


def integer(name: str, argument: str, position: int, value: Any) -> int:
    """One whole number."""
    if type(value) is int:
        return value
    if not is_int(value):
        kind = type(value).__name__
        raise ArgumentTypeError(f"{name}(): argument '{argument}' (position {position}) must be int, not {kind}")
    return int(value._array.item()) if isinstance(value, Tensor) else int(value)


_said: set[str] = set()


def warn_once(text: str) -> None:
    """A UserWarning the first time; every time where `set_warn_always` asks for that."""
    if text not in _said or modes.warn_always:
        _said.add(text)
        warn_user(text)


# Memory --------------------------------------------------------------------------------------------

_LAST = {channels_last: (4, (0, 2, 3, 1)), channels_last_3d: (5, (0, 2, 3, 4, 1))}


def allocate(xp: Any, shape: tuple[int, ...], kind: Any, memory_format: Any = None) -> Any:
    """An uninitialised array; channels-last formats put dimension 1 innermost."""
    if memory_format is None or memory_format is contiguous_format:
        return xp.empty(shape, kind)
    if memory_format is preserve_format:
        raise EngineError("Preserve memory format isn't supported by this operation.")
    rank, order = _format(memory_format)
    if len(shape) != rank:
        raise ShapeError(f"required rank {rank} tensor to use {memory_format.name} format")
    return xp.empty([shape[i] for i in order], kind).transpose(inverse(order))


def _format(memory_format: Any) -> tuple[int, tuple[int, ...]]:
    found = _LAST.get(memory_format)
    if found is None:
        raise ArgumentTypeError(
            f"argument 'memory_format' must be torch.memory_format, not {type(memory_format).__name__}"
        )
    return found


def inverse(order: Sequence[int]) -> list[int]:
    """The permutation that undoes another."""
    return sorted(range(len(order)), key=order.__getitem__)


def allocate_like(array: Any, kind: Any, memory_format: Any = None, xp: Any = None) -> Any:
    """An uninitialised array of `array`'s shape, with its order of dimensions in memory unless told otherwise."""
    xp = xp_of(array) if xp is None else xp
    if memory_format is None or memory_format is preserve_format:
        if array.flags.c_contiguous and not has_channels_last(array):
            return xp.empty(array.shape, kind)
        order = dense_order(array)
        return xp.empty([array.shape[d] for d in order], kind).transpose(inverse(order))
    return allocate(xp, array.shape, kind, memory_format)


def flat_memory(array: Any) -> Any:
    """A flat view of an array's elements in the order of memory; a copy if there are gaps."""
    return array.transpose(dense_order(array)).reshape(-1)


def tensor_argument(name: str, value: Any, argument: str = "input", position: int = 1) -> Tensor:
    """`value`, which must be a Tensor."""
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise ArgumentTypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {kind}")
    return value


# out= ----------------------------------------------------------------------------------------------


def out_type(name: str, out: Any, given: Any) -> Any:
    """The type a factory with `out=` computes in: that of `out`, which an explicit dtype must repeat."""
    tensor_argument(name, out, "out", 1)
    have = out._array.dtype
    if given is not None and numpy_type(name, given) != have:
        want = FROM_NUMPY[numpy_type(name, given)].old
        raise DtypeError(f"dtype {want} does not match dtype of out parameter ({FROM_NUMPY[have].old})")
    return have


_SEQUENCES = frozenset(("arange", "range", "linspace", "logspace"))  # into any shape with as many elements


def put(name: str, out: Tensor, array: Any, requires_grad: bool = False, *, warn: bool = False) -> Tensor:
    """Write a factory's result into `out`, which takes its shape."""
    refuse(out, name)
    target = out._array
    if name in _SEQUENCES and target.size == array.size:
        array = array.reshape(target.shape)
    if target.shape != array.shape:
        if warn and target.size:
            warn_user(
                f"The number of elements in the out tensor of shape {list(target.shape)} is {target.size} which does not "
                f"match the computed number of elements {array.size}. Note that this may occur as a result of rounding "
                f"error. The out tensor will be resized to a tensor of shape {array.shape}.",
            )
        target = out._array = xp_of(target).empty(array.shape, target.dtype)
    write(target, array)
    wrote(out)
    return out._requiring() if requires_grad else out  # type: ignore[no-any-return]


def spelled(args: Iterable[Any], kwargs: dict[str, Any]) -> str:
    """Arguments as PyTorch's messages list them: `(int, out=Tensor)`."""
    parts = [type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
    return f"({', '.join(parts)})"
