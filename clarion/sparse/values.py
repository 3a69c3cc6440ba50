"""Tensors that stand for other tensors: sparse ones for their entries, masked ones for their data.

What they hold is what a graph records (NOTE [Sparse]), so `requires_grad`, `grad_fn` and `grad` are those of what they hold.
"""

from __future__ import annotations

import functools
from typing import Any

from ..core.overriding import plain_members
from ..core.tensor import Tensor

# What says something of a tensor without its values.
SAFE = frozenset(
    ["size", "dim", "ndimension", "numel", "nelement", "element_size", "is_floating_point", "is_complex", "is_signed",
     "shape", "dtype", "device", "ndim", "itemsize", "is_cpu", "is_cuda", "is_meta", "is_tensor", "is_inference", "get_device",
     "is_pinned", "result_type", "can_cast", "output_nr", "_version", "backward", "__dlpack__", "__dlpack_device__"]
)  # fmt: skip


@functools.cache
def _property_names() -> dict[property, str]:
    return {member: name for name, member in plain_members().items() if isinstance(member, property)}


def name_of(func: Any) -> str:
    """The name of a function or of the property that is read, as `__torch_function__` is given it."""
    owner = getattr(func, "__self__", None)
    return _property_names()[owner] if isinstance(owner, property) else str(func.__name__)


class OfValues(Tensor):
    """A tensor whose graph is that of the values which it holds."""

    _held: Tensor

    def alike(self, values: Any) -> Any:
        """Other values in the same form."""
        raise NotImplementedError

    def gradient(self, values: Any) -> Any:
        """The gradient of its values as its own."""
        raise NotImplementedError

    def arriving(self, gradient: Any) -> Any:
        """What of a gradient that arrives is its values'."""
        raise NotImplementedError

    @property
    def requires_grad(self) -> bool:  # type: ignore[override]
        """Are operations on its values recorded?"""
        return self._held.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._held.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Record operations on its values."""
        self._held.requires_grad_(requires_grad)
        return self

    @property
    def grad_fn(self) -> Any:
        """The node that computed its values."""
        return self._held.grad_fn

    @property
    def is_leaf(self) -> bool:
        """True if nothing recorded computed its values."""
        return self._held.is_leaf

    @property
    def grad(self) -> Any:  # type: ignore[override]
        """The gradient of its values, in its own form."""
        found = self._held.grad
        return None if found is None else self.gradient(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._held.grad = self.arriving(value)

    def retain_grad(self) -> None:
        """Keep the gradient of its values."""
        self._held.retain_grad()

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Gradients from its values."""
        self._held.backward(self.arriving(gradient), *args, **kwargs)

    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with each gradient that arrives, which is of the same form as this."""
        form = self.alike(self._held.detach())  # not `self`: its values would keep themselves alive

        def hear(values: Any) -> Any:
            return form.arriving(hook(None if values is None else form.gradient(values)))

        return self._held.register_hook(hear)
