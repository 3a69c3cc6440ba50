"""`torch.autograd.Variable`: the old name of a Tensor, and the engine as programs reach for it there."""

from __future__ import annotations

from typing import Any

from ..core import passes
from ..core.tensor import Tensor, created
from ..errors import ArgumentTypeError


class ImperativeEngine:
    """The engine as `Variable._execution_engine`."""

    def queue_callback(self, callback: Any) -> None:
        """Run `callback()` when the backward pass that is now running has ended."""
        passes.queue_callback(callback)

    def is_checkpoint_valid(self) -> bool:
        """May a reentrant checkpoint run: is this neither grad() nor backward(inputs=...)?"""
        return passes.accumulates_everything()


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """Every Tensor is one. `Variable(tensor, requires_grad)` gives a leaf with the tensor's memory."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        import numpy as np

        if volatile is not None:
            import warnings

            warnings.warn(
                "volatile was removed (Variable.volatile is always False). Please use with torch.no_grad() instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is None:
            return created(np.empty((0,), np.float32), bool(requires_grad))
        if not isinstance(data, Tensor):
            raise ArgumentTypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(bool(requires_grad))
