"""`torch.special`: the orthogonal polynomials of Chebyshev, Hermite, Laguerre and Legendre. PyTorch has no gradient for them: they end the history."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ..faces.api import FUNCTIONS, with_out
from ..faces.typed import TypedOp, one_tensor

_NAMES = (
    *[f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"],
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip


def _declare(short: str) -> None:
    name = f"special_{short}"
    op = TypedOp(name, "x n", elementwise=True, promote="float", differentiable=False).refusing(
        "c", title=f"{short}_cpu"
    )
    op.without_halves()

    def function(input: Any, n: Any) -> Any:
        one_tensor(name, input, n)
        if not isinstance(input, Tensor):
            input = FUNCTIONS["scalar_tensor"](input, dtype=n.dtype if n.is_floating_point() else None)
        return op.call(input, n)

    function.__name__ = name
    function.__doc__ = f"The {' '.join(short.split('_')[:-1])} {short.split('_')[-1].upper()} of degree `n`."
    FUNCTIONS[name] = with_out(name, function)


for _name in _NAMES:
    _declare(_name)
