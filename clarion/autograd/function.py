"""`torch.autograd.function`: custom Functions."""

from ..core.function import Function as Function
from ..core.function import FunctionCtx as FunctionCtx
from ..core.function import once_differentiable as once_differentiable
