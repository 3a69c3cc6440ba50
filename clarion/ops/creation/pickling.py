"""Copies of tensors: copy.copy, copy.deepcopy, pickle."""

from __future__ import annotations

import copy
import copyreg
from typing import Any

from ...core.devices import kind_of, xp_of
from ...core.dtypes import uint8
from ...core.modes import no_grad
from ...core.provenance import text as place_text
from ...core.tensor import Tensor, make_subclass, new_tensor
from ...errors import EngineError
from ...kernels.layout import memory_root, strided
from ..faces.api import METHODS
from ..faces.options import flat_memory


def _deepcopy(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    if not self.is_leaf:
        assert self._edge is not None
        raise EngineError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001\n"
            f"This tensor was computed at {place_text(self._edge.place)}; copy x.detach() instead."
        )
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    where = kind_of(self._array).name
    if where == "wrapper" or (where == "meta" and _is_users(type(self))):  # no memory: its class makes the copy
        new = _cloned(self)
    else:
        _refuse_without_new_empty(self)
        new = make_subclass(type(self), new_tensor(_copied_memory(self._array, memo)))
    memo[id(self)] = new
    new._rg = self._rg
    if self._grad is not None:
        new._grad = copy.deepcopy(self._grad, memo)
    attributes = _attributes(self)
    if attributes:
        new.__dict__.update(copy.deepcopy(attributes, memo))
    for name, value in slots_of(self).items():
        setattr(new, name, copy.deepcopy(value, memo))
    return new


def _is_users(of: Any) -> bool:
    return not (of is Tensor or of._is_parameter or of.__module__.startswith("clarion."))


def _refuse_without_new_empty(x: Any) -> None:
    """Refuse to copy a tensor of a user's class that does not say how others like it are made."""
    of = type(x)
    if not _is_users(of):
        return
    if type(x.new_empty([])) is not of:
        raise EngineError(
            "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that implement "
            "new_empty() and for which that function returns another instance of the same subclass. You should either properly "
            f"implement new_empty() for {of.__name__} or override __deepcopy__() if it is intended behavior for new_empty() to "
            "return an instance of a different type."
        )


def _cloned(x: Any) -> Any:
    with no_grad():
        new = x.clone()
    if type(new) is not type(x):
        raise EngineError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that properly "
            f"implement clone(): that of {type(x).__name__} gives a {type(new).__name__}."
        )
    return new


def slots_of(x: Tensor) -> dict[str, Any]:
    """What lies in the `__slots__` of the user's classes."""
    of = type(x)
    if of is Tensor or of._is_parameter:
        return {}
    own = of.__mro__[: of.__mro__.index(Tensor)]
    named = [name for cls in own for name in copyreg._slotnames(cls) if name not in _OURS]  # type: ignore[attr-defined]
    return {name: getattr(x, name) for name in dict.fromkeys(named) if hasattr(x, name)}


_OURS = frozenset(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]


def _attributes(x: Tensor) -> dict[str, Any]:
    """What the user hung on a tensor, without the engine's own: gradient, hooks, node of accumulation."""
    return {
        name: value
        for name, value in x.__dict__.items()
        if name not in ("_accumulator", "_grad", "_hooks", "_number", "_story")
    }


def _copied_memory(array: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array inside a copy of the memory it lies in, so that copies of views still share."""
    root = memory_root(array)
    xp = xp_of(root)
    if not xp.may_share_memory(root, flat_memory(root)):  # memory with gaps, lent by somebody else
        return array.copy(order="K")
    copies = memo.setdefault("clarion: memory", {})
    if id(root) not in copies:
        copies[id(root)] = (root.copy(order="K"), root)  # the original is kept, lest its id be reused
    new_root = copies[id(root)][0]
    if array is root:
        return new_root
    if not array.size:
        return xp.empty_like(array)
    flat = flat_memory(new_root).view(uint8.numpy)[kind_of(array).offset(array) :]
    return strided(flat[: flat.size // array.itemsize * array.itemsize].view(array.dtype), array.shape, array.strides)


def _reduce_ex(self: Tensor, protocol: Any) -> Any:
    """Pickles data, requires_grad and attributes; not the graph, the gradient or hooks, as PyTorch."""
    return _rebuild, (type(self), self._array, self.requires_grad, _attributes(self) or None, slots_of(self))


def _rebuild(
    cls: type, array: Any, requires_grad: bool, attributes: dict[str, Any] | None, slots: dict[str, Any] | None = None
) -> Tensor:
    new: Tensor = make_subclass(cls, new_tensor(array), requires_grad)
    if attributes:
        new.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(new, name, value)
    return new


METHODS.update(__deepcopy__=_deepcopy, __reduce_ex__=_reduce_ex)
