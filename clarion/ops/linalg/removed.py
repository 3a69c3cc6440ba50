"""Functions that PyTorch has removed: they say what has taken their place, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from ...errors import EngineError
from ..faces.api import FUNCTIONS, METHODS

_INSTEAD = {
    "eig": "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex "
    "tensors: L, V = torch.linalg.eig(A).",
    "symeig": "The default behavior has changed from using the upper triangular portion of the matrix by default to using the "
    "lower triangular portion: L, V = torch.linalg.eigh(A, UPLO='U').",
    "lstsq": "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.",
    "matrix_rank": "Please use `torch.linalg.matrix_rank` instead.",
    "solve": "`torch.solve` is deprecated in favor of `torch.linalg.solve`, which has its arguments reversed and does not return "
    "the LU factorization.",
}


def _removed(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise EngineError(f"This function was deprecated since version 1.9 and is now removed. {_INSTEAD[name]}")

    function.__name__, function.__doc__ = name, f"Removed: {_INSTEAD[name]}"
    return function


for _name in _INSTEAD:
    FUNCTIONS[_name] = _removed(_name)
    if _name != "matrix_rank":
        METHODS[_name] = FUNCTIONS[_name]
