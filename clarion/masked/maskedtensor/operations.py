"""What public functions do with tensors that carry a mask: `handler(name)(function, *args, **kwargs)`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ... import masked as _functions
from ...core.dtypes import bool_, strided
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError
from ...ops.faces.api import FUNCTIONS
from .binary import BINARY_NAMES, INPLACE_BINARY_NAMES
from .core import _masks_match, is_masked_tensor, masked
from .reductions import REDUCE_NAMES
from .unary import INPLACE_UNARY_NAMES, UNARY_NAMES


@functools.cache
def handler(name: str) -> Callable[..., Any] | None:
    """What a public function of this name does with masked tensors; None: there is nothing."""
    if name in UNARY_NAMES or name in INPLACE_UNARY_NAMES:
        return _unary
    if name in BINARY_NAMES or name in INPLACE_BINARY_NAMES:
        return _binary
    if name in REDUCE_NAMES:
        return functools.partial(_reduced, name)
    return _through if name in THROUGH else OTHERS.get(name)


# Element by element ------------------------------------------------------------------------------------


def _unary(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(each, Tensor) for each in (*args, *kwargs.values())):
        raise ArgumentTypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    return _on_entries(function, x, x._held, args, kwargs)


def _binary(function: Any, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(each, Tensor) for each in (*args, *kwargs.values())):
        raise ArgumentTypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
    if not _masks_match(x, y):
        raise ArgumentValueError(
            "Input masks must match. If you need support for this, please open an issue on Github."
        )
    first, second = (each._held if is_masked_tensor(each) else each for each in (x, y))
    if not is_masked_tensor(x):
        return _behind(function(first, second, *args, **kwargs), y._mask)
    if isinstance(second, Tensor) and second.layout is not strided:
        second = second._held
    return _on_entries(function, x, first, (second, *args), kwargs)


def _on_entries(function: Any, x: Any, data: Any, args: Any, kwargs: Any) -> Any:
    """The function of the data, or of the entries of sparse data."""
    entries = data if data.layout is strided else data._held
    result = function(entries, *args, **kwargs)
    if result is entries:  # written in place
        return x
    return _behind(result if data.layout is strided else data.alike(result), x._mask)


def _behind(data: Any, mask: Any) -> Any:
    return masked(data, mask.expand_as(data) if data.layout is strided else mask)


# Reductions --------------------------------------------------------------------------------------------


def _reduced(name: str, function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if not args and not kwargs:
        return _reduced_to_one(name, x)
    if x.is_sparse:
        raise ArgumentTypeError(f"The sparse version of {name} is not implemented in reductions.")
    return _reduced_along(name, x, *args, **kwargs)


def _reduced_to_one(name: str, x: Any) -> Any:
    data, mask = (x._held, x._mask) if not x.is_sparse else (x._held._held, x._mask._held)
    if name == "all":
        result = data.masked_fill(~mask, True).all()
    elif x.is_sparse and name in ("argmin", "argmax"):
        at = getattr(_functions, name)(data, mask=mask).long()
        places = x._held._at[:, at]
        result = sum(place * math.prod(x.shape[i + 1 :]) for i, place in enumerate(places.unbind(0)))
    else:
        result = getattr(_functions, name)(data, mask=mask)
    return masked(result, mask.any())


def _reduced_along(name: str, x: Any, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    if name == "all":
        result = x._held.masked_fill(~x._mask, True).all(dim, keepdim)
    else:
        result = getattr(_functions, name)(x._held, dim=dim, keepdim=keepdim, dtype=dtype, mask=x._mask)
    return masked(result, x._mask.any(dim, keepdim))


# What moves elements moves their masks ---------------------------------------------------------------

THROUGH = frozenset(
    [
        "select",
        "transpose",
        "split",
        "t",
        "slice",
        "index",
        "expand",
        "expand_as",
        "view",
        "view_as",
        "reshape",
        "flatten",
        "unflatten",
        "permute",
        "movedim",
        "squeeze",
        "unsqueeze",
        "unfold",
        "im2col",
        "cat",
        "concat",
        "stack",
        "chunk",
        "unbind",
        "narrow",
        "swapaxes",
        "swapdims",
        "__getitem__",
        "T",
        "mT",
    ]
)


def _part(value: Any, name: str) -> Any:
    if is_masked_tensor(value):
        return getattr(value, name)
    if isinstance(value, (list, tuple)):
        return type(value)([_part(each, name) for each in value])
    return value


def _through(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The function of the data, and of the mask."""
    data = function(*_part(args, "_held"), **{key: _part(each, "_held") for key, each in kwargs.items()})
    mask = function(*_part(args, "_mask"), **{key: _part(each, "_mask") for key, each in kwargs.items()})
    if isinstance(data, (list, tuple)):
        return type(data)([masked(d, m) for d, m in zip(data, mask, strict=True)])
    return masked(data, mask)


