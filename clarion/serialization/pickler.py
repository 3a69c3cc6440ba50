"""Pickling under PyTorch's names: what it writes, PyTorch reads without knowing clarion."""

from __future__ import annotations

import copyreg
import functools
import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import IO, Any

from ..core.devices import HOST, device, kind_of
from ..core.dtypes import FROM_NUMPY, Size, dtype, layout, memory_format, strided, uint8
from ..core.tensor import Tensor
from ..errors import NotSupportedError
from ..nn.modules.state import StateDict
from ..nn.parameter import Buffer, Parameter
from ..ops.creation.memory import UntypedStorage
from ..ops.creation.pickling import slots_of
from ..ops.creation.typed_storage import TypedStorage
from ..ops.random.generator import Generator
from . import rebuild
from .names import torch_name
from .storages import UNTYPED, Saved, SavedStorages, StorageKind

Base: Any = pickle._Pickler  # the one in Python: only it lets names be chosen


class _Reducers(dict[type, Any]):
    """Type -> how a value of it is taken apart. `tensor` takes all subclasses of Tensor apart."""

    def __init__(self, tensor: Callable[[Any], Any]) -> None:
        super().__init__(_REDUCERS)
        self.tensor = tensor

    def get(self, kind: type, default: Any = None) -> Any:
        """The reducer of a type."""
        found = super().get(kind)
        if found is not None:
            return found
        return self.tensor if issubclass(kind, Tensor) else copyreg.dispatch_table.get(kind, default)


def _reduce_state_dict(value: StateDict) -> Any:
    return OrderedDict, (), vars(value) or None, None, iter(value.items())


def _reduce_generator(value: Generator) -> Any:
    return Generator, (value.device,), (value.initial_seed(), None, value.get_state())


def _reduce_layout(value: layout) -> Any:
    return rebuild.get_layout, (repr(value),)


def _reduce_device(value: device) -> Any:
    return device, (value.type,) if value.index is None else (value.type, value.index)


_REDUCERS: dict[type, Any] = {
    dtype: lambda value: value.name,
    memory_format: lambda value: value.name,
    layout: _reduce_layout,
    device: _reduce_device,
    Size: lambda value: (Size, (tuple(value),)),
    Generator: _reduce_generator,
    StateDict: _reduce_state_dict,
}


_TUPLES = (pickle.EMPTY_TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3)


def _number(value: int) -> bytes:
    if value < 0x100:
        return b"K" + value.to_bytes(1, "little")
    if value < 0x80000000:
        return b"J" + value.to_bytes(4, "little")
    size = value.bit_length() // 8 + 1
    return pickle.LONG1 + bytes([size]) + value.to_bytes(size, "little", signed=True)


def _numbers(values: tuple[int, ...]) -> bytes:
    inside = b"".join(map(_number, values))
    return inside + _TUPLES[len(values)] if len(values) < 4 else pickle.MARK + inside + pickle.TUPLE


