"""What to say of an operation that gave birth to a NaN or an infinity: what it met, why that is so, what to write instead."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .. import engine
from ..engine import Node
from .traits import having

# Operation, or a trait of it -> code that avoids it.
_FIXES = {
    "log": "torch.log(x.clamp_min(1e-8)); of probabilities: F.log_softmax(logits, dim) or F.logsigmoid(logits)",
    "log1p": "torch.log1p(x.clamp_min(-1 + 1e-6)); for log1p(exp(x)): F.softplus(x)",
    "sqrt": "torch.sqrt(x.clamp_min(1e-12)), the bound inside the root",
    "rsqrt": "torch.rsqrt(x.clamp_min(1e-12))",
    "quotient": "x / y.clamp_min(1e-8), or leave out what would be divided by zero before the division",
    "reciprocal": "1 / x.clamp_min(1e-8)",
    "exponential": "torch.exp(x.clamp(max=20)); or stay in logarithms (torch.logsumexp, F.softplus, F.cross_entropy)",
    "softmax": "leave one entry of every row unmasked, or mask with a finite number: masked_fill(mask, -1e9)",
    "deviation": "x.std(dim, correction=0), or torch.sqrt(x.var(dim, correction=0) + 1e-8); drop_last=True in the DataLoader",
    "mean": "values.sum() / max(values.numel(), 1), or skip the batch if nothing was selected",
    "arc": "torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6)); or an angle by torch.atan2(sine, cosine)",
    "power": "x.clamp_min(1e-8) ** exponent",
    "norm": "torch.sqrt((x * x).sum(dim) + 1e-12)",
    "angle": "torch.atan2(y, x) where (x, y) is not the origin: add a small number to x",
}
_FIXES["cdist"] = _FIXES["norm"]
# What leaves the range of its type by growing.
_GROWING = having("arithmetic multiplies product power total norm loss", but="quotient")
_LOGARITHMS, _ROOTS, _QUOTIENTS, _EXPONENTIALS = (
    having("log"),
    having("root"),
    having("quotient"),
    having("exponential"),
)
_ARCS, _SOFTMAX, _DEVIATIONS, _MEANS = having("arc"), having("softmax"), having("deviation"), having("mean")


def spoken(node: Node) -> str:
    """What to call the operation of a node: `sqrt`."""
    op = engine.op(node)
    if op is None:
        title: str = engine.title(node)
        return title.removesuffix("Backward")
    return re.sub(r"_(scalar|rows|all|mean|sum|layer|base|scaled)$", "", op.name)


def fix_of(operation: str, overflow: bool = False) -> str:
    """Code that avoids it."""
    if overflow and operation not in _EXPONENTIALS:
        return (
            "a smaller learning rate, torch.nn.utils.clip_grad_norm_ before step(), inputs and targets scaled to about 1; "
            "values that grow so large have diverged long before."
        )
    words = [operation, *sorted(engine.traits(operation))]
    known = [_FIXES[word] for word in words if word in _FIXES]
    return (
        known[0] if known else "keep the arguments of this operation away from where it is not defined (clamp, + eps)."
    )


def all_finite(array: Any) -> bool:
    """Is there no NaN and no infinity? (Of half precision the bits are looked at: NumPy takes its numbers one by one.)"""
    if array.dtype.itemsize != 2 or array.dtype.kind not in "fV" or array.dtype.name not in _EXPONENTS:
        return bool(np.isfinite(array).all())
    exponent = np.uint16(_EXPONENTS[array.dtype.name])
    return not array.size or bool((array.view(np.uint16) & exponent).max() < exponent)


def all_ones(array: Any) -> bool:
    """Is every element 1? (As above.)"""
    if getattr(array, "size", 0) and array[(0,) * array.ndim] != 1:
        return False
    if getattr(array, "dtype", None) is None or array.dtype.itemsize != 2:
        return bool((array == 1).all())
    return bool((array.view(np.uint16) == np.ones((), array.dtype).view(np.uint16)).all())


_EXPONENTS = {"float16": 0x7C00, "bfloat16": 0x7F80}


def first_bad(array: Any) -> tuple[int, ...] | None:
    """Where the first non-finite element is."""
    if array is None or not hasattr(array, "dtype") or array.dtype.kind not in "fcV":
        return None  # (a number is not looked into)
    bad = ~np.isfinite(array.astype(np.float32) if array.dtype.itemsize == 2 else array)
    return tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape)) if bad.any() else None


def number(value: Any) -> str:
    """A number as one says it: `-0.312`, `nan`, `inf`."""
    return f"{float(np.real(value)):.4g}"


def at(index: tuple[int, ...]) -> str:
    """` at [4, 1]`, or nothing for a scalar."""
    return f" at {list(index)}" if index else ""


def value_at(array: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> float | None:
    """The element of an operand that takes part in element `index` of a result, by broadcasting."""
    if isinstance(array, (int, float)):
        return float(array)
    if not isinstance(array, np.ndarray):
        return None
    try:
        return float(np.real(np.broadcast_to(array, shape)[index]))
    except ValueError:
        return None


def reason(name: str, values: list[float | None], output: float, largest: float) -> tuple[str, bool]:
    """Why an operation of these numbers gives a non-finite one, and whether it is an overflow."""
    x = values[0] if values else None
    if name in _LOGARITHMS and len(values) == 1 and x is not None:
        return ("the logarithm of 0 is -inf" if x == 0 else f"the logarithm of {x:.4g} is not defined"), False
    if name in _ROOTS and x is not None:
        return ("1 / sqrt(0) is infinite" if x == 0 else f"{x:.4g} has no square root"), False
    if name in _QUOTIENTS and values:
        below = values[-1]
        if below == 0:
            above = 1.0 if len(values) == 1 else values[-2]
            return ("0 / 0 is not a number" if above == 0 else "it divides by 0"), False
    if name in _EXPONENTIALS and x is not None and math.isfinite(x):
        return f"exp({x:.4g}) is beyond the range of its type", True
    if name in _ARCS and x is not None:
        return f"{name}({x:.4g}) is not defined", False
    if name in _GROWING and not math.isnan(output):
        return f"the result is beyond the range of its type (largest {largest:.3g})", True
    return "", False


def explain(node: Node, operands: list[Any], output: Any) -> tuple[str, bool]:
    """`log gives -inf at [3, 1], where its input is 0: the logarithm of 0 is -inf`, and whether it is an overflow."""
    name = spoken(node)
    index = first_bad(output)
    if index is None:
        below = operands[1] if name == "div" and len(operands) > 1 else None
        by_zero = isinstance(below, np.ndarray) and not below.all()
        return f"`{name}` gives a non-finite value{': it divides by 0' if by_zero else ''}", False
    text = f"`{name}` gives {number(output[index])}{at(index)}"
    op = engine.op(node)
    arrays = [v for v in operands if isinstance(v, np.ndarray)]
    if op is not None and op.name in _SOFTMAX and np.isnan(output[index]):
        return f"{text}: a whole row of its input is -inf (everything is masked), and 0 / 0 is not a number", False
    if op is not None and (op.name in _DEVIATIONS or op.name in _MEANS) and arrays:
        if not arrays[0].size:
            return f"{text}: its input is empty (shape {list(arrays[0].shape)})", False
        if op.name in _DEVIATIONS:
            return f"{text}: with one value there is no unbiased estimate, 0 / 0 (shape {list(arrays[0].shape)})", False
    elementwise = op is None or op.elementwise or op.broadcast
    values = [value_at(v, index, output.shape) for v in operands] if elementwise else []
    known = [v for v in values if v is not None]
    if known and len(known) == len(values):
        text += f", where its input is {', '.join(number(v) for v in known)}"
    why, overflow = reason("" if op is None else op.name, values, float(np.real(output[index])), _largest(output))
    if not why and arrays and not elementwise and not any(v is None for v in operands):
        extent = max((float(np.abs(a).max()) for a in arrays if a.size and a.dtype.kind == "f"), default=0.0)
        text += f"; its inputs are finite, up to {extent:.3g}" if math.isfinite(extent) else ""
    return (f"{text}: {why}" if why else text), overflow


def _largest(array: Any) -> float:
    return float(np.finfo(array.dtype).max) if array.dtype.kind == "f" else math.inf
