"""`torch.UntypedStorage`: the memory that tensors are parts of, in bytes."""

from __future__ import annotations

import copy
import sys
import weakref
from typing import Any

from ...core import devices
from ...core.devices import kind_of, xp_of
from ...core.dtypes import NumpyNumber, dtype, uint8
from ...core.tensor import Tensor, created
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError, NotSupportedError
from ...kernels import shared
from ...kernels.layout import memory_root
from ...kernels.mirrors import where_it_lies
from ...kernels.shared import bytes_of_file
from ..faces.options import flat_memory, tensor_argument
from .from_data import array_of

# The storage object of a memory, as long as somebody holds it: asking twice gives the same object.
_known: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()
_shrunk: dict[int, int] = {}  # by the id of a memory that tensors lie in: the bytes that are said to be left of it


class StorageBase:
    """What storages are made from."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object of a subclass."""
        if cls is StorageBase:
            raise EngineError("Cannot directly construct StorageBase; subclass it and then construct that")
        return object.__new__(cls)


class UntypedStorage(StorageBase):
    """The memory that a tensor is a part of, in bytes: `UntypedStorage(size)`, `UntypedStorage([1, 2, 3])`."""

    _root: Any
    is_sparse, is_hpu = False, False

    @property
    def filename(self) -> str | None:
        """The file whose bytes these are, if what is written here is written there."""
        root = self._root
        return str(root.filename) if getattr(root, "mode", None) == "r+" and hasattr(root, "filename") else None

    def __init__(self, *args: Any, device: Any = None) -> None:
        where = devices.find(str(devices.device("cpu" if device is None else device)))
        if len(args) > 1:
            raise ArgumentTypeError("torch.UntypedStorage.__init__() received an invalid combination of arguments")
        content = args[0] if args else 0
        if isinstance(content, (int, NumpyNumber)):
            if content < 0:
                raise EngineError(f"Storage size calculation overflowed: {content} bytes")
            self._root = where.xp.empty(int(content), uint8.numpy)
        elif hasattr(content, "__len__") and hasattr(content, "__getitem__") and not isinstance(content, (str, Tensor)):
            self._root = where.receive(array_of(list(content), uint8.numpy).copy())
        else:
            kind = type(content).__name__
            raise ArgumentTypeError(f"torch.UntypedStorage.__init__(): a size or a sequence is needed, not {kind}")

    # What it is ------------------------------------------------------------------------------------------

    def data_ptr(self) -> int:
        """Address of the first byte."""
        kind = kind_of(self._root)
        if kind.name == "wrapper":
            raise EngineError("Attempted to access the data pointer on an invalid python storage.")
        return kind.address(self._root)

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return kind_of(self._root).device(self._root)

    @property
    def is_cuda(self) -> bool:
        """Is it a GPU's?"""
        return self.device.type == "cuda"

    def get_device(self) -> int:
        """The number of its device, -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def nbytes(self) -> int:
        """Number of bytes."""
        return _shrunk.get(id(self._root), int(self._root.nbytes))

    def size(self) -> int:
        """Number of bytes."""
        return self.nbytes()

    __len__ = nbytes

    def element_size(self) -> int:
        """Bytes of an element: 1."""
        return 1

    def resizable(self) -> bool:
        """Can its size be changed? Not where the memory is shared or lent."""
        return self._root.base is None and bool(getattr(self._root.flags, "owndata", True))

    def is_shared(self) -> bool:
        """Is the memory shared with other processes? (A GPU's always is.)"""
        return self.is_cuda or shared.find(self._root) is not None

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Is the memory page-locked?"""
        return shown(self).is_pinned()  # type: ignore[no-any-return]

    # Its bytes -------------------------------------------------------------------------------------------

    def _bytes(self) -> Any:
        if self.device.type == "meta":
            raise NotSupportedError("Not available for 'meta' device type")
        return flat_memory(self._root).view(uint8.numpy)

    def _storage_elements(self, kind: Any) -> Any:
        """The memory as a flat array of a NumPy type."""
        root = flat_memory(self._root)
        if root.dtype == kind:
            return root
        flat = root.view(uint8.numpy)
        return flat[: flat.size // kind.itemsize * kind.itemsize].view(kind)

    def tolist(self) -> list[int]:
        """All bytes."""
        found: list[int] = self._bytes().tolist()
        return found

    def __getitem__(self, index: Any) -> Any:
        found = self._bytes()[index]
        return storage_of(found) if isinstance(index, slice) else found.tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, UntypedStorage):
            value = value._bytes()
        self._bytes()[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def fill_(self, value: int) -> UntypedStorage:
        """Set all bytes."""
        self._bytes()[...] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Take over the bytes of another storage."""
        other = source.untyped()
        if other.nbytes() != self.nbytes():
            raise EngineError(f"size does not match, self was {self.nbytes()} bytes but src was {other.nbytes()} bytes")
        shown(self).copy_(shown(other))
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turn the order of the bytes of each element around."""
        step = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        grouped = self._bytes().reshape(-1, step)
        grouped[...] = grouped[:, ::-1].copy()

    # Other memory ----------------------------------------------------------------------------------------

    def resize_(self, size: int) -> UntypedStorage:
        """Another number of bytes; while tensors lie in the memory it stays where it is, and never grows beyond what it was."""
        if size == self.nbytes():
            return self
        if self.device.type != "meta" and not self.resizable():
            raise EngineError("Trying to resize storage that is not resizable")
        if self.device.type == "meta":
            self._root = xp_of(self._root).empty(size, uint8.numpy)
            return self
        if (
            sys.getrefcount(self._root) > 2 and size <= self._root.nbytes
        ):  # (freed and made again around a recomputation)
            if id(self._root) not in _shrunk:
                weakref.finalize(self._root, _shrunk.pop, id(self._root), None)
            self._bytes()[size:] = 255  # NaN, of any width: what is gone is not computed with unseen
            _shrunk[id(self._root)] = size
            return self
        if sys.getrefcount(self._root) > 2:
            raise NotSupportedError(
                "clarion does not enlarge a storage that tensors lie in: they keep their memory. Make a new tensor, "
                "or use x.resize_() on the tensor"
            )
        old = self._bytes()
        grown = xp_of(old).empty(size, uint8.numpy)
        grown[: min(size, old.size)] = old[:size]
        _known.pop(id(self._root), None)
        self._root = grown
        _known[id(grown)] = self
        return self

    def new(self) -> UntypedStorage:
        """An empty one on the same device."""
        return UntypedStorage(0, device=self.device)

    def clone(self) -> UntypedStorage:
        """A copy."""
        return storage_of(self._root.copy(order="K"))

    __copy__ = clone

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        copies = memo.setdefault("clarion: memory", {})  # as the copies of tensors in this memory
        if id(self._root) not in copies:
            copies[id(self._root)] = (self._root.copy(order="K"), self._root)
        new = memo[id(self)] = storage_of(copies[id(self._root)][0])
        if self.__dict__.keys() - {"_root"}:
            new.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != "_root"})
        return new

    def __reduce__(self) -> Any:
        return _from_bytes, (self._bytes().tobytes(), type(self))

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """The bytes on another device."""
        return storage_of(memory_root(shown(self).to(device)._array))

    def cpu(self) -> UntypedStorage:
        """The bytes in the memory of the CPU."""
        return self if self.device.type == "cpu" else self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """The bytes in the memory of a GPU."""
        return self.to(device="cuda" if device is None else device)

    def pin_memory(self, device: Any = "cuda") -> UntypedStorage:
        """The bytes in page-locked memory."""
        return storage_of(memory_root(shown(self).pin_memory()._array))

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes into memory that other processes see; tensors that lie in it are not moved."""
        if self.device.type == "meta":
            raise EngineError("_share_fd_: only available on CPU")
        if not self.is_shared():
            _known.pop(id(self._root), None)
            self._root = shared.share(self._root)
            _known[id(self._root)] = self
        return self

    def _fix_weakref(self) -> None:
        """Nothing: weak references see an object that lives again."""

    def _share_fd_cpu_(self) -> Any:
        if self.device.type != "cpu":
            raise EngineError("_share_fd_: only available on CPU")
        raise NotSupportedError(
            "_share_fd_cpu_(): memory is shared by share_memory_(), and sent by torch.multiprocessing"
        )

    def _share_filename_cpu_(self) -> Any:
        if self.device.type != "cpu":
            raise EngineError("_share_filename_: only available on CPU")
        raise NotSupportedError(
            "_share_filename_cpu_(): memory is shared by share_memory_(), and sent by torch.multiprocessing"
        )

    def _write_file(self, f: Any, is_real_file: bool, save_size: bool, element_size: int) -> None:
        """Write the bytes to a file, behind the number of elements if asked for."""
        if self.device.type == "meta":
            raise NotSupportedError("Cannot copy out of meta tensor; no data!")
        data = self.cpu()._bytes()
        if save_size:
            f.write((data.size // element_size).to_bytes(8, "little"))
        f.write(data.tobytes())

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of its class."""
        if dtype is None:
            return "torch.storage.UntypedStorage" if not self.is_cuda else "torch.cuda.UntypedStorage"
        raise NotSupportedError("clarion does not turn storages into storages of another type: use a tensor's to()")

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, read as they are needed; what is written reaches the file only if it is shared."""
        return storage_of(bytes_of_file(filename, shared, nbytes))

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: Any = None
    ) -> UntypedStorage:
        """A copy of bytes that hold elements of a type in an order ('native', 'little', 'big')."""
        if dtype is None:
            raise ArgumentTypeError("from_buffer(): argument 'dtype' must be specified")
        if byte_order is None and dtype.itemsize > 1:
            raise EngineError("function missing required argument 'byte_order' (pos 2)")
        if byte_order not in (None, "native", "little", "big"):
            raise ArgumentValueError(
                f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native'), the order of the bytes"
            )
        data, item = memoryview(buffer).cast("B"), dtype.itemsize
        if not 0 <= offset <= len(data):
            raise ArgumentValueError(
                f"offset must be non-negative and no greater than buffer length ({len(data)}), but got {offset}"
            )
        if count < 0:
            if (len(data) - offset) % item:
                raise ArgumentValueError(f"buffer size ({len(data)}) must be a multiple of element size ({item})")
            count = (len(data) - offset) // item
        if offset + count * item > len(data):
            raise ArgumentValueError(
                f"buffer has only {len(data) - offset} elements after offset {offset}, but specified a size of {count}"
            )
        found = cls(count * item)
        found._root[...] = list(data[offset : offset + count * item])
        if dtype.name == "bool":
            found._root[...] = found._root != 0
        if byte_order not in (None, "native", sys.byteorder):
            found.byteswap(dtype)
        return found

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    @property
    def _cdata(self) -> int:
        return id(self._root)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._root is other._root

    def __hash__(self) -> int:
        return id(self._root)

    def __repr__(self) -> str:
        numbers = "".join(f" {number}\n" for number in self.tolist()) if self.device.type != "meta" else "...\n"
        return f"{numbers}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


def storage_of(root: Any) -> UntypedStorage:
    """The storage of an array that owns its memory."""
    found = _known.get(id(root))
    if found is None or found._root is not root:
        found = object.__new__(UntypedStorage)
        found._root = root
        _known[id(root)] = found
    return found


def shown(storage: UntypedStorage, kind: dtype = uint8) -> Any:
    """A tensor over a whole storage."""
    return created(storage._storage_elements(kind.numpy))


def _from_bytes(data: bytes, cls: type[UntypedStorage]) -> UntypedStorage:
    return cls.from_buffer(data, dtype=uint8)


def untyped_storage(self: Any) -> UntypedStorage:
    """The memory this tensor is a part of."""
    return storage_of(memory_root(where_it_lies(tensor_argument("untyped_storage", self, "self")._array)))