# Others ------------------------------------------------------------------------------------------------


def _of_data(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    result = function(x._held, *args, **kwargs)
    return masked(result, x._mask.to(result.device))


def _where(function: Any, condition: Any, x: Any, y: Any) -> Any:
    parts = [
        (each._held, each._mask) if is_masked_tensor(each) else (each, FUNCTIONS["ones_like"](each, dtype=bool_))
        for each in (x, y)
    ]
    return masked(*[FUNCTIONS["where"](condition, *pair) for pair in zip(*parts, strict=True)])


def _softmax(function: Any, x: Any, dim: Any, *args: Any, **kwargs: Any) -> Any:
    lowest = FUNCTIONS["tensor"](-math.inf, dtype=x.dtype)
    return masked(function(FUNCTIONS["where"](x._mask, x._held, lowest), dim, *args, **kwargs), x._mask)


def _contiguous(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    name = function.__name__
    if x.is_sparse:
        raise ArgumentValueError("MaskedTensors with sparse data do not have is_contiguous")
    if name == "is_contiguous":
        return function(x._held, *args, **kwargs)
    return _through(function, x, *args, **kwargs)


def _to_dense(function: Any, x: Any) -> Any:
    return masked(x._held.to_dense(), x._mask.to_dense()) if x.is_sparse else x


def _to_sparse(function: Any, x: Any) -> Any:
    if x.is_sparse_coo():
        return x
    mask = x._mask.to_sparse()
    return masked(x._held.sparse_mask(mask), mask)


def _to_sparse_csr(function: Any, x: Any) -> Any:
    if x.dim() != 2:
        raise ArgumentValueError(f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {x.size()}")
    if x.is_sparse_csr():
        return x
    mask = x._mask.to_sparse_csr()
    return masked(x._held.sparse_mask(mask), mask)


def _item(function: Any, x: Any) -> Any:
    if not x._mask.item():
        raise ArgumentValueError("__torch_dispatch__, aten._local_scalar_dense: expected a mask tensor")
    return x._held.item()


def _copied(function: Any, x: Any, y: Any, *args: Any) -> Any:
    if not _masks_match(x, y):
        raise ArgumentValueError("args[0] mask and args[1] mask must match but do not")
    function(x._held, y._held if is_masked_tensor(y) else y, *args)
    return x


def _any_true(function: Any, x: Any) -> Any:
    if x.dtype is not bool_:
        raise ArgumentValueError("__torch_dispatch__, aten._is_any_true: expected a boolean tensor")
    return masked((x._held & x._mask).any(), FUNCTIONS["tensor"](True))


OTHERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(
        [
            "detach",
            "clone",
            "to",
            "float",
            "double",
            "half",
            "int",
            "long",
            "short",
            "bool",
            "ones_like",
            "requires_grad_",
        ],
        _of_data,
    ),
    "where": _where,
    "softmax": _softmax,
    **dict.fromkeys(("contiguous", "is_contiguous"), _contiguous),
    "to_dense": _to_dense,
    **dict.fromkeys(("to_sparse", "to_sparse_coo"), _to_sparse),
    "to_sparse_csr": _to_sparse_csr,
    "item": _item,
    "copy_": _copied,
    "is_same_size": lambda function, x, y: x.shape == y.shape,
    "_is_any_true": _any_true,
}
