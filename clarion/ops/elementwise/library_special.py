"""`torch.special`: Bessel and Airy functions, the normal distribution, entropy, zeta."""

from __future__ import annotations

import math
from typing import Any

from ...core.op import Op
from ...core.tensor import Tensor
from ..faces.api import FUNCTIONS, with_out
from ..faces.typed import TypedOp, not_implemented, one_tensor


def _title(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


_OF_HALVES = frozenset(["i0e", "i1e", "ndtr", "entr"])


def _one(name: str, rule: Any, words: str) -> TypedOp:
    """`torch.special.name(input)`, found among the functions as special_name."""
    node = f"Special{_title(name)}Backward0"
    known = rule is not None  # PyTorch's others end the history
    op = TypedOp(f"special_{name}", "x", elementwise=True, promote="float", node=node, differentiable=known).refusing(
        "c", title=f"{name}_cpu"
    )
    if name not in _OF_HALVES:
        op.without_halves()
    if known:
        op.vjp(x=rule)

    def function(input: Any) -> Any:
        return op.call(input)

    function.__name__, function.__doc__ = f"special_{name}", words
    FUNCTIONS[f"special_{name}"] = with_out(f"special_{name}", function)
    return op


_one("bessel_j0", None, "The Bessel function of the first kind, of order 0.")
_one("bessel_j1", None, "The Bessel function of the first kind, of order 1.")
_one("bessel_y0", None, "The Bessel function of the second kind, of order 0.")
_one("bessel_y1", None, "The Bessel function of the second kind, of order 1.")
_one("modified_bessel_i0", None, "The modified Bessel function of the first kind, of order 0.")
_one("modified_bessel_i1", None, "The modified Bessel function of the first kind, of order 1.")
_one("modified_bessel_k0", None, "The modified Bessel function of the second kind, of order 0.")
_one("modified_bessel_k1", None, "The modified Bessel function of the second kind, of order 1.")
_one("scaled_modified_bessel_k0", None, "exp(x) times the modified Bessel function of the second kind, of order 0.")
_one("scaled_modified_bessel_k1", None, "exp(x) times the modified Bessel function of the second kind, of order 1.")
_one("spherical_bessel_j0", None, "sin(x) / x.")
_one("airy_ai", None, "The Airy function Ai.")
_one("i0e", lambda g, x, out, ops: g * (ops.special_i1e(x) - ops.sgn(x) * out), "exp(-|x|) times i0(x).")


def _i1e_rule(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """i0e(x) - i1e(x) (sgn(x) + 1/x), which is 1/2 at 0 (and its own slope there 0)."""
    slope = ops.special_i0e(x) - out * (ops.sgn(x) + 1 / (x + (x == 0)))
    return g * ops.where(x == 0, 0.5, slope)


_one("i1e", _i1e_rule, "exp(-|x|) times i1(x).")
_one("erfcx", lambda g, x, out: g * (2 * x * out - 2 / math.sqrt(math.pi)), "exp(x²) times erfc(x).")
_one(
    "ndtr",
    lambda g, x, ops: g * (ops.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))),
    "The normal distribution function.",
)
_one("ndtri", lambda g, out, ops: g * (ops.exp(out * out * 0.5) * math.sqrt(2 * math.pi)), "The inverse of `ndtr`.")
_one(
    "log_ndtr",
    lambda g, x, ops: g / ops.special_erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi),
    "The logarithm of the normal distribution function.",
)
_one("entr", lambda g, x, ops: g * (-ops.log(x) - 1), "-x log(x): the entropy of each element.")

xlog1py_op = TypedOp("special_xlog1py", "x y", node="SpecialXlog1PyBackward0", elementwise=True, promote="float")
xlog1py_op.refusing("c").vjp(
    x=lambda g, x, y, ops: ops.where((x == 0) & (y <= -1), 0, ops.special_xlog1py(g, y)),
    y=lambda g, x, y: g * (x / (y + 1)),
)
zeta_op = TypedOp("special_zeta", "x y", node="SpecialZetaBackward0", elementwise=True, promote="float").refusing(
    "c", title="zeta_cpu"
)
zeta_op.without_halves().vjp(x=not_implemented("zeta"), y=lambda g, x, y, ops: g * (-x * ops.special_zeta(x + 1, y)))


def _two(op: Op, words: str) -> None:
    name = op.name

    def function(input: Any, other: Any) -> Any:
        one_tensor(name, input, other)
        if not isinstance(input, Tensor):
            input = FUNCTIONS["scalar_tensor"](input, dtype=other.dtype if other.is_floating_point() else None)
        return op.call(input, other)

    function.__name__, function.__doc__ = name, words
    FUNCTIONS[name] = with_out(name, function)


_two(xlog1py_op, "input * log1p(other), and 0 where input is 0.")
_two(zeta_op, "The Hurwitz zeta function.")
