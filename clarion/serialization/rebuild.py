"""What a file calls to build tensors. Every number in it may be a lie: all are checked before memory is touched."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import find
from ..core.swapping import swap_tensors
from ..core.tensor import Tensor, created, make_subclass, new_tensor
from ..errors import NotSupportedError
from ..kernels.layout import strided
from ..nn.parameter import Parameter
from ..ops.creation.typed_storage import TypedStorage
from ..ops.random.generator import Generator
from .failures import FileDamagedError

_ACCUMULATOR = "_accumulator"


def _laid_out(storage: Any, offset: Any, size: Any, stride: Any, numpy_type: Any) -> Any:
    """An array over a part of a storage; refuses what would reach outside of it."""
    if not isinstance(storage, TypedStorage):
        raise FileDamagedError(f"a tensor of the file lies in a {type(storage).__name__}, which is no storage")
    if not (isinstance(size, tuple) and isinstance(stride, tuple) and len(size) == len(stride)):
        raise FileDamagedError("a tensor of the file has a shape and strides that do not fit together")
    if any(type(n) is not int or n < 0 for n in (offset, *size, *stride)):
        raise FileDamagedError(
            "a tensor of the file has a negative size, stride or offset, or one that is no whole number"
        )
    root, item = storage._root, numpy_type.itemsize
    if 0 not in size:
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        have = root.nbytes // item
        if last >= have:
            raise FileDamagedError(
                f"a tensor of the file with shape {list(size)}, strides {list(stride)} and offset {offset} needs a storage "
                f"of {last + 1} elements, but its storage has {have}: setStorage: out of bounds for storage"
            )
    try:
        if 0 in size:
            return np.empty(size, numpy_type)
        steps = tuple([step * item for step in stride])
        if not isinstance(root, np.ndarray):
            return strided(root.reshape(-1).view(numpy_type), size, steps, offset * item)
        return np.ndarray(size, numpy_type, root.view(np.uint8), offset * item, steps)
    except (ValueError, OverflowError, MemoryError) as error:
        raise FileDamagedError(f"a tensor of the file cannot have the shape {list(size)[:8]}: {error}") from None


def _finished(array: Any, requires_grad: Any, metadata: Any) -> Tensor:
    if metadata:
        if not isinstance(metadata, dict) or not metadata.keys() <= {"conj", "neg"}:
            raise NotSupportedError("a tensor of the file carries metadata that clarion does not know")
        if metadata.get("conj"):
            array = np.conj(array)
        if metadata.get("neg"):
            array = -array
    return created(array, bool(requires_grad))


def rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    """`torch._utils._rebuild_tensor`."""
    return rebuild_tensor_v2(storage, offset, size, stride, False, None)


def rebuild_tensor_v2(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, metadata: Any = None
) -> Tensor:
    """`torch._utils._rebuild_tensor_v2`: a tensor of the storage's type. Hooks are never loaded."""
    kind = getattr(storage, "_kind", None)
    return _finished(_laid_out(storage, offset, size, stride, kind or np.dtype(np.uint8)), requires_grad, metadata)


def rebuild_tensor_v3(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, metadata: Any = None
) -> Tensor:
    """`torch._utils._rebuild_tensor_v3`: bytes seen as a type that has no storage class."""
    if not isinstance(dtype, dtypes.dtype):
        raise FileDamagedError("a tensor of the file has no type")
    return _finished(_laid_out(storage, offset, size, stride, dtype.numpy), requires_grad, metadata)


def rebuild_meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """`torch._utils._rebuild_meta_tensor_no_storage`: shape, strides and type."""
    if not isinstance(dtype, dtypes.dtype):
        raise FileDamagedError("a tensor of the file has no type")
    sizes, steps = tuple(size), tuple(stride)
    if len(sizes) != len(steps) or any(type(n) is not int or n < 0 for n in (*sizes, *steps)):
        raise FileDamagedError("a tensor of the file has a shape and strides that do not fit together")
    blank = find("meta").xp.empty((), dtype.numpy)
    return created(strided(blank, sizes, tuple([n * dtype.itemsize for n in steps])), bool(requires_grad))


def rebuild_wrapper_subclass(
    kind: Any, dtype: Any, size: Any, stride: Any, offset: Any, layout: Any, device: Any, requires_grad: Any
) -> Tensor:
    """`torch._utils._rebuild_wrapper_subclass`: a tensor that wraps others, which come as its attributes."""
    sizes, steps = tuple(size), tuple(stride)
    if not (isinstance(kind, type) and issubclass(kind, Tensor) and isinstance(dtype, dtypes.dtype)):
        raise FileDamagedError("a tensor of the file is to become something that is no tensor")
    if len(sizes) != len(steps) or any(type(n) is not int or n < 0 for n in (*sizes, *steps)):
        raise FileDamagedError("a tensor of the file has a shape and strides that do not fit together")
    from ..core import wrapped  # who saves no such tensor does not load it

    return wrapped.make(  # type: ignore[no-any-return]
        kind, sizes, strides=steps, dtype=dtype, device=device, requires_grad=bool(requires_grad)
    )


def rebuild_parameter(data: Any, requires_grad: Any, hooks: Any) -> Parameter:
    """`torch._utils._rebuild_parameter`."""
    if not isinstance(data, Tensor):
        raise FileDamagedError(f"a Parameter of the file holds a {type(data).__name__}, not a tensor")
    return Parameter(data, bool(requires_grad))


def rebuild_parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Parameter:
    """`torch._utils._rebuild_parameter_with_state`: a Parameter with attributes of the user's."""
    made = rebuild_parameter(data, requires_grad, hooks)
    set_attributes(made, state)
    return made


