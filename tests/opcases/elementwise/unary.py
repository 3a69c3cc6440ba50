"""Rows of the functions of one tensor, of complex views and of special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from ..row import Row, either

SHAPES = ((3, 4),)
EDGES = (((0,),), ((),), ((2, 0, 3),))
ROUND = ("float16", "bfloat16")
WHOLE = ("int64", "int32", "uint8")


def derivative(f: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of `f(t, x)` for the weight `g`, as a function of `x` and `g`: how a backward operation is called."""

    def call(t: Any, x: Any, g: Any) -> Any:
        x = x if x.requires_grad else x.detach().requires_grad_(True)
        return t.autograd.grad(f(t, x), x, g, create_graph=True)[0]

    call.differentiates = True  # type: ignore[attr-defined]
    return call


def named(name: str) -> Callable[..., Any]:
    """`t.name(x)`."""
    return lambda t, x, **kwargs: getattr(t, name)(x, **kwargs)


def written(name: str) -> Callable[..., Any]:
    """`x.name_()`."""
    return lambda t, x: getattr(x, name + "_")()


def sign(x: Any) -> Any:
    """np.sign, also of truth values."""
    return x if x.dtype == bool else np.sign(x)


def row(name: str, ref: Any, domain: Any = (-2.0, 2.0), *, complexes: bool = True, **more: Any) -> Row:
    """A floating function: integers become floats."""
    dtypes = (*ROUND, *WHOLE, "bool") + (("complex128",) if complexes else ())
    options = {"inplace": written(name), "out": True, "dtypes": dtypes, "edge_shapes": EDGES} | more
    return Row(name, named(name), SHAPES, ref, domain, **options)


def question(name: str, ref: Any, *, out: bool = False, dtypes: Any = (*ROUND, *WHOLE, "bool")) -> Row:
    """A question with a yes or no for each element, also for infinities and nan."""

    def special(rng: Any) -> tuple[Any, ...]:
        return (np.concatenate([rng.standard_normal(6), [np.inf, -np.inf, np.nan, 0.0, -0.0]]),)

    return Row(name, named(name), ref=ref, inputs=special, grad=(), out=out, dtypes=dtypes, edge_shapes=EDGES)


POSITIVE, UNIT = (0.1, 3.0), (-0.9, 0.9)
EXACT = (*ROUND, *WHOLE)

