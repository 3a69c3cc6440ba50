"""`torch.masked`: reductions and normalisations over the elements where a mask is true.

What is masked out takes the value that changes nothing (0 in a sum, 1 in a product, -inf in a maximum …). Tensors that carry
their masks are in `maskedtensor`, which is loaded when the first is made.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from typing import Any

from .. import linalg as _linalg
from ..absent import rest
from ..core.dtypes import bool_, float32, int8, int16, int32, int64, strided, uint8
from ..core.dtypes import iinfo as _iinfo
from ..errors import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, EngineError, NotSupportedError
from ..ops.faces.api import FUNCTIONS as _FUNCTIONS
from ..ops.faces.api import NN_FUNCTIONAL as _NN

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor", "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

_SMALL = (uint8, bool_, int8, int16, int32)


def _filled(input: Any, mask: Any, value: Any) -> Any:
    """The input, with `value` (or what that says of the input) where the mask is false."""
    if mask is None:
        return input
    value = value(input) if callable(value) else value
    return _FUNCTIONS["where"](
        _whole(mask, input), input, _FUNCTIONS["tensor"](value, dtype=input.dtype, device=input.device)
    )


def _whole(mask: Any, input: Any) -> Any:
    """The mask in the input's shape."""
    if mask.ndim > input.ndim:
        raise ArgumentIndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    return mask.to_dense().to(bool_).broadcast_to(input.shape)


def _sparse(name: str, input: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """Where the input is sparse, the result is."""
    from ..sparse import masked  # loaded with the first sparse tensor

    nothing = _IDENTITIES[name](input) if name in _IDENTITIES else 0
    return masked.reduced(name, input, _dims(dim, input.ndim), bool(keepdim), dtype, mask, nothing)


def _lowest(input: Any, name: str = "amax") -> Any:
    if input.is_complex() and name == "logsumexp":
        return -math.inf
    return -math.inf if input.is_floating_point() else _whole_numbers(input, name).min


def _highest(input: Any, name: str = "amin") -> Any:
    return math.inf if input.is_floating_point() else _whole_numbers(input, name).max


def _whole_numbers(input: Any, name: str) -> Any:
    """What integers of the input's type there are; its type may have no least and no greatest one."""
    if input.dtype is bool_:
        raise NotSupportedError(f"identity of {name} on {input.dtype} input")
    if input.is_complex():
        raise ArgumentTypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
    return _iinfo(input.dtype.numpy)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions from the front; None and () stand for all."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    found: list[int] = []
    for each in (dim,) if isinstance(dim, int) else dim:
        at = each % max(ndim, 1)
        if at in found:
            raise EngineError(f"dim={each} appears multiple times in the list of dims")
        if not -max(ndim, 1) <= each < max(ndim, 1):
            raise ArgumentIndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {each})"
            )
        found.append(at)
    return tuple(sorted(found))


def _wide(input: Any, dtype: Any) -> Any:
    """The type of a sum."""
    return dtype or (int64 if input.dtype in _SMALL else input.dtype)


# Reductions ------------------------------------------------------------------------------------------


def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of what the mask shows."""
    if input.layout is not strided:
        return _sparse("sum", input, dim, keepdim, _wide(input, dtype), mask)
    kind = _wide(input, dtype)
    return _FUNCTIONS["sum"](_filled(input, mask, 0), _dims(dim, input.ndim), bool(keepdim), dtype=kind)


def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of what the mask shows."""
    if input.layout is not strided:
        return _sparse("prod", input, dim, keepdim, _wide(input, dtype), mask)
    result = _filled(input, mask, 1)
    for each in reversed(_dims(dim, input.ndim)):
        result = result.prod(dim=each, keepdim=bool(keepdim))
    return result.to(_wide(input, dtype))


def amax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The largest of what the mask shows."""
    if input.layout is not strided:
        return _sparse("amax", input, dim, keepdim, dtype or input.dtype, mask)
    result = _FUNCTIONS["amax"](_filled(input, mask, _lowest), _dims(dim, input.ndim), bool(keepdim))
    return result.to(dtype or input.dtype)


def amin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The smallest of what the mask shows."""
    if input.layout is not strided:
        return _sparse("amin", input, dim, keepdim, dtype or input.dtype, mask)
    result = _FUNCTIONS["amin"](_filled(input, mask, _highest), _dims(dim, input.ndim), bool(keepdim))
    return result.to(dtype or input.dtype)


