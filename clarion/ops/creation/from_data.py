"""Tensors out of data: Python numbers and lists, NumPy arrays, other tensors, buffers, DLPack."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from ... import errors
from ...core.devices import HOST, Kind, is_available, kind_of, to_host
from ...core.dtypes import FROM_NUMPY, b1, checked, default_float, from_numpy_dtype, i64, promote_pair
from ...core.op_node import cast
from ...core.saved import borrow_from_numpy
from ...core.tensor import Tensor, created, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError
from ...events import hub
from ...kernels.fromdata import PLAIN, Unfit, category, is_sequence, plain_array, unnest
from ...kernels.layout import address, memory_root
from ..faces.api import METHODS, public
from ..faces.options import numpy_type, place, warn_once, warn_user
from .dlpack import from_dlpack

_EXCEPTIONS = {
    TypeError: errors.ArgumentTypeError,
    ValueError: errors.ArgumentValueError,
    RuntimeError: errors.EngineError,
}


# From Python data ----------------------------------------------------------------------------------


def array_of(data: Any, kind: Any = None, where: Kind = HOST) -> Any:
    """A new array with the data of a number, a nested sequence, an array or a tensor, on a kind of device.

    Without `kind` the type is PyTorch's inference: Python floats have the default type, NumPy's their own.
    """
    if isinstance(data, Tensor):
        array = data._array if kind is None else cast(data._array, kind)
        return array.copy("K") if kind_of(array) is where else where.receive(to_host(array))
    array = _host_array(data, kind)
    return array if where is HOST else where.receive(array)


def _host_array(data: Any, kind: Any) -> Any:
    try:
        if type(data) is not list and isinstance(data, (np.ndarray, np.generic)):
            return _from_array(data, kind)
        if hasattr(data, "_storage_elements"):  # a storage
            return np.array(data._storage_elements(default_float() if kind is None else kind))
        if is_sequence(data):
            return _from_sequence(data, kind)
        if isinstance(data, (str, bytes)):
            raise Unfit(TypeError, f"new(): invalid data type '{type(data).__name__}'")
        if hasattr(data, "__dlpack__"):  # another library's array
            array = from_dlpack(data)._array
            return array.copy() if kind is None or kind == array.dtype else np.array(cast(array, kind))
        return _from_elements([data], (), kind)
    except Unfit as unfit:
        raise _EXCEPTIONS[unfit.kind](unfit.text) from None


def _from_array(data: Any, kind: Any) -> Any:
    array = np.asarray(data)
    found = _check_array(array)
    if kind is None or kind == found:
        return np.array(array, found, order="K")
    return np.array(cast(array, kind))


def _from_sequence(data: Any, kind: Any) -> Any:
    if type(data) is not list and type(data) is not tuple:
        try:
            data = list(data)
        except TypeError:
            raise ArgumentValueError(f"could not determine the shape of object type '{type(data).__name__}'") from None
    if PLAIN.issuperset(map(type, data)):  # one list of numbers
        return _from_elements(data, (len(data),), kind)
    flat, shape = unnest(data, lambda value: isinstance(value, (Tensor, np.ndarray)))
    if flat and isinstance(flat[0], np.ndarray):
        return _from_arrays(flat, shape, kind)
    return _from_elements(flat, shape, kind)


def _from_elements(flat: list[Any], shape: tuple[int, ...], kind: Any) -> Any:
    types = set(map(type, flat))
    if types <= PLAIN:
        rank = category(types)
        if kind is None:
            kind = _python_kind(rank) if flat else default_float()
        return plain_array(flat, shape, kind, rank)
    inferred: Any = None
    for value in flat:
        if isinstance(value, (str, bytes)):
            raise _no_number(value, value is flat[0], kind)
        here = _kind_of(value)
        inferred = here if inferred is None else promote_pair(inferred, here)
        if kind is not None and kind.kind in "iub" and isinstance(value, np.floating) and not isinstance(value, float):
            raise Unfit(TypeError, f"'numpy.{type(value).__name__}' object cannot be interpreted as an integer")
    values = [v if type(v) in PLAIN else _number(v) for v in flat]
    return plain_array(values, shape, inferred if kind is None else kind, category(set(map(type, values))))


def _no_number(value: Any, first: bool, kind: Any) -> Unfit:
    """PyTorch takes text that comes first for one more dimension."""
    name = type(value).__name__
    if first and isinstance(value, str) and value:
        return Unfit(ValueError, "too many dimensions 'str'")
    if kind is None:
        return Unfit(TypeError, f"new(): invalid data type '{name}'")
    if kind.kind in "biu":
        return Unfit(TypeError, f"'{name}' object cannot be interpreted as an integer")
    return Unfit(TypeError, f"must be real number, not {name}")


def _python_kind(rank: int) -> Any:
    if rank == 3:
        return FROM_NUMPY[default_float()].to_complex().numpy
    return (b1, i64, default_float())[rank]


def _kind_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array.dtype
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        return from_numpy_dtype(value.dtype).numpy
    for rank, python_type in enumerate((bool, int, float, complex)):
        if isinstance(value, python_type):
            return _python_kind(rank)
    if is_sequence(value):
        if _holds_itself(value):
            raise Unfit(TypeError, "new(): self-referential lists are incompatible")
        raise Unfit(
            TypeError,
            f"'{type(value).__name__}' object cannot be interpreted as an integer",
        )
    raise Unfit(RuntimeError, f"Could not infer dtype of {type(value).__name__}")


def _holds_itself(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(each is value or _holds_itself(each) for each in value)


def _number(value: Any) -> Any:
    """The Python number in a one-element tensor or a NumPy number."""
    if isinstance(value, Tensor):
        if value._array.size != 1:
            raise Unfit(
                ValueError,
                "only one element tensors can be converted to Python scalars",
            )
        if value._rg:
            warn_left(value)
        array = value._array
        return float(array.item()) if FROM_NUMPY[array.dtype].is_floating_point else array.item()
    if isinstance(value, (np.generic, np.ndarray)):
        found = value.item()
        return found if type(found) in PLAIN else float(found)
    for python_type in (bool, int, float, complex):
        if isinstance(value, python_type):
            return python_type(value)
    raise Unfit(RuntimeError, f"Could not infer dtype of {type(value).__name__}")


def warn_left(value: Tensor) -> None:
    """A tensor that requires grad became a plain number."""
    warn_user(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
    )
    if hub.left is not None:
        hub.left(value, "item")


def _from_arrays(flat: list[Any], shape: tuple[int, ...], kind: Any) -> Any:
    """A list of arrays (and perhaps lists) of one shape."""
    warn_once(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow in PyTorch. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor."
    )
    if not all(map(is_sequence, flat)):
        raise Unfit(TypeError, "not a sequence" if flat[0].ndim else "len() of unsized object")
    parts = [_from_array(v, None) if isinstance(v, np.ndarray) else _from_sequence(v, None) for v in flat]
    first = parts[0].shape
    if not first:
        raise Unfit(TypeError, "len() of unsized object")
    for part in parts:
        for dim, (want, got) in enumerate(zip(first, part.shape, strict=False)):
            if want != got:
                raise Unfit(
                    ValueError,
                    f"expected sequence of length {want} at dim {len(shape) + dim} (got {got})",
                )
        if part.ndim != len(first):
            raise Unfit(TypeError, "not a sequence")
    common = parts[0].dtype
    for part in parts[1:]:
        common = promote_pair(common, part.dtype)
    stacked = np.stack([cast(part, common) for part in parts]).reshape(*shape, *first)
    return stacked if kind is None else cast(stacked, kind)


# The public functions ------------------------------------------------------------------------------


@public(method=False)
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of the data; always a leaf."""
    where = place("tensor", device, None, data._array if isinstance(data, Tensor) else None, pin_memory)
    if isinstance(data, Tensor):
        _warn_copy("torch.tensor(sourceTensor)")
    array = array_of(data, None if dtype is None else numpy_type("tensor", dtype), where)
    return _made_of(data, created(array, requires_grad))


