"""Parameters and buffers: tensors that a Module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import default_float
from ..core.tensor import Tensor, make_subclass, new_tensor


def _empty() -> Tensor:
    import numpy as np

    return new_tensor(np.empty((0,), default_float()))


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    # A tensor that was marked as parameter (by a subclass of Tensor) counts as one.
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and instance._is_parameter


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is trained: a Module lists it among its `parameters()`."""

    __slots__ = ()
    _is_parameter = True

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _empty()
        made: Parameter = make_subclass(cls, data, requires_grad)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that belongs to a Module's state but is not trained; `persistent` ones are saved with it."""

    __slots__ = ()
    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = make_subclass(cls, _empty() if data is None else data, data is not None and data._rg)
        made.persistent = persistent
        return made

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass
