"""Linear layers, and the reshaping ones that stand next to them."""

from __future__ import annotations

import math
from typing import Any

from ...core import modes
from ...core.tensor import Tensor
from ...ops.faces.api import NN_FUNCTIONAL
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter, empty_tensor
from .lazy import LazyModuleMixin
from .module import Module

_linear = NN_FUNCTIONAL["linear"]


def empty_parameter(shape: tuple[int, ...], dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter whose values are still to be drawn."""
    return Parameter(empty_tensor(shape, dtype, device))


class Identity(Module):
    """Gives back its input; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Linear(Module):
    """input @ weight.T + bias."""

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter((out_features, in_features), dtype, device)
        self.register_parameter("bias", empty_parameter((out_features,), dtype, device) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values: uniform within 1 / sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """input @ weight.T + bias."""
        params = self._parameters
        try:  # what is no longer a parameter (parametrized), and what the class answers for itself, takes the long way
            weight, bias = (self.weight, self.bias) if self._asks else (params["weight"], params["bias"])
        except KeyError:
            weight, bias = self.weight, self.bias
        return _linear(input, weight, bias)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """Sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """input1 @ weight[k] @ input2, for each output k, plus bias."""

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = empty_parameter((out_features, in1_features, in2_features), dtype, device)
        self.register_parameter("bias", empty_parameter((out_features,), dtype, device) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values: uniform within 1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Any:
        """The bilinear form of both inputs."""

        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose number of inputs is that of its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        # The base makes no bias: it would draw random numbers.
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new values, once there are shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Shapes for this input."""
        if self.has_uninitialized_params():
            with modes.no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))  # type: ignore[attr-defined]
                self.reset_parameters()
        if self.in_features == 0:
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection of attention, under PyTorch's name."""
