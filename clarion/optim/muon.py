"""Muon: momentum whose matrices are made nearly orthogonal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import bf16
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from .checks import check_lr
from .elementwise import SMALL
from .optimizer import Optimizer, writable


class Muon(Optimizer):
    """For the matrices of hidden layers; vectors and embeddings belong to another optimizer."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr, "Learning rate should be >= 0 but is: ")
        if not momentum >= 0.0:
            raise ArgumentValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ArgumentValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ArgumentValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ArgumentValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        lr, nesterov = group["lr"], group["nesterov"]
        if isinstance(lr, Tensor):  # a number of its own type: what is computed from it is rounded to that
            lr = lr._array.reshape(())[()]
        alike: dict[Any, list[tuple[Any, Any]]] = {}  # small matrices of one shape are made orthogonal together
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.is_complex():
                raise EngineError("Muon does not support complex parameters")
            array, grad = writable(param), param._grad._array
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = new_tensor(np.zeros_like(grad))
            buffer = state["momentum_buffer"]._array
            _between(buffer, grad, 1 - group["momentum"], buffer)
            update = _between(grad, buffer, group["momentum"], np.empty_like(grad)) if nesterov else buffer
            alike.setdefault((array.shape, None if array.size <= SMALL else len(written)), []).append((array, update))
            written.append(param)
        for (shape, _), pairs in alike.items():
            updates = normalized(np.array([update for _, update in pairs], np.float32), group["eps"])
            for (_, momentum), update in zip(pairs, updates, strict=True):
                if not nesterov and momentum.dtype == bf16:
                    momentum[...] = update  # in PyTorch, too: nothing is converted, so that nothing is copied before
            updates = orthogonal(updates, group["ns_coefficients"], group["ns_steps"])
            rate = _adjusted(lr, group["adjust_lr_fn"], shape)
            for (array, _), update in zip(pairs, updates, strict=True):
                number = _computed_in(array)
                decay = number(1 - lr * group["weight_decay"])
                np.multiply(array, decay, array, dtype=number, casting="same_kind")
                _sum(update, -number(rate), array, array)


def normalized(x: Any, eps: float) -> Any:
    """Matrices over their norms, in place, rounded as in bfloat16."""
    _rounded(x)
    norm = _rounded(np.sqrt(np.einsum("nij,nij->n", x, x)))
    np.divide(x, _rounded(np.maximum(norm, np.float32(eps)))[:, None, None], x)
    return _rounded(x)


def orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """The nearest matrices with singular values near one, rounded as in bfloat16. `x` is overwritten."""
    if steps >= 100:
        raise ArgumentValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ArgumentValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = (float(np.float32(each)) for each in coefficients)
    tall = x.shape[1] > x.shape[2]
    x = np.ascontiguousarray(_turned(x)) if tall else x
    x = _iterated(x, a, b, c, steps)
    return _turned(x) if tall else x


# The first two products are symmetric: BLAS computes half of them, and NumPy copies it to the other half, which takes long
# where rows lie a power of two apart. Hence large ones have a margin; it is computed with the rest, and stays zero.
MARGIN = 16


def _iterated(x: Any, a: float, b: float, c: float, steps: int) -> Any:
    """Newton and Schulz's iteration in two places for each matrix, which are taken in turns: `x` is one of them."""
    count, rows, columns = x.shape
    margin = MARGIN if rows * columns > SMALL else 0
    wide_gram, wide_change = np.zeros((2, count, rows, rows + margin), np.float32)
    gram, change = wide_gram[:, :, :rows], wide_change[:, :, :rows]
    following = np.empty_like(x)
    for _ in range(steps):
        _product(x, _turned(x), gram)
        _rounded(wide_gram, wide_change)
        _product(gram, _turned(gram), change)
        np.multiply(wide_change, c, wide_change)
        _sum(wide_gram, b, wide_change, wide_change)
        _rounded(wide_change, wide_gram)
        _product(change, x, following)
        _sum(x, a, following, following)
        x, following = _rounded(following, x), x
    return x


# NOTE [Rounding of Muon]: PyTorch iterates in bfloat16: every product is summed in float32, scaled and added there, and
# rounded once. Rounded differently, the iteration, which magnifies small singular values, is soon somewhere else; rounded
# at the same places it stays bit for bit while the sums do. Products of up to 4096 multiplications PyTorch sums in a loop
# of its own, which is followed here; larger ones go to a library whose order depends on the processor.
OWN_LOOP = 16 * 16 * 16
LANES = 4


def _product(x: Any, y: Any, out: Any) -> None:
    """x @ y, small ones summed in PyTorch's order: each fourth term in a sum of its own, and what is left in the first."""
    count, rows, inner = x.shape
    if rows * inner * y.shape[2] > OWN_LOOP:
        np.matmul(x, y, out)
        return
    whole = inner - inner % LANES
    left = x[:, :, :whole].reshape(count, rows, whole // LANES, LANES).transpose(3, 0, 1, 2)
    right = y[:, :whole].reshape(count, whole // LANES, LANES, y.shape[2]).transpose(2, 0, 1, 3)
    first, second, third, fourth = np.ascontiguousarray(left) @ np.ascontiguousarray(right)
    for i in range(whole, inner):
        first += x[:, :, i, None] * y[:, i, None]
    np.add((first + second) + third, fourth, out)


WORTH_BLAS = 1 << 15


def _sum(x: Any, factor: Any, y: Any, out: Any) -> Any:
    """x * factor + y into `out`, rounded once as processors do it: in float64 the product is exact."""
    # BLAS has it in one instruction, but leaves out a factor of zero, and with it NaNs and infinities.
    if x.size > WORTH_BLAS and factor and all(e.dtype == np.float32 and e.flags.c_contiguous for e in (x, y, out)):
        from scipy.linalg.blas import saxpy  # here, because it takes a fifth of a second

        if out is not y:
            np.copyto(out, y)
        saxpy(x.reshape(-1), out.reshape(-1), a=factor)
        return out
    exact = np.multiply(x, factor, dtype=np.float64)
    return np.add(exact, y, out, dtype=np.float64, casting="same_kind")


def _turned(x: Any) -> Any:
    return x.transpose(0, 2, 1)


HALF_BITS, LAST, BELOW, KEPT = (np.asarray(each, np.uint32) for each in (16, 1, 0x7FFF, 0xFFFF0000))


def _rounded(array: Any, scratch: Any = None) -> Any:
    """Round float32 to what bfloat16 can hold, in place: to the nearest, ties to even. `scratch` is overwritten."""
    bits = array.view(np.uint32)
    odd = np.right_shift(bits, HALF_BITS, None if scratch is None else scratch.view(np.uint32))
    np.bitwise_and(odd, LAST, odd)
    np.add(odd, BELOW, odd)
    np.add(bits, odd, bits)
    np.bitwise_and(bits, KEPT, bits)
    return array


def _between(start: Any, end: Any, weight: float, out: Any) -> Any:
    """start + weight * (end - start), counted from the nearer end."""
    number = _computed_in(start)
    nearer, factor = (start, number(weight)) if weight < 0.5 else (end, number(weight) - number(1))
    return _sum(np.subtract(end, start, dtype=number), factor, nearer, out)


def _computed_in(array: Any) -> Any:
    """The type that PyTorch computes in: half precision is only how numbers are kept."""
    return np.promote_types(array.dtype, np.float32).type


def _adjusted(lr: float, how: str | None, shape: tuple[int, ...]) -> float:
    rows, columns = shape
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
