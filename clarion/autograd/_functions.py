"""`torch.autograd._functions`: the oldest custom functions."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

from ..core.tensor import Tensor
from ..errors import ShapeError
from .function import Function


class Resize(Function):
    """The same elements in another shape."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: tuple[int, ...]) -> Any:
        """The elements in the order in which they are read."""
        ctx.sizes, ctx.shape = sizes, tensor.shape
        wanted = reduce(mul, sizes, 1)
        if tensor.numel() != wanted:
            raise ShapeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({wanted} elements in total), but the given tensor has a "
                f"size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements). autograd's resize can only "
                "change the shape of a given tensor, while preserving the number of elements. "
            )
        result = tensor.contiguous().view(*sizes)
        return result.clone() if result.data_ptr() == tensor.data_ptr() else result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, None]:
        """The gradient in the shape of the input."""
        return grads[0].contiguous().view(ctx.shape), None