def argmax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the largest of what the mask shows lies."""
    return _FUNCTIONS["argmax"](_filled(input, mask, lambda x: _lowest(x, "argmax")), dim, bool(keepdim)).to(
        dtype or input.dtype
    )


def argmin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the smallest of what the mask shows lies."""
    return _FUNCTIONS["argmin"](_filled(input, mask, lambda x: _highest(x, "argmin")), dim, bool(keepdim)).to(
        dtype or input.dtype
    )


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    shown = _FUNCTIONS["ones"](input.shape, dtype=int64, device=input.device) if mask is None else _whole(mask, input)
    return sum(shown.to(int64), dim, keepdim=keepdim)


def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of what the mask shows; NaN where it shows nothing."""
    if input.layout is not strided:
        return _sparse("mean", input, dim, keepdim, dtype or input.dtype, mask)
    kind = dtype or input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        what = "Input dtype" if dtype is None else "Optional dtype"
        raise ArgumentValueError(
            f"mean(): Could not infer output dtype. {what} must be either a floating point or complex dtype. Got: {kind}"
        )
    total = sum(input, dim, keepdim=bool(keepdim), dtype=kind, mask=mask)
    return _FUNCTIONS["div"](total, _count(input, dim, bool(keepdim), mask))


def median(input: Any, dim: Any = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The (lower) median of what the mask shows; NaN where it shows nothing."""
    kind = dtype or input.dtype
    (at,) = _dims(dim, input.ndim)
    floating = input if input.is_floating_point() else input.to(float32)
    if mask is None:
        return _FUNCTIONS["nanmedian"](floating, at, bool(keepdim)).values.to(kind)
    return _FUNCTIONS["nanmedian"](_filled(floating, mask, math.nan), at, bool(keepdim)).values.to(kind)


