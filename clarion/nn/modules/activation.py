"""Activation functions as modules."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .. import init as initialize
from .linear import empty_parameter
from .module import Module
from .multihead_attention import MultiheadAttention as MultiheadAttention


class _MaybeInplace(Module):
    """Activations with nothing to set but whether they write into their input."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """inplace=True, where it is."""
        return "inplace=True" if self.inplace else ""

    def _and_inplace(self) -> str:
        return ", inplace=True" if self.inplace else ""


class ReLU(_MaybeInplace):
    """max(x, 0)."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.relu(input, self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.tanh(input)


class SiLU(_MaybeInplace):
    """x * sigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.silu(input, self.inplace)


class Mish(_MaybeInplace):
    """x * tanh(softplus(x))."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.mish(input, self.inplace)


class SELU(_MaybeInplace):
    """The self-normalizing exponential unit."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.selu(input, self.inplace)


class Hardsigmoid(_MaybeInplace):
    """sigmoid in three straight pieces."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing, as in PyTorch."""
        return ""


class Hardswish(_MaybeInplace):
    """x * hardsigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing, as in PyTorch."""
        return ""


class ELU(_MaybeInplace):
    """x, or alpha * (exp(x) - 1) below 0."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"alpha={self.alpha}{self._and_inplace()}"


class CELU(_MaybeInplace):
    """x, or alpha * (exp(x / alpha) - 1) below 0."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"alpha={self.alpha}{self._and_inplace()}"


class LeakyReLU(_MaybeInplace):
    """x, or negative_slope * x below 0."""

    __constants__ = ["negative_slope", "inplace"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"negative_slope={self.negative_slope}{self._and_inplace()}"


class RReLU(_MaybeInplace):
    """A leaky ReLU with a random slope in training."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Bounds of the slope."""
        return f"lower={self.lower}, upper={self.upper}{self._and_inplace()}"


class Hardtanh(_MaybeInplace):
    """x between min_val and max_val."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val = min_val
        self.max_val = max_val
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val must be greater than min_val, got {max_val} and {min_val}")

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Bounds."""
        return f"min_val={self.min_val}, max_val={self.max_val}{self._and_inplace()}"


class ReLU6(Hardtanh):
    """x between 0 and 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """inplace=True, where it is."""
        return "inplace=True" if self.inplace else ""


class Threshold(_MaybeInplace):
    """x above the threshold, `value` elsewhere."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Threshold and value."""
        return f"threshold={self.threshold}, value={self.value}{self._and_inplace()}"


class GELU(Module):
    """x * Phi(x), Phi the normal distribution; `approximate="tanh"` is the cheaper form."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Approximation."""
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; the line x above the threshold."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """x, or weight * x below 0; the weight is trained."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = empty_parameter((num_parameters,), dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial slope."""
        initialize.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Number of slopes."""
        return f"num_parameters={self.num_parameters}"


class Hardshrink(Module):
    """x, or 0 between -lambd and lambd."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Width."""
        return str(self.lambd)


class Softshrink(Module):
    """x moved towards 0 by lambd."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Width."""
        return str(self.lambd)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + abs(x))."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.tanhshrink(input)


class _AlongDim(Module):
    """Activations along one dimension."""

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class GLU(_AlongDim):
    """The first half times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.glu(input, self.dim)


class Softmax(_AlongDim):
    """exp(x), over its sum."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """exp(-x), over its sum."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of softmax."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of images."""

    def forward(self, input: Any) -> Any:
        """The activation."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
