"""Draws of the gamma, Dirichlet and binomial distributions; the incomplete gamma functions."""

from __future__ import annotations

from typing import Any

from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import DtypeError
from ..faces.api import call, public
from ..faces.options import tensor_argument
from ..faces.typed import TypedOp, need_tensors, no_gradient, not_implemented
from .generator import drawn_by

standard_gamma_op = Op("standard_gamma", "x", "gen", moves=True)
standard_gamma_op.vjp(x=lambda g, x, out, ops: g * ops.standard_gamma_grad(x, out))

standard_gamma_grad_op = Op("standard_gamma_grad", "x output", broadcast=True)
standard_gamma_grad_op.vjp(x=no_gradient("_standard_gamma_grad"), output=no_gradient("_standard_gamma_grad"))

sample_dirichlet_op = Op("sample_dirichlet", "x", "gen", node="_DirichletBackward", moves=True)


def _dirichlet_rule(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """Each share moves with each concentration; the shares stay on the simplex."""
    last = len(out.shape) - 1
    moved = ops.dirichlet_grad(out, x, ops.sum(x, (last,), True))
    return moved * (g - ops.sum(out * g, (last,), True))


sample_dirichlet_op.vjp(x=_dirichlet_rule)

dirichlet_grad_op = Op("dirichlet_grad", "x alpha total", broadcast=True)
dirichlet_grad_op.vjp(**{name: no_gradient("_dirichlet_grad") for name in ("x", "alpha", "total")})

binomial_op = Op("binomial", "count prob", "gen", moves=True, broadcast=True)
binomial_op.vjp(count=lambda g, ops: ops.zeros_like(g), prob=lambda g, ops: ops.zeros_like(g))


def _density(a: Any, x: Any, ops: Any) -> Any:
    return ops.exp(ops.log(x) * (a - 1) - x - ops.lgamma(a))


igamma_op = TypedOp("gammainc", "a x", node="IgammaBackward0", elementwise=True, promote="float").refusing("c")
igamma_op.vjp(a=not_implemented("igamma: input"), x=lambda g, a, x, ops: g * _density(a, x, ops))
igammac_op = TypedOp("gammaincc", "a x", node="IgammacBackward0", elementwise=True, promote="float").refusing("c")
igammac_op.vjp(a=not_implemented("igammac: input"), x=lambda g, a, x, ops: -(g * _density(a, x, ops)))


@public("_standard_gamma")
def standard_gamma(input: Any, generator: Any = None) -> Tensor:
    """One gamma number of rate 1 for each concentration, differentiable in it."""
    return standard_gamma_op.call(tensor_argument("_standard_gamma", input), drawn_by("_standard_gamma", generator))


@public("_sample_dirichlet")
def sample_dirichlet(input: Any, generator: Any = None) -> Tensor:
    """A point of the simplex for each row of concentrations, differentiable in them."""
    return sample_dirichlet_op.call(
        tensor_argument("_sample_dirichlet", input), drawn_by("_sample_dirichlet", generator)
    )


@public("_standard_gamma_grad")
def standard_gamma_grad(input: Any, output: Any) -> Tensor:
    """How draws `output` of the gamma distribution move with its concentration."""
    return standard_gamma_grad_op.call(input, output)


@public("_dirichlet_grad", method=False)
def dirichlet_grad(x: Any, alpha: Any, total: Any) -> Tensor:
    """How a share `x` moves with its concentration, of those that add up to `total`."""
    return dirichlet_grad_op.call(x, alpha, total)


@public(method=False)
def binomial(count: Any, prob: Any, generator: Any = None) -> Tensor:
    """How many of `count` trials of chance `prob` succeed. Its gradient is zero."""
    tensor_argument("binomial", count, "count"), tensor_argument("binomial", prob, "prob")
    if count._array.dtype != prob._array.dtype:
        raise DtypeError(f"Found dtype {prob.dtype.old} but expected {count.dtype.old}")
    return binomial_op.call(count, prob, drawn_by("binomial", generator))


@public(out=True, inplace=True)
def igamma(input: Any, other: Any, *, run: Any = call) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
    need_tensors("igamma", input, other)
    return run(igamma_op, input, other)


@public(out=True, inplace=True)
def igammac(input: Any, other: Any, *, run: Any = call) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other)."""
    need_tensors("igammac", input, other)
    return run(igammac_op, input, other)
