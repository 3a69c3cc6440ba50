"""`torch.TypedStorage`, and the old classes of one type each: `torch.FloatStorage` and its kin."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

from ...core import devices
from ...core.dtypes import ALL, FROM_NUMPY, NumpyNumber, dtype, get_default_dtype
from ...core.listed_dtypes import LISTED
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, NotSupportedError
from ...kernels.layout import memory_root
from .from_data import array_of
from .memory import UntypedStorage, shown, storage_of

_FORMS = """received an invalid combination of arguments. Expected one of:
 * (int size), (Sequence data) or no arguments, and dtype= and device=
 * wrap_storage= (an UntypedStorage) and dtype="""


class _Warned:
    """PyTorch says once in a process that these classes go; `always` for every call."""

    once, always = False, False


def warn_of_removal(stacklevel: int = 2) -> None:
    """TypedStorage is deprecated."""
    if _Warned.always or not _Warned.once:
        _Warned.once = True
        warnings.warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
            "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
            "directly, use tensor.untyped_storage() instead of tensor.storage()",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


class TypedStorage:
    """The memory that a tensor is a part of, in elements of its type."""

    is_sparse, is_hpu = False, False
    dtype: Any
    _untyped_storage: UntypedStorage

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> None:
        if not _internal:
            warn_of_removal()
        if wrap_storage is not None:
            self._untyped_storage = _wrapped(args, wrap_storage, dtype, device)
            self.dtype = dtype
            return
        if len(args) > 1:
            raise EngineError(f"TypedStorage.__init__ {_FORMS}\nToo many positional arguments")
        self.dtype = get_default_dtype() if dtype is None else dtype
        where = devices.device("cpu" if device is None else device)
        if where.type not in ("cpu", "cuda", "meta"):
            raise EngineError(f"Storage device not recognized: {where.type}")
        content = args[0] if args else 0
        if isinstance(content, (int, NumpyNumber)):
            self._untyped_storage = UntypedStorage(int(content) * self.dtype.itemsize, device=where)
        elif isinstance(content, Sequence):
            if isinstance(content, str):
                raise ArgumentTypeError(f"new(): invalid data type '{type(content).__name__}'")
            self._untyped_storage = storage_of(devices.find(where).receive(array_of(content, self._kind)))
        else:
            raise ArgumentTypeError(f"TypedStorage.__init__ {_FORMS}\nArgument type not recognized: {type(content)}")

    @property
    def _root(self) -> Any:
        return self._untyped_storage._root

    @property
    def _kind(self) -> Any:
        return _stored_as(self.dtype).numpy

    def _shown(self) -> Any:
        if self.device.type == "meta":
            raise NotSupportedError("Not available for 'meta' device type")
        return shown(self._untyped_storage, _stored_as(self.dtype))

    def _storage_elements(self, kind: Any) -> Any:
        """The memory as a flat array of its NumPy type."""
        if kind != self._kind:
            raise EngineError(
                f"Expected a Storage of type {FROM_NUMPY[kind].old} or an UntypedStorage, but got type {self.dtype.old} "
                "for argument 1 'storage'"
            )
        return self._untyped_storage._storage_elements(kind)

    def _like(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return self._untyped_storage

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return self._untyped_storage.device

    def size(self) -> int:
        """Number of elements."""
        return self._untyped_storage.nbytes() // int(self.dtype.itemsize)

    __len__ = size

    def element_size(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    def tolist(self) -> list[Any]:
        """All elements."""
        found: list[Any] = self._shown().tolist()
        return found

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if self.device.type == "meta":
            raise NotSupportedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            raise EngineError("slices are only supported in UntypedStorage.__getitem__")
        self._check(index)
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return self._shown()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index)
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise EngineError(f"cannot set item with value type {type(value)}")
        self._shown()[index] = value

    def _check(self, index: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise EngineError(f"can't index a {type(self)} with {type(index)}")

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Take over the bytes of another storage."""
        self._untyped_storage.copy_(source)
        return self

    def resize_(self, size: int) -> None:
        """Another number of elements."""
        self._untyped_storage.resize_(size * self.element_size())

    def share_memory_(self) -> TypedStorage:
        """Move the elements into memory that other processes see."""
        self._untyped_storage.share_memory_()
        return self

    def __copy__(self) -> TypedStorage:
        return self._like(self._untyped_storage.clone())

    clone = __copy__

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._like(self._untyped_storage.__deepcopy__(memo))

    def __reduce__(self) -> Any:
        return _from_untyped, (self._untyped_storage, self.dtype)

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """The elements on another device."""
        return self._like(self._untyped_storage.to(device=device))

    def cpu(self) -> TypedStorage:
        """The elements in the memory of the CPU."""
        return self._like(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """The elements in the memory of a GPU."""
        return self._like(self._untyped_storage.cuda(device))

    def pin_memory(self, device: Any = "cuda") -> TypedStorage:
        """The elements in page-locked memory."""
        return self._like(self._untyped_storage.pin_memory())

    def _to(self, kind: Any) -> TypedStorage:
        if not isinstance(kind, dtype):
            raise ArgumentTypeError(f"Argument 'dtype' must be torch.dtype, not {type(kind)}")
        cast = self._shown().to(kind, copy=True)
        return TypedStorage(wrap_storage=storage_of(memory_root(cast._array)), dtype=kind, _internal=True)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of its old class."""
        if dtype is not None:
            return self._untyped_storage.type(dtype)
        where = "torch.cuda" if self.is_cuda else "torch"
        return f"{where}.{self.dtype.old}Storage"

    def pickle_storage_type(self) -> str:
        """The name of its old class, as files have it."""
        return f"{self.dtype.old}Storage"

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> TypedStorage:
        """A copy of bytes that hold elements of a type in an order ('native', 'little', 'big')."""
        kind = get_default_dtype() if dtype is None else dtype
        if device is not None and devices.device(device).type != "cpu":
            raise EngineError(f"TypedStorage.from_buffer: Not available for device {devices.device(device).type}")
        untyped = UntypedStorage.from_buffer(*args, dtype=kind, **kwargs)
        return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """The elements of a file; only the classes of one type know which."""
        raise EngineError("from_file can only be called on derived classes")

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self._untyped_storage == other._untyped_storage

    def __hash__(self) -> int:
        return hash(self._untyped_storage)

    def __repr__(self) -> str:
        numbers = "".join(f" {number}\n" for number in self.tolist()) if self.device.type != "meta" else "...\n"
        return f"{numbers}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


def _handed_on(name: str) -> Any:
    """What a typed storage leaves to its bytes."""

    def method(self: TypedStorage, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._untyped_storage, name)(*args, **kwargs)

    return method


for _name in ("data_ptr", "nbytes", "get_device", "is_shared", "is_pinned", "resizable", "__sizeof__"):
    setattr(TypedStorage, _name, _handed_on(_name))
TypedStorage.filename = property(lambda self: self._untyped_storage.filename)  # type: ignore[attr-defined]


def _cast_to(kind: Any) -> Any:
    def cast(self: TypedStorage) -> TypedStorage:
        return self._to(kind)

    cast.__doc__ = f"A copy with elements of {kind}."
    return cast


_CASTS = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "complex_double": "complex128",
    "complex_float": "complex64",
}  # fmt: skip
_BY_NAME = {kind.name: kind for kind in ALL}
for _name, _kind in _CASTS.items():
    setattr(TypedStorage, _name, _cast_to(_BY_NAME[_kind]))


def _warns(method: Any) -> Any:
    """A public method of a storage: it says that the class goes, the insides do not."""

    @functools.wraps(method)
    def warning(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _Warned.once and not _Warned.always:
            return method(self, *args, **kwargs)
        warn_of_removal()
        always, _Warned.always = _Warned.always, False  # what the method calls itself need not say it again
        try:
            return method(self, *args, **kwargs)
        finally:
            _Warned.always = always

    return warning


def _in_silence(method: Any) -> Any:
    """PyTorch's own way to a method: nothing is said of the class, by what it calls either."""

    @functools.wraps(method)
    def silent(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, _Warned.once, _Warned.always = (_Warned.once, _Warned.always), True, False
        try:
            return method(self, *args, **kwargs)
        finally:
            _Warned.once, _Warned.always = before

    return silent


for _name in [
    "resize_",
    "size",
    "is_shared",
    "share_memory_",
    "pickle_storage_type",
    "element_size",
    "data_ptr",
    "nbytes",
    "__setitem__",
    "__deepcopy__",
]:
    setattr(
        TypedStorage, f"_{_name.strip('_') if _name[0] == '_' else _name}", _in_silence(getattr(TypedStorage, _name))
    )
for _name in ("share_fd_cpu_", "share_filename_cpu_", "write_file"):
    setattr(TypedStorage, f"_{_name}", _handed_on(f"_{_name}"))

for _name in (
    "untyped size __len__ element_size tolist __iter__ __getitem__ __setitem__ fill_ copy_ resize_ share_memory_ clone __copy__ "
    "__deepcopy__ cpu cuda pin_memory type pickle_storage_type data_ptr nbytes get_device is_shared is_pinned resizable "
    + " ".join(_CASTS)
).split():
    setattr(TypedStorage, _name, _warns(getattr(TypedStorage, _name)))
TypedStorage.is_cuda = property(_warns(lambda self: self._untyped_storage.is_cuda))  # type: ignore[attr-defined]
_QUANTIZED = {"qint8": "QInt8", "qint32": "QInt32", "quint8": "QUInt8", "quint4x2": "QUInt4x2", "quint2x4": "QUInt2x4"}


def _stored_as(kind: Any) -> Any:
    """The type of the numbers that a quantized type is kept in; any other type is kept as it is."""
    return _BY_NAME[{"qint8": "int8", "qint32": "int32"}.get(kind.name, "uint8")] if kind.name in _QUANTIZED else kind


def _wrapped(args: tuple[Any, ...], untyped: Any, kind: Any, device: Any) -> UntypedStorage:
    """The bytes that a storage is made around."""
    head = f"TypedStorage.__init__ {_FORMS}\n"
    if args:
        raise EngineError(f"{head}No positional arguments should be given when using 'wrap_storage'")
    if kind is None:
        raise EngineError(f"{head}Argument 'dtype' must be specified")
    if not isinstance(kind, dtype):
        raise ArgumentTypeError(f"{head}Argument 'dtype' must be torch.dtype, not {type(kind)}")
    if device is not None:
        raise EngineError(f"{head}Argument 'device' should not be specified when 'wrap_storage' is given")
    if not isinstance(untyped, UntypedStorage):
        raise ArgumentTypeError(f"{head}Argument 'wrap_storage' must be UntypedStorage, but got {type(untyped)}")
    return untyped


def _from_untyped(untyped: UntypedStorage, kind: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)


def typed_storage_of(root: Any, kind: Any) -> TypedStorage:
    """The storage of an array that owns its memory, in elements of a NumPy type."""
    return _from_untyped(storage_of(root), FROM_NUMPY[kind])


def storage_of_tensor(x: Tensor) -> TypedStorage:
    """The memory a tensor is a part of, in elements of its type."""
    return typed_storage_of(memory_root(x._array), x._array.dtype)


# The old classes ---------------------------------------------------------------------------------------


class _LegacyMeta(type):
    """`isinstance(s, torch.FloatStorage)` asks for the dtype; calling one makes a TypedStorage of it."""

    _dtype: Any

    @property
    def dtype(cls) -> Any:
        """The type of the elements."""
        kind = cls._dtype
        warn_of_removal()
        return kind

    def __instancecheck__(cls, value: Any) -> bool:
        kind = getattr(cls, "_dtype", None)
        return isinstance(value, TypedStorage) and value.dtype == kind and value.device.type == cls._device()

    def _device(cls) -> str:
        return "cuda" if cls.__module__ == "torch.cuda" else "cpu"

    def __call__(
        cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> TypedStorage:
        if not _internal:
            warn_of_removal()
        head = f"{cls}.__new__ {_FORMS}\n"
        if not hasattr(cls, "_dtype"):
            raise EngineError("Only child classes of _LegacyStorage can be instantiated")
        for name, value in (("device", device), ("dtype", dtype)):
            if value is not None:
                raise EngineError(f"{head}Keyword argument '{name}' cannot be specified")
        if wrap_storage is not None:
            untyped = _wrapped(args, wrap_storage, cls._dtype, None)
            if untyped.device.type != cls._device():
                raise EngineError(f"{head}Device of 'wrap_storage' must be {cls._device()}, not {untyped.device.type}")
            return _from_untyped(untyped, cls._dtype)
        return TypedStorage(*args, dtype=cls._dtype, device=cls._device(), _internal=True)


class LegacyStorage(metaclass=_LegacyMeta):
    """What `torch.FloatStorage` and its kin have in common."""

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> TypedStorage:
        """A copy of bytes that hold elements of this type."""
        if cls._device() == "cuda":
            raise EngineError("Not available for CUDA storage")
        for name, value in (("dtype", dtype), ("device", device)):
            if value is not None:
                raise EngineError(
                    f"from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer and TypedStorage.from_buffer"
                )
        return TypedStorage.from_buffer(*args, dtype=cls._dtype, **kwargs)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """The elements of a file, read as they are needed."""
        untyped = UntypedStorage.from_file(filename, shared, size * cls._dtype.itemsize)
        return _from_untyped(untyped, cls._dtype)


def _of_a_process(name: str) -> Any:
    def made(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls._device() == "cuda":
            raise EngineError("Not available for CUDA storage")
        raise NotSupportedError(f"{name}(): processes share memory through torch.multiprocessing and share_memory_()")

    return classmethod(made)


for _name in ("_new_with_weak_ptr", "_new_shared_filename"):
    setattr(LegacyStorage, _name, _of_a_process(_name))


def _legacy_class(kind: Any, name: str, module: str) -> Any:
    said = f"A TypedStorage with elements of {kind}."
    own = {"_dtype": kind, "__module__": module, "__doc__": said}
    return _LegacyMeta(f"{name}Storage", (LegacyStorage,), own)


_UNNAMED = frozenset(("uint16", "uint32", "uint64"))  # newer than the old classes


def legacy_classes(module: str = "torch") -> dict[str, Any]:
    """The old classes by name, those of `torch` or of `torch.cuda`."""
    kinds = [(kind, kind.old) for kind in ALL if kind.name not in _UNNAMED]
    if module == "torch":
        kinds += [(LISTED[name], old) for name, old in _QUANTIZED.items()]
    return {f"{name}Storage": _legacy_class(kind, name, module) for kind, name in kinds}


LEGACY = legacy_classes()
