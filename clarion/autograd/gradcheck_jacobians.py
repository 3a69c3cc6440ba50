"""Whole Jacobians, by finite differences and by backward: functions that PyTorch keeps for old programs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be a "
        "stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ArgumentValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def _checker(func: Any, inputs: Any, eps: float = 1e-6) -> Any:
    from .gradcheck import Checker

    return Checker(func, tuple(inputs), eps, 0.0, 0.0, 0.0, False)


def get_numerical_jacobian(
    fn: Any, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Jacobians of the first output of `fn(inputs)` by finite differences, for every input (or for `target`)."""
    _deprecated("get_numerical_jacobian", grad_out)
    checker = _checker(lambda *values: fn(values), inputs, eps)
    wanted = checker.wanted if target is None else (target,) if isinstance(target, Tensor) else tuple(target)
    found = []
    for x in wanted:
        real, imag = checker.numerical(x)[0]
        found.append(new_tensor(np.ascontiguousarray(real + 1j * imag if np.any(imag) else real)))
    return tuple(found)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[Any, bool, bool, bool]:
    """Jacobians of `output` by backward; whether a second run gives the same, and all sizes and types fit."""
    _deprecated("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise ArgumentValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return complex "
            "outputs."
        )
    checker = _checker(None, (inputs,) if isinstance(inputs, Tensor) else inputs)
    first, second = checker.analytical(output, 1), checker.analytical(output, 1)
    same = all(np.allclose(a, b, rtol=0, atol=nondet_tol, equal_nan=True) for a, b in zip(first, second, strict=True))
    fit = all(a.dtype == x._array.dtype for a, x in zip(first, checker.wanted, strict=True))
    return tuple(new_tensor(np.ascontiguousarray(each)) for each in first), same, True, fit
