"""Which kernels are compiled, and from how many elements on: where a benchmark shows a gain on two processors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy

from ... import config
from .. import registry
from ..choosing import HEAT
from ..everywhere import constant
from ..portable.layers.batch_norm import LONG
from ..portable.layers.normalization import layer_norm_gradients as _of_layer_norm
from ..portable.losses.pointwise import check_targets, class_loss, softmax_blocks
from ..quiet import quietly
from ..updates import RULES
from . import (
    along,
    channels,
    choices,
    copying,
    equals,
    fourier,
    groups,
    halves,
    heaps,
    in_half,
    lines,
    losses,
    orthogonal,
    pooling,
    recurrent,
    resampling,
    sampling,
    selecting,
    small_offers,
    tables,
    turning,
    twister,
    updates,
)
from .attention import calls as attention
from .convolutions import calls as convolutions
from .convolutions import pairs as convolutions_of_pairs
from .kept import keeps
from .kernel import (
    BLOCK,
    CHEAP,
    GRADIENTS,
    LONG_ROW,
    Compiled,
    Fused,
    InRows,
    OneRow,
    Rows,
    Update,
    sum_of_columns,
)
from .products import calls as products
from .products import pairs

_INT64 = numpy.dtype(numpy.int64)
_ANY = config.COMPILE == "all"
FEW = 1 if _ANY else 4096  # elements from which functions of many steps are worth the call through NumPy
# The same for kernels with functions of their own. They compute from the first call on, if they need not be compiled in each
# process: NOTE [Warming up].
SOME = 1 if _ANY or keeps() else 8192
ROWS = 1 if _ANY or keeps() else 4096

# Loops that wait for memory gain by threads alone.
_SIMPLE = "add sub mul neg div"
# What has the same bits as the array library's own steps.
_EXACT = """
    rsqrt reciprocal square tanh_backward sigmoid_backward relu relu_backward leaky_relu leaky_relu_backward hardtanh
    hardtanh_backward hardsigmoid hardswish hardswish_backward softshrink hardshrink shrink_backward prelu threshold lerp_tensor
    addcmul addcdiv descended where divide_or_zero frac nan_to_num sqrt abs floor ceil trunc minimum maximum eq ne lt le gt ge mse_loss_backward
    """
_FUNCTIONS = """
    exp expm1 exp2 log log1p tanh sin cos erf sigmoid gelu gelu_backward gelu_tanh gelu_tanh_backward silu silu_backward mish softplus
    softplus_backward softplus_bend logsigmoid elu elu_backward elu_backward_result elu_written celu celu_written xlogy erfc erfinv lgamma
    """


def _missing() -> str | None:
    if config.COMPILE == "0":
        return "turned off by CLARION_COMPILE=0"
    return None if importlib.util.find_spec("llvmlite") else "llvmlite is not installed: pip install clarion[fast]"


def _traced(name: str) -> Callable[[Sequence[Any]], Any]:
    """The program of the portable kernel."""

    def trace(args: Sequence[Any]) -> Any:
        from ..trace import tracer

        return tracer.trace_kernel(name, args)

    return trace


def _traced_rows(name: str) -> Callable[[Sequence[Any]], Any]:
    def trace(args: Sequence[Any]) -> Any:
        from ..trace import tracer

        return tracer.trace_kernel(name, args, by_rows=True)

    return trace


# Rows -----------------------------------------------------------------------------------------------------


def _last_dim(*args: Any) -> Any:
    """The kernel's last parameter is the dimension: it must be the last, which is the second of rows."""
    *arrays, dim = args
    x = arrays[0]
    return (*arrays, 1) if x.ndim > 1 and dim == x.ndim - 1 and x.shape[-1] else None


def _normed(x: Any, ndim: int) -> bool:
    return ndim == 1 and x.ndim > 1 and 0 < x.shape[-1] <= LONG


