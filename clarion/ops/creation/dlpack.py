"""DLPack: memory shared with other libraries' arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ...core.devices import HOST, find, is_available, kind_of
from ...core.dtypes import FLOAT8, bf16, c32, from_numpy_dtype, strided
from ...core.saved import hand_to_numpy
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, EngineError
from ..faces.api import METHODS, public
from ..faces.options import place, tensor_argument

CUDA_MEMORY = 2  # DLPack's number
WHOLE_NUMBERS = 1
# DLPack's codes of types that NumPy does not send: they travel as whole numbers, in a capsule that is told what they are.
CODES = dict(zip([kind.numpy for kind in FLOAT8], (10, 11, 12, 13, 14), strict=True)) | {bf16: 4, c32: 5}
KINDS = {(code, 8 * kind.itemsize): kind for kind, code in CODES.items() if kind is not None}


@public(method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of any object with the DLPack protocol."""
    where = HOST if device is None else place("from_dlpack", device)
    kind = None
    if isinstance(ext_tensor, Tensor):
        array = dlpack_array(ext_tensor)
        where = HOST if device is None or where is kind_of(array) else where
    elif hasattr(ext_tensor, "__dlpack_device__") and ext_tensor.__dlpack_device__()[0] == CUDA_MEMORY:
        array = find("cuda").from_dlpack(ext_tensor)
        where = HOST if device is None or where.name == "cuda" else where  # (it is there already)
    else:
        bare = not hasattr(ext_tensor, "__dlpack__")
        try:
            array, kind = _received(_Capsule(ext_tensor) if bare else ext_tensor)
        except BufferError:  # a capsule cannot be asked where its memory is
            if not bare or not is_available("cuda"):
                raise
            return from_dlpack(find("cuda").from_dlpack(ext_tensor), device=device, copy=copy)
        if bare and not array.flags.writeable and array.size:  # (an old capsule cannot say that it may be written)
            array = np.asarray(_Writable(array))
    if copy:
        array = array.copy()
    return new_tensor(where.receive(array.view(kind or from_numpy_dtype(array.dtype).numpy)))


def _received(sender: Any) -> tuple[Any, Any]:
    """The array that an object sends, and of what type its elements are."""
    if isinstance(sender, _Capsule):
        capsule = sender.__dlpack__()
        said = _type_in(capsule)
    else:
        try:
            array = np.from_dlpack(sender)
            return array, from_numpy_dtype(array.dtype).numpy
        except (BufferError, RuntimeError):  # it may be of a type that NumPy does not know
            if sender.__dlpack_device__()[0] == CUDA_MEMORY:
                raise
            capsule = sender.__dlpack__()
            said = _type_in(capsule)
            if (said[0], said[1]) not in KINDS:
                raise
    kind = KINDS.get((said[0], said[1]))
    if kind is not None:
        said[0] = WHOLE_NUMBERS
    array = np.from_dlpack(_Capsule(capsule))
    return array, from_numpy_dtype(array.dtype).numpy if kind is None else kind


def _sent(array: Any, options: dict[str, Any]) -> Any:
    """A capsule with an array."""
    code = CODES.get(array.dtype)
    if code is None or type(array) is not np.ndarray:
        return array.__dlpack__(**options)
    capsule = array.view(f"u{array.itemsize}").__dlpack__(**options)
    _type_in(capsule)[0] = code
    return capsule


def _type_in(capsule: Any) -> Any:
    """Where a capsule says of what type its elements are: a code, and how many bits they have."""
    ask, get = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    ask.argtypes = get.argtypes = (ctypes.py_object, ctypes.c_char_p)
    get.restype = ctypes.c_void_p
    if not ask(capsule, b"dltensor") and not ask(capsule, b"dltensor_versioned"):
        raise EngineError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have "
            "already constructed a tensor from it once."
        )
    numbered = ask(
        capsule, b"dltensor_versioned"
    )  # a head of 32 bytes lies before the pointer, the device and the dimensions
    place = get(capsule, b"dltensor_versioned" if numbered else b"dltensor")
    return (ctypes.c_uint8 * 2).from_address(place + (52 if numbered else 20))


class _Writable:
    """The memory of an array that NumPy takes for read-only, as one that may be written."""

    def __init__(self, array: Any) -> None:
        self._array = array  # keeps the memory alive
        said = array.__array_interface__
        self.__array_interface__ = {**said, "data": (said["data"][0], False)}


class _Capsule:
    """A bare DLPack capsule, dressed as an object that hands it out once."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def dlpack_array(self: Tensor) -> Any:
    """The memory behind a tensor, for another library."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if self.layout is not strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    hand_to_numpy(self)
    return self._array


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: Any = None,
) -> Any:
    """The tensor's memory as a DLPack capsule."""
    if stream is not None and type(stream) is not int:
        raise ArgumentTypeError("stream must be ``int`` or ``none``")
    return _sent(
        dlpack_array(self), {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    )


@public(method=False)
def to_dlpack(tensor: Any) -> Any:
    """The tensor's memory as a DLPack capsule (the old function, which does not mind gradients)."""
    return dlpack(tensor_argument("to_dlpack", tensor).detach())


METHODS["__dlpack__"] = dlpack


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """DLPack's number of the kind of device, and the device's own."""
    where = self.device
    return (CUDA_MEMORY, where.index or 0) if where.type == "cuda" else (1, 0)


class _CudaArray:
    """`x.__cuda_array_interface__`, of tensors on a GPU alone: others have none, as in PyTorch."""

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        array = tensor._array
        if not hasattr(array, "__cuda_array_interface__"):
            raise AttributeError(
                f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor.type()} If CUDA data is required use "
                "tensor.cuda() to copy tensor to device memory."
            )
        if tensor.requires_grad:
            raise EngineError(
                "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use "
                "var.detach() to get Variable that doesn't require grad."
            )
        return array.__cuda_array_interface__


METHODS["__dlpack_device__"] = _dlpack_device
METHODS["__cuda_array_interface__"] = _CudaArray()


def _dir(self: Tensor) -> list[str]:
    """What can be asked for: not what warns that it is gone, nor what tensors on a GPU alone have."""
    hidden = {"volatile"} if self.is_cuda else {"volatile", "__cuda_array_interface__"}
    return sorted({*dir(type(self)), *self.__dict__}.difference(hidden))


METHODS["__dir__"] = _dir