def _made_of(data: Any, result: Tensor) -> Tensor:
    if hub.entered is not None:
        hub.entered(result, data)
    return result


def _warn_copy(call: str) -> None:
    warn_user(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}.",
    )


def new_tensor_method(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of the data, in this tensor's type."""
    where = place("new_tensor", device, layout, self._array, pin_memory)
    if isinstance(data, Tensor):
        _warn_copy("tensor.new_tensor(sourceTensor)")
    kind = numpy_type("new_tensor", dtype, self._array.dtype)
    return _made_of(data, created(array_of(data, kind, where), requires_grad))


METHODS["new_tensor"] = new_tensor_method


@public(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor: shared where that is possible, with its graph if it is a tensor."""
    kind = None if dtype is None else numpy_type("as_tensor", dtype)
    if isinstance(data, Tensor):
        return data.to(device, dtype)
    if hasattr(type(data), "__cuda_array_interface__") and is_available("cuda"):
        return from_dlpack(data).to(device, dtype)
    where = place("as_tensor", device)
    if isinstance(data, np.ndarray):
        shared = share(data)
        if where is not HOST or (kind is not None and kind != shared._array.dtype):
            shared = created(where.receive(shared._array if kind is None else cast(shared._array, kind)))
        return _made_of(data, shared)
    if where is HOST and kind is None and hasattr(type(data), "__dlpack__") and not isinstance(data, np.generic):
        return from_dlpack(data)
    return _made_of(data, created(array_of(data, kind, where)))


def _check_array(array: Any) -> Any:
    """The NumPy type to use for an array, which must be one PyTorch can hold."""
    found = FROM_NUMPY.get(array.dtype)
    if found is None:
        if FROM_NUMPY.get(array.dtype.newbyteorder("=")) is not None:
            raise ArgumentValueError(
                "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
                "currently not supported."
            )
        raise ArgumentTypeError(
            f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. The only supported types are: float64, "
            "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    if any(step < 0 for step in array.strides):
        raise ArgumentValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
            "supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    if any(step % array.itemsize for step in array.strides):
        raise ArgumentValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
        )
    return found.numpy


def writable(array: Any) -> Any:
    """An array that can be written: on the same memory if that is an array's own, else a copy."""
    root = memory_root(array)
    if array.flags.writeable:
        return array
    if not root.flags.owndata:
        return array.copy("K")
    whole = (ctypes.c_char * root.nbytes).from_address(address(root))
    whole._owner = root  # which must live as long as its memory is used
    return np.ndarray(array.shape, array.dtype, whole, address(array) - address(root), array.strides)


def share(array: Any) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    kind = _check_array(array)
    if not array.flags.writeable:
        warn_user(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
            "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
            "it writable before converting it to a tensor.",
        )
        array = writable(array)
    # A plain ndarray of the canonical dtype object: subclasses and equal-but-other dtypes stay outside.
    shared = created(array if type(array) is np.ndarray and array.dtype is kind else np.asarray(array).view(kind))
    borrow_from_numpy(shared)
    return shared


@public(method=False)
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares memory with a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        module = type(ndarray).__module__
        kind = type(ndarray).__name__ if module == "builtins" else f"{module}.{type(ndarray).__name__}"
        raise ArgumentTypeError(f"expected np.ndarray (got {kind})")
    return _made_of(ndarray, share(ndarray))


@public(method=False)
def from_file(
    filename: Any, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor over the bytes of a file; `shared`: what is written to it is written to the file, which is made long enough."""
    kind = default_float() if dtype is None else checked(dtype).numpy
    if shared:
        with open(filename, "ab") as file:
            missing = size * kind.itemsize - file.tell()
            if missing > 0:
                file.write(b"\0" * missing)
    try:
        array = np.memmap(filename, kind, "r+" if shared else "c", shape=(size,)) if size else np.empty(0, kind)
    except OSError as error:
        raise EngineError(
            f"unable to open file <{filename}> in read-only mode: {error.strerror} ({error.errno})"
        ) from None
    except ValueError:
        have, need = os.path.getsize(filename), size * kind.itemsize
        raise EngineError(
            f"file <{filename}> size <{have}> is smaller than the required mapping size <{need}>"
        ) from None
    return new_tensor(np.asarray(array))._requiring(requires_grad)


@public(method=False)
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: Any = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """The object as a tensor; shares memory unless `copy=True` (must share if `copy=False`)."""
    kind = None if dtype is None else numpy_type("asarray", dtype)
    if isinstance(obj, Tensor):
        return _asarray_tensor(obj if device is None else obj.to(device), dtype, kind, copy, requires_grad)
    where = place("asarray", device)
    if isinstance(obj, np.ndarray):
        shared = share(obj)
    elif hasattr(obj, "untyped"):  # memory: its bytes are the elements' own
        flat = obj._root.reshape(-1, order="A").view(default_float() if kind is None else kind)
        shared = share(flat.view(np.ndarray))
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        shared = frombuffer(obj, dtype=dtype or FROM_NUMPY[default_float()])
    elif (hasattr(obj, "__dlpack__") and not isinstance(obj, np.generic)) or type(obj).__name__ == "PyCapsule":
        shared = from_dlpack(obj)
    else:
        if copy is False and isinstance(obj, np.generic):
            raise EngineError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        if copy is False:
            raise ArgumentValueError("can't alias arbitrary sequence into a tensor.")
        return created(array_of(obj, kind, where), bool(requires_grad))
    array = shared._array
    if kind is not None and kind != array.dtype:
        if copy is False:
            raise _no_alias(array.dtype, kind)
        array = cast(array, kind)
    elif copy:
        array = array.copy()
    return created(where.receive(array), bool(requires_grad))


def _no_alias(have: Any, want: Any) -> Exception:
    return ArgumentValueError(
        f"can't alias tensor with dtype '{FROM_NUMPY[have].old}' into dtype '{FROM_NUMPY[want].old}'."
    )


def _asarray_tensor(obj: Tensor, dtype: Any, kind: Any, copy: Any, requires_grad: bool | None) -> Tensor:
    wants = obj.requires_grad if requires_grad is None else requires_grad
    result = obj
    if kind is not None and kind != obj._array.dtype:
        if copy is False:
            raise _no_alias(obj._array.dtype, kind)
        result = obj.to(dtype)
    elif copy:
        result = obj.clone()
    if result.requires_grad and not wants:
        return result.detach()
    if wants and not result.requires_grad:
        return created(result._array, True) if result is obj else result._requiring(True)
    return result


# Buffers and DLPack --------------------------------------------------------------------------------


@public(method=False)
def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-dim tensor on the memory of an object with the buffer protocol."""
    kind = numpy_type("frombuffer", dtype)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ArgumentValueError("object does not implement Python buffer protocol.") from None
    length, item = memory.nbytes, kind.itemsize
    if not length or not count:
        raise ArgumentValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ArgumentValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % item:
            raise ArgumentValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({item})"
            )
        count = (length - offset) // item
    elif offset + count * item > length:
        raise ArgumentValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    if memory.readonly:
        warn_user(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write "
            "to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to "
            "protect its data or make it writable before converting it to a tensor.",
        )
    return created(writable(np.frombuffer(memory.cast("B"), kind, count, offset)), requires_grad)