def _layer_norm(x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> Any:
    return (_in_rows(x), weight, bias, 1, eps) if _normed(x, ndim) else None


def _rms_norm(x: Any, weight: Any, ndim: int, eps: float) -> Any:
    return (_in_rows(x), weight, 1, eps) if _normed(x, ndim) else None


def _in_rows(x: Any) -> Any:
    """Images whose channels are normed, say, are turned around first."""
    found = None if x.flags.c_contiguous else turning.turned(x)
    return x if found is None else found


def _norm_backward(g: Any, weight: Any, normal: Any, statistic: Any, ndim: int) -> Any:
    return (g, weight, normal, statistic[..., 0], 1) if _normed(g, ndim) else None


def _layer_norm_gradients(g: Any, weight: Any, normal: Any, rstd: Any, ndim: int, needs: Any, before: Any) -> Any:
    """The gradient is read three times: it is brought together once."""
    return _of_layer_norm(numpy, numpy.ascontiguousarray(g), weight, normal, rstd, ndim, needs, before)


_class_loss = quietly(class_loss)


def _cross_entropy(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """The loss, with a compiled softmax; in one pass, where all classes count alike and none is ignored."""
    if weight is None and x.ndim == 2 and target.dtype is _INT64 and x.flags.c_contiguous and x.size:
        safe, counts = check_targets(numpy, target, ignore_index, x.shape[1])
        if counts is None:
            probs, loss = registry.raw.softmax_and_loss(x, safe[:, None])
            if reduction == 1:
                return registry.raw.mean_all(loss), probs, constant(numpy, 1 / len(loss), x.dtype.char)
            return registry.raw.sum_all(loss) if reduction else loss, probs, constant(numpy, 1, x.dtype.char)
    return _class_loss(numpy, _softmax_and_total, x, target, weight, reduction, ignore_index)


def _softmax_and_total(xp: Any, x: Any, dim: int) -> Any:
    found = registry.raw.softmax_and_total(x, dim) if dim == x.ndim - 1 and x.flags.c_contiguous else NotImplemented
    return softmax_blocks(xp, x, dim) if found is NotImplemented else found


def _with_targets(x: Any, target: Any) -> Any:
    return (x, target[:, 0]) if x.ndim == 2 and x.shape[1] and target.shape == (x.shape[0], 1) else None


def _all_of_it(x: Any) -> Any:
    return (x,)


def _whole(function: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    """The program of a function of rows."""

    def trace(args: Sequence[Any]) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args, by_rows=True)

    return trace


def _sum(x: Any, dim: Any, keepdim: bool) -> Any:
    """Over the first dimensions, or over several of the last."""
    if dim is None or len(dim) == x.ndim or x.size < FEW:
        return NotImplemented
    if sorted(dim) != list(range(len(dim))):
        return _over_the_last(registry.raw.sum, x, dim, keepdim)
    found = sum_of_columns(x, x.ndim - len(dim))
    if found is NotImplemented or not keepdim:
        return found
    return found.reshape((1,) * len(dim) + found.shape)


def _mean(x: Any, dim: Any, keepdim: bool) -> Any:
    return NotImplemented if dim is None else _over_the_last(registry.raw.mean, x, dim, keepdim)


def _over_the_last(reduced: Callable[..., Any], x: Any, dim: Any, keepdim: bool) -> Any:
    """A reduction over several of the last dimensions, which are one where the array is contiguous."""
    first = x.ndim - len(dim)
    if not 1 < len(dim) < x.ndim or sorted(dim) != list(range(first, x.ndim)) or not x.flags.c_contiguous or not x.size:
        return NotImplemented
    found = reduced(x.reshape(*x.shape[:first], -1), (first,), False)
    return found.reshape(*found.shape, *(1,) * len(dim)) if keepdim else found


def _along_rows(x: Any, dim: Any, keepdim: bool) -> Any:
    last = x.ndim - 1
    return (x, (1,), keepdim) if last >= 0 and dim is not None and tuple(dim) == (last,) and x.shape[-1] else None


def _logsumexp(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    def top(kept: bool) -> Any:
        found = xp.max(x, dim, kept)
        return xp.where(xp.isfinite(found), found, x.dtype.type(0))

    return xp.log(xp.sum(xp.exp(x - top(True)), dim, keepdim)) + top(keepdim)


def _var(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    """The variance of rows; that of equal numbers is 0, whatever the rounding of their mean."""
    one = x.dtype.type(1)
    off = x - xp.mean(x, dim, True)
    total, n = xp.sum(off * off, dim, keepdim), xp.sum(xp.where(x == x, one, one), dim, keepdim)
    most = xp.max(x, dim, keepdim)
    total = xp.where((most == xp.min(x, dim, keepdim)) & xp.isfinite(most), x.dtype.type(0), total)
    return total / xp.maximum(n - x.dtype.type(correction), x.dtype.type(0))


def _norm(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return xp.sqrt(xp.sum(x * x, dim, keepdim))


_squares = Rows("squares", _whole(lambda xp, x, dim, keepdim: xp.sum(x * x, dim, keepdim)), _along_rows)


def _norm_of_all(x: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    """The norm of a whole array: of the sums of its blocks' squares."""
    everything = ord == 2 and (dim is None or len(dim) == x.ndim) and not keepdim and x.ndim > 0
    if not everything or x.dtype.char not in "fd" or not x.flags.c_contiguous or x.size < BLOCK:
        return NotImplemented
    x = x.reshape(-1)
    whole = x.size if x.size <= LONG_ROW else x.size - x.size % BLOCK
    found = _squares(x[:whole].reshape(-1, whole if x.size <= LONG_ROW else BLOCK), (1,), False)
    if found is NotImplemented:
        return found
    rest = x[whole:]
    return numpy.sqrt(numpy.add.reduce(found) + rest.dot(rest))


def _norm_along_rows(x: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    return _along_rows(x, dim, keepdim) if ord == 2 and x.dtype.kind == "f" else None


def _var_along_rows(x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    found = _along_rows(x, dim, keepdim)
    return None if found is None else (x, (1,), correction, keepdim)


@cache
def _of_draws(name: str) -> Callable[..., Any]:
    from . import normals

    return getattr(normals, name)  # type: ignore[no-any-return]


def _normals(*args: Any) -> Any:
    return _of_draws("normals_by_sixteen")(*args)


def _uniforms(*args: Any) -> Any:
    return _of_draws("uniforms_between")(*args)


def _sequence(*args: Any) -> bool:
    """Has a recurrent layer several steps to do, or much to do in one? (Its input is the first argument, or the second after the gradients.)"""
    steps: Any = next((a for a in args if type(a) is tuple and a and type(a[0]) is tuple), ())
    x = args[1] if type(args[0]) is tuple else args[0]
    return (len(steps) > 1 and SOME == 1) or x.size >= (1 if _ANY else 8192)


# How arguments are arranged, and which of them have one value per row.
_ROWS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "softmax": (_last_dim, ()),
    "softmax_backward": (_last_dim, ()),
    "log_softmax": (_last_dim, ()),
    "log_softmax_backward": (_last_dim, ()),
    "softmax_and_total": (_last_dim, ()),
    "softmax_and_loss": (_with_targets, (1,)),
    "layer_norm": (_layer_norm, ()),
    "layer_norm_backward": (_norm_backward, (3,)),
    "rms_norm": (_rms_norm, ()),
    "rms_norm_backward": (_norm_backward, (3,)),
}


def _multiply_add(compiled: Compiled) -> Callable[..., Any]:
    """x * factor + y, rounded once: in float64 the product is exact."""

    def run(x: Any, factor: Any, y: Any, to: Any) -> Any:
        if not x.dtype == y.dtype == to.dtype == numpy.float32:
            return NotImplemented
        return compiled(x, y, numpy.asarray(factor, numpy.float64), out=to)

    return run


def _traced_multiply_add(args: Sequence[Any]) -> Any:
    from ..trace import tracer

    def call(xp: Any, x: Any, y: Any, factor: Any) -> Any:
        return (x.astype(numpy.float64) * factor + y.astype(numpy.float64)).astype(numpy.float32)

    return tracer.trace(call, args)


def _expression(function: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    def trace(args: Sequence[Any]) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args)

    return trace


def _with_number(name: str, *functions: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of two arrays and a number: the number is an array without dimensions, so that one version is for all of them.
    Of two functions the second one is for numbers from a half on."""
    forms = [Compiled(name, _expression(function)) for function in functions]
    for form in forms:
        form.for_any_size = True

    def run(x: Any, y: Any, number: Any, *, out: Any = None) -> Any:
        if x.dtype is not y.dtype or x.dtype.char not in "fd" or x.shape != y.shape or type(number) not in (int, float):
            return NotImplemented
        form = forms[-1] if abs(number) >= 0.5 else forms[0]
        return form(x, y, numpy.asarray(number, x.dtype), out=out)

    return run


_narrow: dict[str, Compiled] = {}  # what is made for half precision, too


def _make_elementwise() -> None:
    for names, least, heat in ((_SIMPLE, CHEAP, HEAT), (_EXACT, FEW, HEAT), (_FUNCTIONS, SOME, 1)):
        for name in names.split():
            kind = InRows if name == "logsigmoid" else Compiled  # (as the portable one, whatever its input's layout)
            compiled = kind(name, _traced(name), 1 if heat == HEAT else least)
            compiled.heat = heat
            registry.offer(name, "llvm", compiled, writes=True, least=least)
            _narrow[name] = compiled
    fused = Compiled("multiply_add", _traced_multiply_add)
    fused.for_any_size = True
    registry.offer("multiply_add", "llvm", _multiply_add(fused), least=FEW)
    for name, functions in {
        "add_scaled": (lambda xp, x, y, alpha: x + y * alpha,),
        "sub_scaled": (lambda xp, x, y, alpha: x - y * alpha,),
        "lerp": (lambda xp, x, y, weight: x + (y - x) * weight, lambda xp, x, y, weight: y + (y - x) * (weight - 1)),
    }.items():
        registry.offer(name, "llvm", _with_number(name, *functions), writes=True, least=CHEAP)
    sign = Compiled(
        "sign",
        _expression(lambda xp, x: xp.where(x > 0, x.dtype.type(1), xp.where(x < 0, x.dtype.type(-1), x.dtype.type(0)))),
    )
    sign.heat = HEAT
    registry.offer("sign", "llvm", sign, least=FEW)
    for name, rule in RULES.items():
        registry.offer(f"{name}_", "llvm", Update(f"{name}_", rule), least=FEW)
    registry.offer("normals_by_sixteen", "llvm", _normals, least=ROWS)
    registry.offer("uniforms_between", "llvm", _uniforms, least=ROWS)


def _make_rows() -> None:
    for name, (arrange, per_row) in _ROWS.items():
        rows = Rows(name, _traced_rows(name), arrange, per_row, ROWS)
        if "norm" in name:
            rows.largest_direct = LONG
        if name in ("softmax", "log_softmax"):
            along.of_rows_or_along(rows)
        registry.offer(name, "llvm", rows, least=ROWS)
        _narrow[name] = rows
    rows = along.of_rows_or_along(Rows("logsumexp", _whole(_logsumexp), _along_rows, (), ROWS))
    registry.offer("logsumexp", "llvm", rows, least=ROWS)
    registry.offer("layer_norm_gradients", "llvm", _layer_norm_gradients)
    registry.offer("cross_entropy", "llvm", _cross_entropy, least=ROWS)
    registry.offer("cross_entropy2d", "llvm", _cross_entropy, least=FEW)


def _make_reductions() -> None:
    registry.offer("sum_rows", "llvm", sum_of_columns, least=FEW)
    registry.offer("sum_of_rows", "llvm", sum_of_columns, least=FEW)
    variance = Rows("var", _whole(_var), _var_along_rows, (), ROWS)
    variance.largest, variance.longest = LONG_ROW, LONG_ROW
    registry.offer("var", "llvm", variance, least=ROWS)
    norm = Rows("vector_norm", _whole(_norm), _norm_along_rows, (), ROWS)
    norm.largest, norm.longest, norm.otherwise = LONG_ROW, LONG_ROW, _norm_of_all
    registry.offer("vector_norm", "llvm", norm, least=ROWS)
    for name, function in {
        "amax": lambda xp, x, dim, keepdim: xp.max(x, dim, keepdim),
        "amin": lambda xp, x, dim, keepdim: xp.min(x, dim, keepdim),
        "prod": lambda xp, x, dim, keepdim: xp.prod(x, dim, keepdim),
    }.items():
        rows = Rows(name, _whole(function), _along_rows, (), ROWS)
        registry.offer(name, "llvm", rows if name == "prod" else along.of_rows_or_along(rows), least=ROWS)
    sums: Rows | None = None
    for name, function, otherwise in (
        ("sum", lambda xp, x, dim, keepdim: xp.sum(x, dim, keepdim), _sum),
        ("mean", lambda xp, x, dim, keepdim: xp.mean(x, dim, keepdim), _mean),
    ):
        rows = Rows(name, _whole(function), _along_rows, (), ROWS)
        rows.largest, rows.longest, rows.otherwise = (
            LONG_ROW,
            LONG_ROW,
            otherwise,
        )  # (longer ones are added up in blocks)
        sums = sums or rows
        _narrow[name] = rows
        registry.offer(name, "llvm", rows, least=ROWS)
    for name, function in (("sum_all", lambda xp, x: xp.sum(x, 1)), ("mean_all", lambda xp, x: xp.mean(x, 1))):
        whole = OneRow(name, _whole(function), _all_of_it, (), ROWS)
        whole.sums, whole.mean = sums, name == "mean_all"
        registry.offer(name, "llvm", whole, least=ROWS)


def _make_recurrent() -> None:
    for layer in ("lstm_layer", "gru_layer", "rnn_layer"):
        for name in (layer, f"{layer}_backward"):
            cell = name.replace("layer", "cell")
            made = getattr(recurrent, name)(Compiled(cell, _traced(cell)))
            registry.offer(name, "llvm", quietly(made), accepts=_sequence)


def make() -> None:
    """Make all offers."""
    registry.describe("llvm", "compiled for this processor, large arrays on several threads", _missing)
    if _missing() is not None:
        return
    _make_elementwise()
    _make_rows()
    _make_reductions()
    _make_recurrent()
    registry.describe("direct", "products of small matrices and rows of small tables, called without NumPy", _missing)
    if SOME == 1:
        small_offers.make()
    registry.fuse_rules(Fused, GRADIENTS)
    in_half.make(_narrow)
    pairs.make()
    convolutions_of_pairs.make()
    for room in (products, attention, tables, channels, orthogonal, convolutions, pooling, halves, twister, fourier):
        room.make()
    losses.make(FEW, ROWS)
    for room in (updates, choices, groups, lines, turning, copying, resampling, sampling, selecting, equals, heaps):
        room.make(FEW)


make()
