"""Check gradients against finite differences, first and second order.

Slow mode builds both Jacobians and compares them entry by entry; fast mode compares vᵀJu for random
directions u and v. Complex outputs are checked part by part; for a complex input the entry is
∂s/∂x + i·∂s/∂y, which is what the engine returns as its gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core import alike
from ..core.backward import gradients
from ..core.delayed import UndefinedGrad
from ..core.devices import write
from ..core.dtypes import FROM_NUMPY, Size, c128, f64
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from . import gradcheck_forward
from .gradcheck_jacobians import get_analytical_jacobian as get_analytical_jacobian
from .gradcheck_jacobians import get_numerical_jacobian as get_numerical_jacobian
from .gradcheck_sparse import by_values

Function = Callable[..., Any]


class GradcheckError(EngineError):
    """Analytical and numerical gradients differ, or backward breaks one of its promises."""


NONDETERMINISM = (
    "\n\nNOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
    "this failure might be expected. Pass `nondet_tol=<tol>` to gradcheck to allow for it."
)


_NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(values: Iterable[Any]) -> tuple[Tensor, ...]:
    return tuple(v for v in values if isinstance(v, Tensor) and v.requires_grad)


def _outputs(values: Any) -> tuple[Tensor, ...]:
    """The outputs that gradients flow through."""
    return tuple(v for v in _tuple(values) if isinstance(v, Tensor) and v.requires_grad)


def _all_float_outputs(values: Any) -> list[Tensor]:
    return [v for v in _tuple(values) if isinstance(v, Tensor) and v._array.dtype.kind in "fc"]


def _close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """`np.allclose(…, equal_nan=True)`; where all numbers are finite, in a tenth of its time."""
    with np.errstate(invalid="ignore"):
        if (np.abs(a - b) <= atol + rtol * np.abs(b)).all():
            return True
    return np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func(*inputs)` with finite differences. True, or GradcheckError (False if told so)."""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    func, arguments = by_values(func, _tuple(inputs))
    try:
        _check_inputs(arguments)
        outputs = func(*arguments)
        checker = Checker(func, arguments, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if not _outputs(outputs):
            checker.expect_no_dependence(outputs)
            return True
        if check_backward_ad:
            checker.compare(outputs, fast=fast_mode)
        if check_forward_ad:
            gradcheck_forward.compare_forward(checker, outputs, fast_mode, check_undefined_grad)
        if check_batched_forward_grad:
            gradcheck_forward.batched_forward(checker)
        if not check_backward_ad:
            return True
        if check_batched_grad:
            checker.batched(outputs)
        checker.backward_is_linear()
        if check_undefined_grad:
            checker.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs: Sequence[Any]) -> None:
    any_required = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        any_required = True
        if x._array.dtype not in (f64, c128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if any(step == 0 and n > 1 for step, n in zip(x.stride(), x._array.shape, strict=True)):
            raise EngineError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping "
                "to be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
        x.retain_grad()
    if not any_required:
        raise ArgumentValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


class Checker:
    """One function at one point."""

    def __init__(
        self, func: Function, inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet: float, dtypes: bool
    ) -> None:
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.nondet, self.check_dtypes = nondet, dtypes
        self.wanted = _differentiable(inputs)

    # Values --------------------------------------------------------------------------------------

    def _values(self, which: int) -> Any:
        """The array of output `which`, freshly computed."""
        return np.array(alike.values(_all_float_outputs(self.func(*self.inputs))[which]))

    def _moved(self, x: Tensor, index: Any, step: Any) -> Any:
        """All outputs with one entry of `x` moved by `step`."""
        array = x._array
        before = array[index] if type(array) is np.ndarray else array[index].copy()  # (elsewhere it is a view)
        array[index] = before + step
        try:
            return [alike.values(out).copy() for out in _all_float_outputs(self.func(*self.inputs))]
        finally:
            array[index] = before

    def _around(self, x: Tensor, index: Any, step: Any) -> list[tuple[Any, Any]]:
        """All outputs before and behind a step of one entry of `x`."""
        pairs = list(zip(self._moved(x, index, -step), self._moved(x, index, step), strict=True))
        for a, b in pairs:
            if a.shape != b.shape or a.dtype is not b.dtype:
                self._alike(a, b, f"on index {index} by {self.eps}")
        return pairs

    def slopes(self, x: Tensor, index: Any, step: Any, size: float) -> list[Any]:
        """Numerical slopes of all outputs, for a step of one entry of `x`."""
        return [(b - a) / (2 * size) for a, b in self._around(x, index, step)]

    def _alike(self, a: Any, b: Any, how: str) -> None:
        """Outputs must not change their kind with the values of the inputs."""
        phrase = (
            "Expected `func` to return outputs with the same {} when inputs are perturbed {}, but got: {}s {} and {}."
        )
        if a.shape != b.shape:
            raise AssertionError(phrase.format("shape", how, "shape", Size(a.shape), Size(b.shape)))
        if a.dtype != b.dtype:
            raise AssertionError(phrase.format("dtype", how, "dtype", FROM_NUMPY[a.dtype], FROM_NUMPY[b.dtype]))

    # Slow mode -----------------------------------------------------------------------------------

    def numerical(self, x: Tensor) -> list[tuple[Any, Any]]:
        """Per output the Jacobians (x.numel × out.numel) of its real and imaginary part."""
        parts = [self._jacobians(x, self.eps)]
        if x._array.dtype.kind == "c":
            parts.append(self._jacobians(x, self.eps * 1j))
        return [
            (parts[0][k].real, parts[0][k].imag)
            if len(parts) == 1
            else (parts[0][k].real + 1j * parts[1][k].real, parts[0][k].imag + 1j * parts[1][k].imag)
            for k in range(len(parts[0]))
        ]

    def _jacobians(self, x: Tensor, step: Any) -> list[Any]:
        """Per output the slopes (x.numel × out.numel) for a step of each entry of `x`: the differences are taken of all at once."""
        around = [self._around(x, index, step) for index in np.ndindex(x._array.shape)]
        if not around:
            return [np.zeros((0, out._array.size)) for out in _all_float_outputs(self.func(*self.inputs))]
        count = len(around)
        return [
            np.array([b - a for a, b in pairs]).reshape(count, -1) / (2 * self.eps)
            for pairs in zip(*around, strict=True)
        ]

    def analytical(self, output: Tensor, part: Any) -> list[Any]:
        """Jacobians of one output (its real part, or with part=1j its imaginary part) for every input, by backward."""
        size = output._array.size
        columns: list[list[Any]] = [[] for _ in self.wanted]
        for j in range(size):
            seed = np.zeros(output._array.shape, output._array.dtype)
            seed.reshape(-1)[j] = part
            for i, g in enumerate(self._backward(output, seed)):
                columns[i].append(np.zeros(self.wanted[i]._array.size) if g is None else self._flat(i, g))
        return [
            np.stack(c, axis=1) if c else np.zeros((x._array.size, 0))
            for c, x in zip(columns, self.wanted, strict=True)
        ]

    def _flat(self, i: int, g: Tensor) -> Any:
        x = self.wanted[i]
        if g._array.shape != x._array.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
        if self.check_dtypes and g._array.dtype != x._array.dtype:
            raise GradcheckError("Gradient has dtype mismatch")
        return alike.values(g).reshape(-1)

    def _backward(self, output: Tensor, seed: Any) -> tuple[Tensor | None, ...]:
        placed = alike.placed(seed, output)
        return gradients(output, self.wanted, placed, retain_graph=True, allow_unused=True, told=False)

    def compare(self, outputs: Any, fast: bool) -> None:
        """Analytical against numerical, for every output and input."""
        if fast:
            self._compare_fast(outputs)
            return
        numerical = [self.numerical(x) for x in self.wanted]
        for k, out in enumerate(_all_float_outputs(outputs)):
            if not out.requires_grad:
                continue
            is_complex = out._array.dtype.kind == "c"
            analytical = self.analytical(out, 1)
            again = self.analytical(out, 1)
            imaginary = self.analytical(out, 1j) if is_complex else None
            for i in range(len(self.wanted)):
                if imaginary is not None:
                    self._require(imaginary[i], numerical[i][k][1], k, i, "imaginary")
                self._require(analytical[i], numerical[i][k][0], k, i, "real" if is_complex else "")
                if not _close(analytical[i], again[i], 0, self.nondet):
                    raise self._not_reentrant()

    def _not_reentrant(self) -> GradcheckError:
        return GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            "different values, although analytical gradient matches numerical gradient."
            f"The tolerance for nondeterminism was {self.nondet}." + NONDETERMINISM
        )

    def _require(self, analytical: Any, numerical: Any, k: int, i: int, part: str) -> None:
        if _close(analytical, numerical, self.rtol, self.atol):
            return
        prefix = f"While considering the {part} part of complex outputs only, " if part else ""
        raise GradcheckError(
            f"{prefix}Jacobian mismatch for output {k} with respect to input {i},\n"
            f"numerical:{_shown(numerical)}\nanalytical:{_shown(analytical)}\n"
        )

    # Fast mode -----------------------------------------------------------------------------------

    def _compare_fast(self, outputs: Any) -> None:
        rng = np.random.default_rng(0)
        directions = [_direction(rng, x._array) for x in self.wanted]
        floats = _all_float_outputs(outputs)
        for k, out in enumerate(floats):
            if not out.requires_grad:
                continue
            parts = (("real", 1), ("imaginary", 1j)) if out._array.dtype.kind == "c" else (("", 1),)
            v = _direction(rng, np.empty(out._array.shape))
            for part, factor in parts:
                seed = (v * factor).astype(out._array.dtype)
                grads = self._backward(out, seed)
                again = self._backward(out, seed)
                for i, (x, u) in enumerate(zip(self.wanted, directions, strict=True)):
                    g = (
                        np.zeros(x._array.shape)
                        if grads[i] is None
                        else self._flat(i, grads[i]).reshape(x._array.shape)
                    )
                    analytical = float(np.sum(g.real * u.real) + np.sum(np.imag(g) * np.imag(u)))
                    slope = self.slope_along(x, u, k)
                    numerical = float(np.sum((slope.imag if factor == 1j else slope.real) * v))
                    self._require_fast(analytical, numerical, k, i, part, u.size)
                    h = again[i]
                    if h is not None and not _close(alike.values(h), g, 0, self.nondet):
                        raise self._not_reentrant()

    def slope_along(self, x: Tensor, u: Any, k: int) -> Any:
        """The numerical slope of output `k` for a step of `x` in direction `u`."""
        array = x._array
        before = np.array(alike.values(x))
        try:
            write(array, before - self.eps * u)
            low = self._values(k)
            write(array, before + self.eps * u)
            high = self._values(k)
        finally:
            write(array, before)
        self._alike(low, high, f"by {self.eps}")
        return (high - low) / (2 * self.eps)

    def _require_fast(self, analytical: float, numerical: float, k: int, i: int, part: str, size: int) -> None:
        # The tolerance is scaled to that of a sum over all entries.
        atol = self.atol * max(1.0, size**0.5)
        if np.isclose(analytical, numerical, rtol=self.rtol, atol=atol, equal_nan=True):
            return
        prefix = f"While considering the {part} part of complex outputs only, " if part else ""
        raise GradcheckError(
            f"{prefix}Jacobian mismatch for output {k} with respect to input {i},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n\n"
            "The above quantities relating the numerical and analytical jacobians are computed in fast mode: run with "
            "fast_mode=False to see them entry by entry."
        )

    # Promises of backward ------------------------------------------------------------------------

    def expect_no_dependence(self, outputs: Any) -> None:
        """No output requires a gradient: then none may depend on the inputs."""
        for x in self.wanted:
            for real, imag in self.numerical(x):
                if np.any(real != 0) or np.any(imag != 0):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def backward_is_linear(self) -> None:
        """A zero gradient in gives zero gradients out."""
        outputs = _outputs(self.func(*self.inputs))
        if not outputs:
            return
        zeros = tuple(alike.zeros(out) for out in outputs)
        grads = gradients(outputs, self.wanted, zeros, allow_unused=True, told=False)
        for g, x in zip(grads, self.wanted, strict=True):
            if g is None:
                continue
            if np.any(alike.values(g) != 0):
                raise GradcheckError("backward not multiplied by grad_output")
            if g._array.dtype != x._array.dtype:
                raise GradcheckError("grad is incorrect type")
            if g._array.shape != x._array.shape:
                raise GradcheckError("grad is incorrect size")

    def undefined_gradients(self) -> None:
        """Backward copes with outputs that get no gradient: none of them does, and then each in its turn."""
        count = len(_outputs(self.func(*self.inputs)))
        for skipped in (None, *range(count if count > 1 else 0)):
            outputs = _outputs(self.func(*self.inputs))
            kept = [UndefinedGrad()(out) if skipped in (None, k) else out for k, out in enumerate(outputs)]
            seeds = tuple(alike.zeros(out) for out in kept)
            try:
                grads = gradients(kept, self.wanted, seeds, allow_unused=True, told=False)
            except (RuntimeError, TypeError, AttributeError) as error:
                raise self._undefined(
                    f"Expected backward function to handle undefined output grads. {_NOTES}"
                ) from error
            if any(g is not None and np.any(alike.values(g) != 0) for g in grads):
                raise self._undefined(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + _NOTES
                )

    def _undefined(self, text: str) -> GradcheckError:
        warnings.warn(
            "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
            "break existing callers of this function. If this is true for you, you can call this function with "
            '"check_undefined_grad=False" to disable the feature',
            UserWarning,
            stacklevel=4,
        )
        return GradcheckError(text)

    def batched(self, outputs: Any) -> None:
        """A batch of vectors gives what the vectors give one by one."""
        from .. import randn_like, stack
        from . import grad

        for out in _outputs(outputs):
            seeds = stack([randn_like(out), randn_like(out)])
            host = alike.values(seeds)
            try:
                together = grad(out, self.wanted, seeds, retain_graph=True, allow_unused=True, is_grads_batched=True)
            except RuntimeError as error:
                raise GradcheckError(f"While computing batched gradients, got: {error}") from error
            for b in range(2):
                alone = self._backward(out, host[b].copy())
                for one, many in zip(alone, together, strict=True):
                    if one is not None and not np.allclose(alike.values(one), alike.values(many)[b], equal_nan=True):
                        raise GradcheckError("batched gradients differ from gradients computed one at a time")


