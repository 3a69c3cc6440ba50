"""What the type of the tensor given as `out=` means to a function: it decides the result's, or has to be the one it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import DtypeError
from ...kernels.random import torch_names

_DECIDES = frozenset(("sum", "prod", "cumsum", "cumprod"))  # computed in the type of `out`
_SAME = frozenset(("ceil", "floor", "round", "trunc", "frac", "neg", "sign", "bitwise_not"))
_SCANS = frozenset(("cummax", "cummin", "logcumsumexp"))
_TRUTHS = {
    "all": "only supports bool tensor for result, got: {}",
    "any": "only supports bool tensor for result, got: {}",
    "isposinf": "does not support non-boolean outputs.",
    "isneginf": "does not support non-boolean outputs.",
    "signbit": "does not support non-boolean outputs.",
}

# NumPy's names of arguments, which PyTorch takes, too.
RENAMED = {"x": "input", "x1": "input", "a": "input", "x2": "other", "axis": "dim", "keepdims": "keepdim"}


def by_out(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], targets: Sequence[Any]) -> dict[str, Any]:
    """The keyword arguments of a call with `out=`; refuses an `out` of the wrong type."""
    out = targets[0]
    if name in _DECIDES:
        kind = kwargs.get("dtype")
        if kind is None:
            return {**kwargs, "dtype": out.dtype}
        if kind is not out.dtype:
            raise DtypeError(f"Expected out tensor to have dtype {_c(kind)}, but got {_c(out.dtype)} instead")
    source = args[0] if args else kwargs.get("input")
    kind = getattr(source, "dtype", out.dtype)
    if kind is not out.dtype:
        if name in _SAME:
            raise DtypeError(f"Found dtype {out.dtype.old} but expected {kind.old}")
        if name in _SCANS:
            raise DtypeError(f"expected scalar_type {kind.old} but found {out.dtype.old}")
        if name in ("amax", "amin"):
            raise DtypeError(
                f"Expected the dtype for input and out to match, but got {kind.old} for input's dtype and {out.dtype.old} for "
                "out's dtype."
            )
        if name in ("max", "min") and len(targets) == 2:
            raise DtypeError(f"Expected out tensor to have dtype {_c(kind)}, but got {_c(out.dtype)} instead")
        if name in ("quantile", "nanquantile"):
            raise DtypeError(f"{name}() out tensor must be same dtype as the input tensor")
    text = _TRUTHS.get(name)
    if text is not None and out.dtype.name not in ("bool", "uint8"):
        raise DtypeError(f"{name} {text.format(out.dtype.old)}")
    return kwargs


def _c(kind: Any) -> str:
    """A type by its name in C, as messages have it."""
    return torch_names(kind.numpy)[1]
