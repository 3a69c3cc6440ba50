"""Kernels for arrays without memory: the portable ones over `xp`, and the few that need a rule of their own.

Those draw random numbers, call SciPy, or look at values to choose a way that ends in the same shape.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...errors import EngineError
from .. import registry
from ..layout import ARRAYS, as_image
from ..portable.elementwise.library_special import BY_SCIPY
from ..portable.elementwise.polynomials import FAMILIES
from ..portable.layers.interpolate import IMAGES
from . import creation as creation
from . import linalg as linalg
from . import moving as moving
from . import operators as operators
from . import pointwise as pointwise
from . import reducing as reducing
from .array import MetaArray, alike, fresh
from .namespace import sample, shape_of, with_dimensions, xp

RULES: dict[str, Callable[..., Any]] = {}


def kernel_for(name: str) -> Callable[..., Any]:
    """The kernel of an operation: its rule, or the portable kernel; operands of the host are looked after."""
    function = RULES.get(name)

    @functools.wraps(function or kernel_for)
    def call(*args: Any, **options: Any) -> Any:
        if type(args[0]) is list or type(args[0]) is tuple:
            args = (_brought(tuple(args[0])), *args[1:])
        elif any(type(arg) is numpy.ndarray and arg.ndim for arg in args):
            args = _brought(args)
        return (function or registry.portable(name, xp))(*args, **options)

    return call


def _brought(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Indices and masks of the host go with a tensor without memory; other operands must be where the first one is."""
    first = next((arg for arg in args if isinstance(arg, (MetaArray, numpy.ndarray)) and arg.ndim), args[0])
    here = "meta" if isinstance(first, MetaArray) else "cpu"
    for arg in args:
        there = "meta" if isinstance(arg, MetaArray) else "cpu"
        if isinstance(arg, (MetaArray, numpy.ndarray)) and there != here:
            if here == "cpu" or (arg.ndim and arg.dtype.kind in "fc"):
                raise EngineError(
                    f"Tensor on device {there} is not on the expected device {here}!\n"
                    "One operand is on the meta device, which has no memory: move all of them there, or none."
                )
    return tuple([xp.asarray(arg) if type(arg) is numpy.ndarray and arg.ndim else arg for arg in args])


