"""`torch.autograd.function`: custom Functions."""

from ..core.function import CustomNode as BackwardCFunction
from ..core.function import Function as Function
from ..core.function import FunctionCtx as FunctionCtx
from ..core.function import once_differentiable as once_differentiable


class InplaceFunction(Function):
    """Base of old programs' Functions that may work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]