def _direction(rng: Any, like: Any) -> Any:
    """A random unit vector of the shape of `like`."""
    u = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        u = u + 1j * rng.standard_normal(like.shape)
    norm = np.linalg.norm(np.ravel(u))
    return u / norm if norm else u


def _shown(jacobian: Any) -> Any:
    return new_tensor(np.ascontiguousarray(jacobian))


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives with finite differences of the first."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    arguments = _tuple(inputs)
    if grad_outputs is None:
        seeds = _random_seeds(func, arguments, gen_non_contig_grad_outputs)
    else:
        seeds = _tuple(grad_outputs)
    count = len(seeds)
    required = tuple(isinstance(v, Tensor) and v.requires_grad for v in arguments)

    def first_order(*values: Any) -> tuple[Any, ...]:
        cotangents = values[-count:]
        # Forward over reverse hands over duals of detached inputs.
        given = tuple(v.requires_grad_() if wants else v for v, wants in zip(values[:-count], required, strict=True))
        wanted = tuple(v for v in given if isinstance(v, Tensor) and v.requires_grad)
        outputs = _outputs(func(*given))
        grads = gradients(outputs, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        first_order,
        (*arguments, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_seeds(func: Function, inputs: tuple[Any, ...], non_contiguous: bool) -> tuple[Tensor, ...]:
    """One cotangent per output in [-1, 1), from the program's generator as PyTorch's: what is drawn next is the same."""
    from .. import rand

    seeds = []
    for out in _outputs(func(*inputs)):
        apart = non_contiguous and out.numel() > 1
        size = (*out.shape[:-1], 2 * out.shape[-1]) if apart else out.shape
        seed = rand(size, dtype=out.dtype, device=out.device) * 2 - (1 + 1j if out.is_complex() else 1)
        seeds.append((seed[..., ::2] if apart else seed).requires_grad_())
    return tuple(seeds)
