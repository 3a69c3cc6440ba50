"""What the type of the tensor given as `out=` means to a function: it decides the result's, or has to be the one it is."""

from __future__ import annotations

from typing import Any

from ...errors import DtypeError

_DECIDES = frozenset(("sum", "prod", "cumsum", "cumprod"))  # computed in the type of `out`
_SAME = frozenset(("ceil", "floor", "round", "trunc", "frac", "neg", "sign", "bitwise_not"))
_TRUTHS = {
    "all": "only supports bool tensor for result, got: {}",
    "any": "only supports bool tensor for result, got: {}",
    "isposinf": "does not support non-boolean outputs.",
    "isneginf": "does not support non-boolean outputs.",
    "signbit": "does not support non-boolean outputs.",
}

# NumPy's names of arguments, which PyTorch takes, too.
RENAMED = {"x": "input", "x1": "input", "a": "input", "x2": "other", "axis": "dim", "keepdims": "keepdim"}


def by_out(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    """The keyword arguments of a call with `out=`; refuses an `out` of the wrong type."""
    if name in _DECIDES and kwargs.get("dtype") is None:
        return {**kwargs, "dtype": out.dtype}
    if name in _SAME:
        kind = getattr(args[0] if args else kwargs.get("input"), "dtype", out.dtype)
        if kind is not out.dtype:
            raise DtypeError(f"Found dtype {out.dtype.old} but expected {kind.old}")
    text = _TRUTHS.get(name)
    if text is not None and out.dtype.name not in ("bool", "uint8"):
        raise DtypeError(f"{name} {text.format(out.dtype.old)}")
    return kwargs
