"""Dropout. The noise is what PyTorch draws from the same seed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ...core import modes
from ...core.devices import HOST, Kind, as_array, kind_of, ndarray
from ...core.dtypes import FLOATING, bool_, f32, f64
from ...core.inplace import inplace as write_into
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentValueError, DtypeError, EngineError, NotSupportedError, not_a_tensor
from ...events import hub
from ...kernels.layout import dense_order
from ...kernels.random import default_generator, dropout_mask
from ...kernels.registry import raw
from ..elementwise.arithmetic import mul_op
from ..faces.api import FUNCTIONS, METHODS, functional, public
from ..faces.options import inverse, warn_user

_FEW = 512  # numbers that are drawn and multiplied in one step


def noise(where: Kind, shape: tuple[int, ...], p: float, dtype: Any, drawn: str = "kept") -> Any:
    """0 with probability p, else 1 / (1 - p)."""
    if p == 1:
        return where.xp.zeros(shape, dtype)
    kept = where.draw(drawn, None, shape, dtype, 1 - p)
    if kept is not None:
        return (kept * float(_factor(p, dtype))).astype(dtype, copy=False)
    return where.computed(shape, dtype, lambda: _factors(shape, p, dtype))


def _factors(shape: tuple[int, ...], p: float, dtype: Any) -> Any:
    if (n := math.prod(shape)) <= _FEW and (dtype is f32 or dtype is f64) and 0 < p < 1:
        words = default_generator.words(2 * n)
        return raw.trial_factors(words, math.ceil((1 - p) * 2.0**53), _factor(p, dtype), shape)
    keep = dropout_mask(default_generator, shape, p)
    return as_array(HOST.xp.multiply(keep, _factor(p, dtype), dtype=dtype if dtype.kind == "f" else None))


@lru_cache(maxsize=64)
def _factor(p: float, dtype: Any) -> Any:
    """1 / (1 - p), rounded as PyTorch rounds it."""
    xp, wide = HOST.xp, f32 if dtype.itemsize == 2 else dtype
    return as_array((xp.asarray(1, wide) / xp.asarray(1 - p, wide)).astype(dtype))


def noise_like(array: Any, p: float) -> Any:
    """Noise for an array, drawn in the order of its memory: PyTorch's noise has the input's strides."""
    if type(array) is ndarray and array.flags.c_contiguous and p != 1 and not modes.batches:
        return _factors(array.shape, p, array.dtype)
    where = kind_of(array)
    if array.flags.c_contiguous:
        return noise(where, array.shape, p, array.dtype)
    order = dense_order(array)
    return noise(where, tuple([array.shape[d] for d in order]), p, array.dtype).transpose(inverse(order))


def _apply(input: Tensor, factors: Any, p: float, inplace: bool) -> Any:
    if input._array.dtype not in FLOATING:
        _refuse_type(input.dtype)
    if hub.dropped is not None:
        hub.dropped(input, p)
    other = new_tensor(factors)
    return write_into(mul_op, input, other) if inplace else mul_op.call(input, other)


def _check(p: Any, input: Any) -> None:
    if not 0.0 <= p <= 1.0:
        raise ArgumentValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not isinstance(input, Tensor):
        raise not_a_tensor("dropout", "input", input, 1)


def _refuse_type(kind: Any) -> None:
    if kind.is_complex:
        raise NotSupportedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{kind.old}'")
    raise DtypeError(f"result type Float can't be cast to the desired output type {kind.old}")


@public(method=False, out=True)
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """What dropout leaves, and where it left it."""
    if train is not None and not train:
        return input.clone(), FUNCTIONS["ones_like"](input, dtype=bool_)
    kept = FUNCTIONS["empty_like"](input, dtype=bool_).bernoulli_(1 - p)
    return input * kept * (0.0 if p == 1 else 1 / (1 - p)), kept


@functional()
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero each element with probability p and scale the others by 1 / (1 - p)."""
    _check(p, input)
    if p == 0 or not training or not input._array.size:
        return input
    return _apply(input, noise_like(input._array, p), p, inplace)


def _whole_channels(input: Any, p: float, inplace: bool) -> Any:
    shape = input._array.shape
    whole = (*shape[:2], *(1,) * (len(shape) - 2))
    factors = noise(kind_of(input._array), whole, p, input._array.dtype, "bernoulli")
    return _apply(input, factors, p, inplace)


def _unusual(name: str, ndim: int, spatial: int) -> None:
    """An input of too many or too few dimensions: refused by dropout1d, and warned of by the others."""
    few = f"{spatial + 1}D or {spatial + 2}D input"
    purpose = (
        f"Note that {name} exists to provide channel-wise dropout on inputs with {spatial} spatial "
        f"dimension{'s' if spatial > 1 else ''}, a channel dimension, and an optional batch dimension (i.e. {few}s)."
    )
    if spatial == 1:
        raise EngineError(f"dropout1d: Expected {few}, but received a {ndim}D input. {purpose}")
    warn_user(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future release. "
        f"To retain the behavior and silence this warning, please use dropout instead. {purpose}"
    )


