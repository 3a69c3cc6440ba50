"""`torch._tensor`: where PyTorch keeps its Tensor."""

from .core.tensor import Tensor as Tensor
