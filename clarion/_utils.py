"""`torch._utils`: several tensors in one piece of memory, as communication libraries use it."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .core.devices import kind_named
from .core.tensor import Tensor
from .ops.shapes.join import cat


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements, one tensor after the other, in one dimension."""
    return cat([tensor.contiguous().view(-1) for tensor in tensors])  # type: ignore[attr-defined, no-any-return]


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor with the shapes of `tensors`."""
    parts, begin = [], 0
    for tensor in tensors:
        count = tensor.numel()  # type: ignore[attr-defined]
        parts.append(flat.narrow(0, begin, count).view_as(tensor))  # type: ignore[attr-defined]
        begin += count
    return tuple(parts)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one type that have up to `size_limit` bytes together."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind = tensor.type()  # type: ignore[attr-defined]
        group, size = groups.get(kind, ([], 0))
        more: int = tensor._array.nbytes
        if group and size + more > size_limit:
            yield group
            group, size = [], 0
        groups[kind] = ([*group, tensor], size + more)
    for group, _ in groups.values():
        yield group


def _get_available_device_type() -> str | None:
    """The accelerator that is there: none that this asks for."""
    from .core import devices

    return next((name for name in devices.ACCELERATORS if devices.is_available(name)), None)


def _get_device_module(device_type: str) -> Any:
    """The module of a kind of device: `torch.cuda`."""
    return importlib.import_module(f".{device_type}", __package__)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device; -1 for the CPU."""
    from .core.devices import device as Device

    if isinstance(device, int):
        return device
    index = Device(device).index
    return -1 if index is None else index


def _element_size(dtype: Any) -> int:
    """The bytes of one element."""
    return int(dtype.itemsize)


def _get_all_device_indices() -> list[int]:
    """The numbers of all devices."""
    return list(range(kind_named("cuda").count()))


class ExceptionWrapper:
    """An exception of another thread or process on its way: its class and its text, with the trace."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        self.exc_type, self.exc_msg = kind, "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> None:
        """Raise it here."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(_Text(text))
        try:
            error = self.exc_type(text)
        except Exception:  # a class whose objects are made of something else
            raise RuntimeError(text) from None
        raise error


class _Text(str):
    """A text that a KeyError shows with its lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class classproperty:
    """A property of a class."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.func(owner)


def __getattr__(name: str) -> Any:
    """What a pickle of PyTorch's calls to build tensors: `pickle.load` finds it here."""
    if name == "torch":
        return importlib.import_module(__package__)
    from .serialization.names import REBUILD

    if (found := REBUILD.get(f"torch._utils.{name}")) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