def rule(*names: str) -> Any:
    """Register a rule for kernels: `function(*arrays, *parameters)`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


# Random numbers --------------------------------------------------------------------------------------


@rule(
    "uniform", "normal", "random", "random_to", "random_range", "exponential", "geometric", "cauchy", "log_normal",
    "poisson", "bernoulli", "bernoulli_float", "bernoulli_tensor", "normal_mean", "normal_std", "standard_gamma",
    "sample_dirichlet",
)  # fmt: skip
def _drawn(x: Any, *_: Any) -> Any:
    return alike(x.shape, x.dtype, [x])


@rule("dropped_attention")
def _dropped_attention(q: Any, k: Any, v: Any, mask: Any, ticket: Any, scale: float, causal: bool, p: float) -> Any:
    return registry.portable("tiled_attention", xp)(q, k, v, mask, scale, causal)


@rule("dropped_attention_backward")
def _dropped_attention_backward(g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, *rest: Any) -> Any:
    *rest, _, needs = rest
    return registry.portable("tiled_attention_backward", xp)(g, q, k, v, mask, *rest, needs)


@rule("normal_both", "binomial")
def _drawn_by_two(x: Any, y: Any, gen: Any) -> Any:
    return fresh(numpy.broadcast_shapes(x.shape, y.shape), x.dtype)


# SciPy's functions -----------------------------------------------------------------------------------


def _element_by_element(name: str) -> Callable[..., Any]:
    """The type is that of one element, computed by the host."""

    def function(*args: Any) -> Any:
        kind = registry.portable(name)(*map(sample, args)).dtype
        return alike(numpy.broadcast_shapes(*map(shape_of, args)), kind, with_dimensions(args))

    return function


_BY_VALUES = [
    "digamma",
    "polygamma",
    "gammainc",
    "gammaincc",
    "special_zeta",
    "special_i0e",
    "special_modified_bessel_i0",
]
for _name in (*_BY_VALUES, *BY_SCIPY, *[f"special_{name}" for name in FAMILIES]):
    RULES[_name] = _element_by_element(_name)


# Ways chosen by values -------------------------------------------------------------------------------


@rule("masked_scatter_backward", "masked_scatter_backward_backward")
def _masked_scatter_backward(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    return fresh(shape, g.dtype)


@rule("masked_scatter")
def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    return fresh(numpy.broadcast_shapes(x.shape, mask.shape), x.dtype)


@rule(*IMAGES, "resample_backward")
def _resampled(x: Any, size: tuple[int, ...], *_: Any) -> Any:
    return as_image(fresh((*x.shape[: -len(size)], *size), x.dtype), x)


@rule("linalg_matrix_exp", "no_second_zero_backward")
def _as_it_is(x: Any, *_: Any) -> Any:
    return alike(x.shape, x.dtype, [x])


@rule("linalg_eig")
def _linalg_eig(x: Any) -> Any:
    kind = numpy.result_type(x.dtype, numpy.complex64)
    return fresh(x.shape[:-1], kind), fresh(x.shape, kind)


@rule("linalg_eigvals")
def _linalg_eigvals(x: Any) -> Any:
    return _linalg_eig(x)[0]


def _columns(shape: Sequence[int], dtype: Any) -> Any:
    """A new array of matrices that lie column by column."""
    return fresh((*shape[:-2], shape[-1], shape[-2]), dtype).swapaxes(-1, -2)


@rule("geqrf")
def _geqrf(x: Any) -> Any:
    return _columns(x.shape, x.dtype), fresh((*x.shape[:-2], min(x.shape[-2:])), x.dtype)


@rule("linalg_ldl_factor_ex")
def _linalg_ldl_factor_ex(x: Any, hermitian: bool) -> Any:
    return _columns(x.shape, x.dtype), fresh(x.shape[:-1], numpy.int32), fresh(x.shape[:-2], numpy.int32)


@rule("linalg_ldl_solve")
def _linalg_ldl_solve(factors: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    return _columns((*numpy.broadcast_shapes(factors.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype)


@rule("embedding_dense_backward")
def _embedding_dense_backward(g: Any, indices: Any, rows: int, *_: Any) -> Any:
    return fresh((rows, g.shape[-1]), g.dtype)


@rule("grid_sampler_put")
def _grid_sampler_put(g: Any, grid: Any, sizes: tuple[int, ...], *_: Any) -> Any:
    return fresh((*g.shape[:2], *sizes), g.dtype)


@rule("lone_zero")
def _lone_zero(index: Any, src: Any, *_: Any) -> Any:
    return fresh(src.shape, numpy.bool_)


@rule("total_norm")
def _total_norm(arrays: Any, norm_type: float) -> Any:
    return fresh((), arrays[0].real.dtype)


@rule("adafactor_")
def _adafactor(*_: Any) -> None:
    """Nothing: there is nothing to write to."""


@rule("histc")
def _histc(x: Any, bins: int, *_: Any) -> Any:
    return fresh((bins,), x.dtype)


def _loss(x: Any, target: Any, reduction: int) -> Any:
    return fresh(() if reduction else target.shape, x.dtype)


@rule("nll_loss", "nll_loss2d")
def _nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return _loss(x, target, reduction), fresh(() if weight is None else target.shape, x.dtype)


@rule("cross_entropy", "cross_entropy2d")
def _cross_entropy(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    counts = fresh(() if weight is None else target.shape, x.dtype)
    return _loss(x, target, reduction), fresh(x.shape, x.dtype), counts


# Places in memory ------------------------------------------------------------------------------------


@rule("as_strided_backward")
def _as_strided_backward(g: Any, shape: tuple[int, ...], *_: Any) -> Any:
    return fresh(shape, g.dtype)


@rule("as_strided_copy")
def _as_strided_copy(x: Any, size: tuple[int, ...], *_: Any) -> Any:
    return fresh(size, x.dtype)


@rule("view_put")
def _view_put(part: Any, chain: Any, layout: Any) -> Any:
    return fresh(layout[0], layout[2], layout[1])


ARRAYS[MetaArray] = MetaArray.restrided
awake = False


def wake() -> None:
    """Let arrays without memory find their kernels."""
    global awake
    if not awake:
        registry.know("meta", MetaArray, xp, ("meta",), kernel_for)
        awake = True


def rest() -> None:
    """Where there are none of them any more, nobody need look for one in every call."""
    global awake
    if awake and not any(type(each) is MetaArray for each in gc.get_objects()):
        registry.forget("meta")
        awake = False


wake()
registry.describe("meta", "shapes and types without memory")
