"""The part of gradcheck that looks at forward mode: tangents against finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import alike
from ..core.tensor import Tensor
from ..ops.faces.api import FUNCTIONS
from . import forward_ad

if TYPE_CHECKING:
    from .gradcheck import Checker


def compare_forward(checker: Checker, outputs: Any, fast: bool, undefined: bool) -> None:
    """Tangents against numerical slopes, for every output and input; without a tangent as with a zero one."""
    if fast:
        _compare_fast(checker, outputs)
    else:
        _compare_slow(checker, outputs)
    if undefined:
        _compare_undefined(checker)


def pushed(checker: Checker, tangents: list[Any]) -> list[Any]:
    """The tangents of all floating outputs (None: zero) for these of the differentiable inputs (None: no dual)."""
    with forward_ad.dual_level():
        return [forward_ad.unpack_dual(out).tangent for out in _pushed_outputs(checker, tangents)]


def _pushed_outputs(checker: Checker, tangents: list[Any]) -> list[Tensor]:
    from .gradcheck import _all_float_outputs

    given, left = [], list(tangents)
    for x in checker.inputs:
        if isinstance(x, Tensor) and x.requires_grad:
            tangent = left.pop(0)
            x = x.detach()
            if tangent is not None:
                x = forward_ad.make_dual(x, alike.placed(np.array(tangent), x))
        given.append(x)
    return list(_all_float_outputs(checker.func(*given)))


def _zeros(x: Tensor) -> Any:
    return np.zeros(x._array.shape, x._array.dtype)


def _only(checker: Checker, i: int, tangent: Any) -> list[Any]:
    """A tangent for input `i`, zeros for the others."""
    return [tangent if i == j else _zeros(x) for j, x in enumerate(checker.wanted)]


def _column(checker: Checker, tangent: Any, like: Any) -> Any:
    """The tangent of an output as a flat array."""
    if tangent is None:
        return np.zeros(like.size, like.dtype)
    if checker.check_dtypes and (tangent._array.dtype.kind == "c") != (like.dtype.kind == "c"):
        from .gradcheck import GradcheckError

        raise GradcheckError("Forward AD gradient has dtype mismatch.")
    return alike.values(tangent.detach()).reshape(-1)


def _compare_slow(checker: Checker, outputs: Any) -> None:
    from .gradcheck import _all_float_outputs

    arrays = [out._array for out in _all_float_outputs(outputs)]
    for i, x in enumerate(checker.wanted):
        is_complex = x._array.dtype.kind == "c"
        for part, factor in (("imaginary", 1j), ("real", 1)) if is_complex else (("", 1),):
            numerical: list[list[Any]] = [[] for _ in arrays]
            analytical: list[list[Any]] = [[] for _ in arrays]
            for index in np.ndindex(x._array.shape):
                unit = _zeros(x)
                unit[index] = factor
                slopes = checker.slopes(x, index, checker.eps * factor, checker.eps)
                for k, tangent in enumerate(pushed(checker, _only(checker, i, unit))):
                    numerical[k].append(slopes[k].reshape(-1))
                    analytical[k].append(_column(checker, tangent, arrays[k]))
            for k in range(len(arrays) if x._array.size else 0):
                _require(checker, np.array(analytical[k]), np.array(numerical[k]), k, i, part)


def _require(checker: Checker, analytical: Any, numerical: Any, k: int, i: int, part: str, note: str = "") -> None:
    from .gradcheck import GradcheckError, _shown

    if np.allclose(analytical, numerical, rtol=checker.rtol, atol=checker.atol, equal_nan=True):
        return
    prefix = f"While considering the {part} part of complex inputs only, " if part else ""
    raise GradcheckError(
        f"{prefix}Jacobian computed with forward mode mismatch for output {k} with respect to input {i},\n"
        f"numerical:{_shown(numerical)}\nanalytical:{_shown(analytical)}\n{note}"
    )


def _compare_fast(checker: Checker, outputs: Any) -> None:
    from .gradcheck import _all_float_outputs, _direction

    rng = np.random.default_rng(0)
    arrays = [out._array for out in _all_float_outputs(outputs)]
    weights = [_direction(rng, np.empty(array.shape)).reshape(-1) for array in arrays]
    note = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode: run with "
        "fast_mode=False to see them entry by entry."
    )
    for i, x in enumerate(checker.wanted):
        u = _direction(rng, x._array).astype(x._array.dtype)
        tangents = pushed(checker, _only(checker, i, u))
        for k, (array, v) in enumerate(zip(arrays, weights, strict=True)):
            analytical = np.sum(_column(checker, tangents[k], array) * v)
            numerical = np.sum(checker.slope_along(x, u, k).reshape(-1) * v)
            _require(checker, np.asarray(analytical), np.asarray(numerical), k, i, "", note)


def _compare_undefined(checker: Checker) -> None:
    """An input without a tangent counts like one whose tangent is zero."""
    from .gradcheck import GradcheckError, _direction

    rng = np.random.default_rng(3)
    directions = [_direction(rng, x._array).astype(x._array.dtype) for x in checker.wanted]
    for i, x in enumerate(checker.wanted):
        with_zero = [_zeros(x) if i == j else u for j, u in enumerate(directions)]
        without = [None if i == j else u for j, u in enumerate(directions)]
        for k, (a, b) in enumerate(zip(pushed(checker, with_zero), pushed(checker, without), strict=True)):
            if a is not None and b is not None and not np.allclose(alike.values(a), alike.values(b), equal_nan=True):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {k} when input: {x} has an undefined tangent "
                    f"value.  Got: {a} but expected: {b}"
                )


def batched_forward(checker: Checker) -> None:
    """A batch is mapped sample by sample here: its tangents are those of the samples, unless something else is at play."""
    from .gradcheck import GradcheckError, _direction

    rng = np.random.default_rng(1)
    for i, x in enumerate(checker.wanted):
        batch = [_direction(rng, x._array).astype(x._array.dtype) for _ in range(2)]
        tangents = [[u if i == j else None for j in range(len(checker.wanted))] for u in batch]
        alone = [pushed(checker, each) for each in tangents]
        drawn = FUNCTIONS["get_rng_state"]()
        again = pushed(checker, tangents[0])
        if not np.array_equal(drawn._array, FUNCTIONS["get_rng_state"]()._array):
            raise GradcheckError(
                "While computing batched gradients, got: vmap: We do not yet support calling random operations inside of "
                "vmap. Please perform random operations outside of vmap as a workaround"
            )
        for a, b in zip(alone[0], again, strict=True):
            if (a is None) != (b is None) or (
                a is not None and not np.allclose(alike.values(a), alike.values(b), equal_nan=True)
            ):
                raise GradcheckError("batched tangents differ from tangents computed one at a time")