def norm(
    input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The length of the vector of what the mask shows."""
    masked = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return _linalg.vector_norm(masked, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the sum of the exponentials of what the mask shows."""
    masked = _filled(input, mask, lambda x: _lowest(x, "logsumexp"))
    return _FUNCTIONS["logsumexp"](masked, _dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def var(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The variance of what the mask shows."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = (1.0 if unbiased is None else float(unbiased)) if correction is None else float(correction)
    inexact = input.is_floating_point() or input.is_complex()
    kind = dtype or (input.dtype if inexact else float32)
    within = kind if kind.is_floating_point or kind.is_complex else float32
    centre = sum(input, dim, keepdim=True, dtype=kind, mask=mask) / _count(input, dim, True, mask)
    apart = input - centre
    total = sum(apart * apart.conj(), dim, keepdim=bool(keepdim), dtype=within, mask=mask)
    count = _count(input, dim, True, mask).reshape(total.shape)
    if correction:
        count = (count.to(total.real.dtype if total.is_complex() else within) - correction).clamp(min=0)
    return (total / count).to(kind)


def std(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation of what the mask shows."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


# Element by element ----------------------------------------------------------------------------------


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running sums of what the mask shows."""
    kind = dtype or input.dtype
    return _FUNCTIONS["cumsum"](_filled(input, mask, 0), _dims(dim, input.ndim)[0], dtype=kind)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running products of what the mask shows."""
    kind = dtype or input.dtype
    return _FUNCTIONS["cumprod"](_filled(input, mask, 1), _dims(dim, input.ndim)[0], dtype=kind)


def is_masked_tensor(obj: Any, /) -> bool:
    """Is it a tensor that carries a mask?"""
    core = sys.modules.get(f"{__name__}.maskedtensor.core")  # whoever has one has loaded it
    return core is not None and isinstance(obj, core.MaskedTensor)


def _normalised(name: str, fill: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
        masked = _filled(input, mask, fill)
        return _NN[name](masked, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of what the mask shows."
    return function


softmax = _normalised("softmax", _lowest)
log_softmax = _normalised("log_softmax", _lowest)
softmin = _normalised("softmin", _highest)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """What the mask shows, divided by its length."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / length.clamp(min=eps)


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """The logarithm of the sum of two exponentials, of those that the masks show."""
    lowest = lambda x: _lowest(x, "logaddexp")  # noqa: E731
    first, second = _filled(input, input_mask, lowest), _filled(other, other_mask, lowest)
    return _FUNCTIONS["logaddexp"](first, second).to(dtype or input.dtype)


def _input_mask(input: Any, *args: Any, mask: Any = None, **kwargs: Any) -> Any:
    """The mask in the shape of the input; True everywhere where none is given."""
    if mask is None:
        return _FUNCTIONS["ones_like"](input, dtype=bool_)
    return _whole(mask, input)


def _canonical_dim(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions from the front, in order."""
    return _dims(dim, ndim)


_NORMALISATIONS = ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod")
_REDUCTIONS = ("sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var", "std", "logsumexp")


def _output_mask(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Where the result of a masked function is made of something."""
    name = getattr(op, "__name__", "")
    shown = _input_mask(input, mask=kwargs.get("mask"))
    if name in _NORMALISATIONS:
        return shown
    if name not in _REDUCTIONS:
        raise ValueError(f"_output_mask expected masked operation (got {name or type(op).__name__})")
    rest = args[1:] if name == "norm" else args
    dims = _dims(rest[0] if rest else kwargs.get("dim"), input.ndim)
    return _FUNCTIONS["any"](shown, dims, bool(kwargs.get("keepdim", False)))


def _where(mask: Any, input: Any, fill_value: Any) -> Any:
    """The input where the mask is true; a sparse one has entries where the mask has them, and zeros where the input had none."""
    if mask.layout is strided:
        return _FUNCTIONS["where"](mask, input, fill_value)
    from ..sparse import masked  # loaded with the first sparse tensor

    return masked.where(mask, input, fill_value)


def _combine_input_and_mask(op: Any, input: Any, mask: Any, *args: Any) -> Any:
    """The input with the value that changes nothing in the reduction where the mask is false."""
    identity = _reduction_identity(op.__name__, input, *args)
    return input if mask is None or identity is None else _FUNCTIONS["where"](mask, input, identity)


_IDENTITIES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: 0,
    "cumsum": lambda x: 0,
    "prod": lambda x: 1,
    "cumprod": lambda x: 1,
    "amax": lambda x: _lowest(x),
    "argmax": lambda x: _lowest(x, "argmax"),
    "logaddexp": lambda x: _lowest(x, "logaddexp"),
    "logsumexp": lambda x: _lowest(x, "logsumexp"),
    "amin": lambda x: _highest(x),
    "argmin": lambda x: _highest(x, "argmin"),
    "median": lambda x: math.nan,
}


def _reduction_identity(op_name: str, input: Any, *args: Any) -> Any:
    """The value that changes nothing in a reduction; None where there is none (mean, var, std)."""
    name = op_name.rpartition(".")[2]
    if name in ("mean", "var", "std"):
        return None
    if name == "norm":
        value: Any = math.inf if args and args[0] == -math.inf else 0
    elif name in _IDENTITIES:
        value = _IDENTITIES[name](input)
    else:
        raise NotSupportedError(f"identity of {op_name} on {input.dtype} input")
    kind = float32 if name == "median" and not input.is_floating_point() else input.dtype
    return _FUNCTIONS["tensor"](value, dtype=kind, device=input.device)


_rest = rest(__name__)
_CARRYING = {"MaskedTensor": "core", "masked_tensor": "creation", "as_masked_tensor": "creation"}


def __getattr__(name: str) -> Any:
    """Tensors that carry masks take calls over: every function looks at its arguments from then on, so nobody loads them in vain."""
    if name not in _CARRYING:
        return _rest(name)
    found = getattr(importlib.import_module(f"{__name__}.maskedtensor.{_CARRYING[name]}"), name)
    globals()[name] = found
    return found