class _Mixin(Base):  # type: ignore[misc]
    """What is added to a pickler: storages go into records of their own, classes get PyTorch's names."""

    storages: SavedStorages
    storage_id: Callable[[Saved], tuple[Any, ...]]

    def persistent_id(self, value: Any) -> Any:
        """Storages are not pickled: the pickle holds their key."""
        kind = type(value)
        if kind is Saved:
            return self.storage_id(value)
        if isinstance(value, (UntypedStorage, TypedStorage)):
            return self.storage_id(self._storage(value))
        return None

    def _storage(self, storage: Any) -> Saved:
        if kind_of(storage._root) is HOST:
            element = uint8 if isinstance(storage, UntypedStorage) else FROM_NUMPY[storage._kind]
            if (saved := self.storages.memory(storage._root, element)) is not None:
                return saved
        return self.storages.place(storage._root)[0]

    def reduce_tensor(self, tensor: Any) -> Any:
        """How a tensor is taken apart: as PyTorch takes its own apart."""
        kind: Any = type(tensor)
        if tensor.layout is not strided:
            return rebuild.rebuild_sparse_tensor, rebuild.sparse_parts(tensor)
        if kind.__reduce_ex__ is not Tensor.__reduce_ex__:
            return tensor.__reduce_ex__(self.proto)  # a subclass that knows better
        attributes = (
            {k: v for k, v in tensor.__dict__.items() if not rebuild.is_internal(k, kind)} if tensor.__dict__ else {}
        )
        if kind is Parameter:
            data: Any = (tensor.data, tensor._rg, OrderedDict())
            if attributes:
                return rebuild.rebuild_parameter_with_state, (*data, attributes)
            return rebuild.rebuild_parameter, data
        if "_is_parameter" in tensor.__dict__:  # of a class of its own, made a parameter
            attributes["_is_param"] = True
        function, args = self._plain(tensor)
        if kind is Buffer:  # PyTorch's is a Tensor with these attributes
            kind, attributes = Tensor, attributes | {"_is_buffer": True}
        if kind is Tensor and not attributes:
            return function, args
        state: Any = (attributes, slots) if (slots := slots_of(tensor)) else attributes
        if kind.__getstate__ is not object.__getstate__:  # a subclass that says what it consists of
            state = tensor.__getstate__()
        return rebuild.rebuild_from_type_v2, (function, kind, args, state)

    def _plain(self, tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
        array = tensor._array
        if tensor.is_meta:
            return rebuild.rebuild_meta_tensor, (tensor.dtype, array.shape, tensor.stride(), tensor.requires_grad)
        if kind_of(array).name == "wrapper":
            where = (tensor.stride(), 0, tensor.layout, tensor.device, tensor.requires_grad)
            return rebuild.rebuild_wrapper_subclass, (type(tensor), tensor.dtype, tuple(array.shape), *where)
        saved, offset, strides = self.storages.place(array)
        args: tuple[Any, ...] = (saved, offset, array.shape, strides, tensor.requires_grad, OrderedDict())
        if saved.kind is UNTYPED:
            return rebuild.rebuild_tensor_v3, (*args, tensor.dtype)
        return rebuild.rebuild_tensor_v2, args

    def save_tensor(self, tensor: Tensor) -> None:
        """A plain tensor, as `reduce_tensor` would have it pickled, in a third of the time."""
        if tensor.__dict__ or tensor.is_meta or self.proto not in (2, 3):
            self.save_reduce(*self.reduce_tensor(tensor), obj=tensor)
            return
        function, (saved, offset, size, strides, requires_grad, _, *rest) = self._plain(tensor)
        self.save(function)
        self.write(pickle.MARK + pickle.MARK)
        for part in self.storage_id(saved):
            self.save(part)
        flag = pickle.NEWTRUE if requires_grad else pickle.NEWFALSE
        self.write(pickle.TUPLE + pickle.BINPERSID + _number(offset) + _numbers(size) + _numbers(strides) + flag)
        self.save(OrderedDict)
        self.write(pickle.EMPTY_TUPLE + pickle.REDUCE)
        for part in rest:
            self.save(part)
        self.write(pickle.TUPLE + pickle.REDUCE)
        self.memoize(tensor)

    def save_global(self, value: Any, name: Any = None) -> None:
        """A class or function by its name: PyTorch's, where it has one."""
        if type(value) is StorageKind:
            self._write_name(value, value.module, value.name)
        elif (found := torch_name(value)) is not None:
            self._write_name(value, *found)
        else:
            Base.save_global(self, value, name)

    def _write_name(self, value: Any, module: str, name: str) -> None:
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(value)


@functools.cache
def _pickler_class(base: Any) -> Any:
    """A pickler on top of another pickle module's."""
    if not issubclass(base, Base):
        raise NotSupportedError(
            f"pickle_module: {base!r} cannot be used to save: only picklers built on Python's own pickle._Pickler let "
            "clarion write PyTorch's names"
        )
    save_function = base.dispatch[FunctionType]
    made: Any = type("Pickler", (_Mixin,) if base is Base else (_Mixin, base), {})
    made.dispatch = {
        **base.dispatch,
        StorageKind: _Mixin.save_global,
        Tensor: _Mixin.save_tensor,
        FunctionType: lambda self, value: (
            self.save_global(value) if torch_name(value) is not None else save_function(self, value)
        ),
    }
    return made


def dump(
    value: Any, file: IO[bytes], module: Any, protocol: int, storages: SavedStorages, storage_id: Callable[[Saved], Any]
) -> None:
    """Pickle a value; the memory of its tensors is collected in `storages`."""
    pickler = _pickler_class(Base if module is pickle else module.Pickler)(file, protocol)
    pickler.storages, pickler.storage_id = storages, storage_id
    pickler.dispatch_table = _Reducers(pickler.reduce_tensor)
    try:
        pickler.dump(value)
    finally:  # the table holds the pickler, and that holds all it has met: nobody should wait for the collector
        del pickler.dispatch_table
        pickler.clear_memo()
