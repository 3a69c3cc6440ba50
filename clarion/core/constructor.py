"""`Tensor(2, 3)`, `Tensor([1, 2])`: the constructor that `torch.tensor` has replaced."""

from __future__ import annotations

from typing import Any

from .. import errors
from .description import computes
from .devices import HOST, ndarray
from .devices import device as as_device
from .dtypes import NumpyNumber, Size, default_float
from .namespace import OPS
from .tensor import Tensor, _blank, _wrapped

_SLOTS = [name for name in Tensor.__slots__ if name[:2] != "__"]


def construct(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """`Tensor(...)`, and that of subclasses that have no `__new__` of their own."""
    if len(args) == 1 and isinstance(args[0], Tensor) and not kwargs:
        return view_as(cls, args[0])
    tensor = object.__new__(cls)
    _blank(tensor, legacy_array(*args, **kwargs))
    if computes(cls):
        _wrapped().enlist(cls)
    return tensor


def legacy_array(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    """`Tensor(2, 3)` (uninitialised), `Tensor([1, 2])`, `Tensor(other)`: the constructor people should not use."""
    home = "cpu"
    if device is not None and (given := as_device(device).type) != home:
        raise errors.EngineError(f"legacy constructor expects device type: {home} but device type: {given} was passed")
    kind, xp = default_float(), HOST.xp
    if not args:
        return xp.empty((0,), kind)
    if len(args) == 1:
        value = args[0]
        if isinstance(value, Tensor):  # with a device
            raise errors.EngineError(
                "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported. "
                "Use torch.tensor(...) or torch.as_tensor(...) instead"
            )
        if isinstance(value, Size):
            return xp.empty(tuple(value), kind)
        if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
            value = [item._array.tolist() if isinstance(item, Tensor) else item for item in value]
        if isinstance(value, (list, tuple, ndarray)):
            return xp.array(value, dtype=kind)
        if hasattr(value, "_storage_elements"):
            return value._storage_elements(kind)  # a storage's
    if all(isinstance(a, (int, NumpyNumber)) and not isinstance(a, bool) and hasattr(a, "__index__") for a in args):
        return xp.empty(tuple(int(a) for a in args), kind)
    raise errors.ArgumentTypeError(
        f"new(): invalid arguments ({', '.join(type(a).__name__ for a in args)}): "
        "Tensor() takes sizes, a sequence or a tensor; torch.tensor(data) is what you want"
    )


def view_as(cls: type, x: Tensor) -> Any:
    """A view of a tensor, with its history, in another class."""
    view: Any = OPS["alias"].call(x)
    if computes(cls) or computes(type(view)):
        _wrapped().enlist(cls, view)
        if isinstance(view, cls):
            return view
    try:
        view.__class__ = cls
    except TypeError:  # a class with slots of its own
        made: Any = object.__new__(cls)
        for name in _SLOTS:
            if hasattr(view, name):
                setattr(made, name, getattr(view, name))
        return made
    return view