def rebuild_from_type_v2(func: Any, kind: Any, args: Any, state: Any) -> Any:
    """`torch._tensor._rebuild_from_type_v2`: a tensor with attributes, or of a subclass."""
    made = func(*args)
    if not (isinstance(made, Tensor) and isinstance(kind, type) and issubclass(kind, Tensor)):
        raise FileDamagedError("a tensor of the file is to become something that is no tensor")
    if type(made) is not kind:
        made = make_subclass(kind, made, made._rg)
    setstate = getattr(kind, "__setstate__", None)
    if setstate is not None:
        setstate(made, state)
        return made
    return set_attributes(made, state)


def is_internal(name: Any, kind: type = Tensor) -> bool:
    """Is this attribute clarion's own, so that no file may set it? A class of the user's may call its data what a method is called."""
    if type(name) is not str or name == _ACCUMULATOR:
        return True
    member = getattr(Tensor, name, None)
    own = kind is not Tensor and not kind.__module__.startswith(("clarion", "torch.nn"))
    return hasattr(Tensor, name) and not (own and callable(member) and not name.startswith("_"))


def set_attributes(tensor: Any, state: Any) -> Any:
    """Attributes of the user's, as they were saved."""
    both = state if isinstance(state, tuple) else (state, None)
    if len(both) != 2 or not all(part is None or isinstance(part, dict) for part in both):
        raise FileDamagedError("a tensor of the file has attributes that are not stored by name")
    for part, keep in zip(both, (tensor.__dict__.__setitem__, tensor.__setattr__), strict=True):
        for name, value in (part or {}).items():
            if name == "_is_param":  # of a class of its own, made a parameter
                tensor._is_parameter = value is True
                continue
            if is_internal(name, type(tensor)):
                raise FileDamagedError(
                    f"the file would set {str(name)[:60]!r} of a tensor, which is no attribute of the user's"
                )
            keep(name, value)
    return tensor


_LAYOUTS = {
    repr(each): each
    for each in (dtypes.strided, dtypes.sparse_coo, dtypes.sparse_csr, dtypes.sparse_csc, dtypes.sparse_bsr, dtypes.sparse_bsc)
}  # fmt: skip


def get_layout(name: Any) -> Any:
    """`torch.serialization._get_layout`."""
    if type(name) is not str or name not in _LAYOUTS:
        raise NotSupportedError(f"the file names the layout {str(name)[:60]!r}; clarion has {', '.join(_LAYOUTS)}")
    return _LAYOUTS[name]


class _Later(threading.local):
    sparse: list[tuple[Any, Any, Any]] | None = None


_later = _Later()


@contextlib.contextmanager
def storages_come_later() -> Iterator[Callable[[], None]]:
    """In files whose data comes after its description, sparse tensors are made, and looked at, when `finish()` is called."""
    before, _later.sparse = _later.sparse, []
    waiting = _later.sparse

    def finish() -> None:
        _later.sparse = None
        for blank, layout, parts in waiting:
            swap_tensors(blank, rebuild_sparse_tensor(layout, parts))

    try:
        yield finish
    finally:
        _later.sparse = before


def rebuild_sparse_tensor(layout: Any, parts: Any) -> Any:
    """`torch._utils._rebuild_sparse_tensor`: a tensor of places and values, or with compressed rows or columns."""
    if _later.sparse is not None:
        blank = new_tensor(find("cpu").xp.empty(()))
        _later.sparse.append((blank, layout, parts))
        return blank
    places = layout is dtypes.sparse_coo
    compressed = layout in (dtypes.sparse_csr, dtypes.sparse_csc, dtypes.sparse_bsr, dtypes.sparse_bsc)
    count = 2 if places else 3
    if not (places or compressed) or type(parts) is not tuple or len(parts) not in (count + 1, count + 2):
        raise FileDamagedError("a sparse tensor of the file has no known layout, or not the parts of it")
    tensors, (size, *rest) = parts[:count], parts[count:]
    if not all(isinstance(each, Tensor) for each in tensors):
        raise FileDamagedError("a sparse tensor of the file is not made from tensors")
    sizes = tuple(size) if isinstance(size, tuple) else ()
    if any(type(n) is not int or n < 0 for n in sizes) or len(sizes) < (1 if places else 2):
        raise FileDamagedError("a sparse tensor of the file has no shape")
    from ..sparse import making  # loading it makes every public function look at its arguments

    try:
        if places:
            return making.sparse_coo_tensor(*tensors, sizes, is_coalesced=bool(rest and rest[0]))
        return making.sparse_compressed_tensor(*tensors, sizes, layout=layout, check_invariants=True)
    except (RuntimeError, ValueError, IndexError) as error:
        raise FileDamagedError(f"a sparse tensor of the file does not hold together: {error}") from None


def sparse_parts(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    """What `rebuild_sparse_tensor` makes a sparse tensor from, in the order PyTorch's has it."""
    held, size = tensor._held.detach(), dtypes.Size(tensor._array.shape)
    if tensor.layout is dtypes.sparse_coo:
        return tensor.layout, (tensor._at, held, size, bool(tensor._array.sorted))
    from ..sparse.compressed import plain, pointers, values_of

    return tensor.layout, (pointers(tensor), plain(tensor), values_of(tensor).detach(), size)


def refuse(what: str) -> Any:
    """What stands for a part of PyTorch that clarion does not have."""

    def refused(*args: Any) -> Any:
        raise NotSupportedError(f"the file holds {what}, which clarion does not have")

    return refused


class PendingGenerator(Generator):
    """A Generator whose state comes after it was made, as PyTorch writes them."""

    __slots__ = ()

    def __setstate__(self, state: Any) -> None:
        self.__class__ = Generator  # type: ignore[assignment]
        self.set_state(state[-1])