ROWS = [
    row("exp", np.exp),
    row("exp2", np.exp2),
    row("expm1", np.expm1),
    row("log", np.log, POSITIVE),
    row("log2", np.log2, POSITIVE),
    row("log10", np.log10, POSITIVE),
    row("log1p", np.log1p, (-0.8, 3.0)),
    row("sqrt", np.sqrt, POSITIVE),
    row("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    row("reciprocal", lambda x: 1 / x, POSITIVE),
    row("square", np.square),
    row("abs", np.abs, POSITIVE, dtypes=(*EXACT, "complex128")),
    row("sign", sign, POSITIVE, dtypes=(*EXACT, "bool")),
    row("sgn", sign, POSITIVE, dtypes=(*EXACT, "bool", "complex128")),
    Row("flat", derivative(lambda t, x: t.floor(x)), ((3,), (3,)), lambda x, g: np.zeros_like(g), grad=()),
    row("sin", np.sin),
    row("cos", np.cos),
    row("tan", np.tan, (-1.0, 1.0)),
    row("asin", np.arcsin, UNIT),
    row("acos", np.arccos, UNIT),
    row("atan", np.arctan),
    row("sinh", np.sinh),
    row("cosh", np.cosh),
    row("tanh", np.tanh),
    row("asinh", np.arcsinh),
    row("acosh", np.arccosh, (1.1, 3.0)),
    row("atanh", np.arctanh, UNIT),
    row("sinc", np.sinc),
    row("deg2rad", np.deg2rad, complexes=False),
    row("rad2deg", np.rad2deg, complexes=False),
    row("angle", np.angle, inplace=None),
    row("floor", np.floor, dtypes=EXACT),
    row("ceil", np.ceil, dtypes=EXACT),
    row("trunc", np.trunc, dtypes=EXACT),
    row("frac", lambda x: x - np.trunc(x), (0.1, 0.9), dtypes=ROUND),
    row("round", np.round, dtypes=EXACT),
    Row(
        "round_decimals",
        lambda t, x, **kw: t.round(x, decimals=1, **kw),
        SHAPES,
        lambda x: np.round(x, 1),
        inplace=lambda t, x: x.round_(decimals=1),
        out=True,
        edge_shapes=EDGES,
    ),
    question("signbit", np.signbit, out=True, dtypes=("float16", *WHOLE, "bool")),  # rounding to bfloat16 may turn the sign of nan
    question("isnan", np.isnan),
    question("isinf", np.isinf),
    question("isfinite", np.isfinite),
    question("isreal", np.isreal),
    question("isposinf", np.isposinf, out=True),
    question("isneginf", np.isneginf, out=True),
    Row(
        "nan_to_num",
        lambda t, x, **kw: t.nan_to_num(x, 0.5, posinf=3.0, neginf=-4.0, **kw),
        ref=lambda x: np.nan_to_num(x, nan=0.5, posinf=3.0, neginf=-4.0),
        inputs=lambda rng: (np.append(rng.standard_normal(5), [np.inf, -np.inf, np.nan]),),
        grad=(),
        inplace=lambda t, x: x.nan_to_num_(0.5, posinf=3.0, neginf=-4.0),
        out=True,
    ),
    Row("nan_to_num", named("nan_to_num"), SHAPES, np.nan_to_num, label="finite", edge_shapes=EDGES),
    # Special functions
    row("erf", sp.erf, complexes=False),
    row("erfc", sp.erfc, complexes=False),
    row("erfinv", sp.erfinv, UNIT, complexes=False, dtypes=ROUND),
    row("lgamma", sp.gammaln, POSITIVE, complexes=False),
    row("digamma", sp.digamma, POSITIVE, complexes=False),
    Row("mvlgamma", lambda t, x, **kw: t.mvlgamma(x, 3, **kw), SHAPES,
        lambda x: sum(sp.gammaln(x - i / 2) for i in range(3)) + 1.5 * np.log(np.pi), (1.3, 6.0),
        inplace=lambda t, x: x.mvlgamma_(3), out=True, edge_shapes=EDGES),
    Row("polygamma", lambda t, x, **kw: t.polygamma(2, x, **kw), SHAPES, lambda x: sp.polygamma(2, x), POSITIVE,
        inplace=lambda t, x: x.polygamma_(2), out=True, edge_shapes=EDGES),
    row("i0", sp.i0, complexes=False),
    Row("i1", derivative(lambda t, x: t.i0(x)), ((3,), (3,)), lambda x, g: g * sp.i1(x)),
    row("logit", sp.logit, (0.1, 0.9), complexes=False, dtypes=()),
    Row("logit", lambda t, x: t.logit(x, 0.3), SHAPES, lambda x: sp.logit(np.clip(x, 0.3, 0.7)), (0.02, 0.98),
        label="eps", inplace=lambda t, x: x.logit_(0.3)),
    Row("logit_backward", derivative(lambda t, x: t.logit(x, 0.1)), ((4,), (4,)),
        lambda x, g: g / (x * (1 - x)), (0.2, 0.8)),
]  # fmt: skip


def complex_input(rng: Any) -> tuple[Any, ...]:
    """One complex matrix."""
    return (rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4)),)


def pairs(z: Any) -> Any:
    """Complex numbers as pairs of real ones."""
    return np.stack([z.real, z.imag], -1)


ROWS += [
    Row("real", named("real"), ref=np.real, inputs=complex_input),
    Row("imag", named("imag"), ref=np.imag, inputs=complex_input),
    Row("conj_view", named("conj"), ref=np.conj, inputs=complex_input),
    Row("conj", either("conj", (), lambda t, x: x.conj()), ref=np.conj, inputs=complex_input),
    Row("conj_physical", named("conj_physical"), ref=np.conj, inputs=complex_input, out=True,
        inplace=written("conj_physical")),
    Row("angle_complex", named("angle"), ref=np.angle, inputs=complex_input, out=True),
    Row("view_as_real", named("view_as_real"), ref=pairs, inputs=complex_input),
    Row("view_as_complex", named("view_as_complex"), ((3, 2),), lambda x: x[..., 0] + 1j * x[..., 1]),
    Row("abs", named("abs"), ref=np.abs, inputs=complex_input, label="complex"),
    Row("sgn", named("sgn"), ref=lambda z: z / np.abs(z), inputs=complex_input, label="complex"),
]  # fmt: skip