def _feature_dropout(name: str, spatial: int) -> Any:
    def function(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        """Zero whole channels with probability p and scale the others by 1 / (1 - p)."""
        _check(p, input)
        ndim = input.ndim
        if ndim != spatial + 2:
            if ndim != spatial + 1:
                _unusual(name, ndim, spatial)
            elif spatial == 2:  # PyTorch's history: the first of three dimensions is the batch
                warn_user(
                    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
                    "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
                    "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
                    "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
                )
        if p == 0 or not training or not input._array.size:
            return input
        if ndim != spatial + 2 and spatial != 2:  # no batch dimension
            return _whole_channels(input.unsqueeze(0), p, inplace).squeeze(0)
        return feature_dropout(input, p, training, inplace)

    function.__name__ = name
    return functional(name)(function)


dropout1d = _feature_dropout("dropout1d", 1)
dropout2d = _feature_dropout("dropout2d", 2)
dropout3d = _feature_dropout("dropout3d", 3)


@functional()
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and variance of what SELU gives: dropped elements go to SELU's lower end."""
    _check(p, input)
    if p == 0 or not training or not input._array.size:
        return input
    if p == 1:
        return _apply(input, noise(kind_of(input._array), input._array.shape, p, input._array.dtype), p, inplace)
    return _towards_lower_end(input, input._array.shape, p, inplace)


@functional()
def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`alpha_dropout` of whole channels."""
    _check(p, input)
    if p == 0 or not training or not input._array.size:
        return input
    if input._array.ndim < 2:
        raise EngineError("Feature dropout requires at least 2 dimensions in the input")
    if p == 1:
        return _apply(input, noise(kind_of(input._array), input._array.shape, p, input._array.dtype), p, inplace)
    shape = input._array.shape
    return _towards_lower_end(input, (*shape[:2], *(1,) * (len(shape) - 2)), p, inplace, in_rows=True)


def _towards_lower_end(input: Any, shape: tuple[int, ...], p: float, inplace: bool, in_rows: bool = False) -> Any:
    alpha = 1.7580993408473766
    array, kind = input._array, input._array.dtype
    where = kind_of(array)
    # As in `noise_like`, elements are drawn in the order of memory; channels in rows.
    order = range(len(shape)) if array.flags.c_contiguous or in_rows else dense_order(array)
    drawn = tuple([shape[d] for d in order])
    keep = where.draw("bernoulli", None, drawn, kind, 1 - p)
    if keep is None:
        keep = where.computed(drawn, kind, lambda: dropout_mask(default_generator, drawn, p).astype(kind))
    keep = keep.transpose(inverse(order))
    a = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    shift = (keep - 1) * (alpha * a) + alpha * a * p
    scaled = _apply(input, keep * input._array.dtype.type(a), p, inplace)
    return scaled.add_(new_tensor(shift.astype(input._array.dtype)))


@public("dropout", method=False)
def _dropout(input: Any, p: float, train: bool) -> Any:
    return dropout(input, p, train)


@public("dropout_", method=False)
def _dropout_(input: Any, p: float, train: bool) -> Any:
    """dropout, written into its input."""
    return dropout(input, p, train, True)


def feature_dropout(input: Any, p: float, train: bool, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, *) with probability p and scale the others by 1 / (1 - p)."""
    if p == 0 or not train or not input._array.size:
        return input
    if input._array.ndim < 2:
        raise EngineError("Feature dropout requires at least 2 dimensions in the input")
    return _whole_channels(input, p, inplace)


def _in_main(name: str, function: Any) -> None:
    """Offer a dropout as `torch.name` and `torch.name_`, whose last argument is `train`."""

    def main(input: Any, p: float, train: bool) -> Any:
        return checked(input, p, train, False)

    def main_(input: Any, p: float, train: bool) -> Any:
        return checked(input, p, train, True)

    def checked(input: Any, p: float, train: bool, inplace: bool) -> Any:
        if not isinstance(input, Tensor):
            raise not_a_tensor(name, "input", input, 1)
        if not 0.0 <= p <= 1.0:
            raise EngineError(f"dropout probability has to be between 0 and 1, but got {p}")
        return function(input, p, train, inplace)

    main.__doc__ = main_.__doc__ = function.__doc__
    FUNCTIONS[name], FUNCTIONS[name + "_"] = main, main_


_in_main("alpha_dropout", alpha_dropout)
_in_main("feature_alpha_dropout", feature_alpha_dropout)
_in_main("feature_dropout", feature_dropout)
METHODS.pop("dropout", None)
