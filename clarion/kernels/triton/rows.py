"""Kernels that take a tensor row by row on the GPU: norms, softmax, cross entropy, the gradient of an embedding."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import cupy
import numpy as np
import triton.language as tl

from ..choosing import always
from ..cuda.arrays import laid_out, new, over
from ..cuda.capture import counter_of_stream
from ..flat import in_order
from ..narrow import narrow
from ..portable.layers.normalization import stat_shape
from ..registry import offer, raw
from . import rows_text as text
from .build import FLOATS, Kernel, Launch

_layer_norm, _layer_norm_backward = Kernel(text.layer_norm), Kernel(text.layer_norm_backward)
_rms_norm = Kernel(text.rms_norm)
_softmax, _softmax_backward = Kernel(text.softmax, warps=8), Kernel(text.softmax_backward, warps=8)
_embedding_backward = Kernel(text.embedding_backward)
_two_sums = Kernel(text.two_sums)

_LONGEST = 16384  # elements of a row that is held in registers
_SHARES = (
    1056  # programs that divide the rows of a norm's backward pass among them: eight for each multiprocessor of an H200
)


def _wide(dtype: Any) -> Any:
    """The type that is computed in."""
    return np.dtype(np.float64) if dtype.itemsize == 8 else np.dtype(np.float32)


def _kind(dtype: Any) -> Any:
    return tl.float64 if dtype.itemsize == 8 else tl.float32


def _block(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()


def _warps(block: int) -> int:
    return 4 if block <= 2048 else 8 if block <= 8192 else 16


def _normed(x: Any, weight: Any, *rest: Any) -> bool:
    *_, ndim, _ = rest
    return x.dtype in FLOATS and x.size > 0 and math.prod(x.shape[x.ndim - ndim :]) <= _LONGEST


def _contiguous(x: Any) -> Any:
    return x if x is None or x._c_contiguous else cupy.ascontiguousarray(x)


_launches: dict[Any, Any] = {}


def _kept(key: Any, make: Any) -> Any:
    """What was prepared for calls of a kind; prepared now, at the first of them."""
    found = _launches.get(key)
    if found is None:
        if len(_launches) > 4096:
            _launches.clear()
        found = _launches[key] = make()
    return found


class _Norm:
    """The launch of a norm, for rows of known shapes and types, and how its results lie."""

    def __init__(self, x: Any, weight: Any, bias: Any, ndim: int, eps: float, kept: Any) -> None:
        n = math.prod(x.shape[x.ndim - ndim :])
        modes = {"WEIGHT": weight is not None, "BIAS": bias is not None, "B": _block(n), "num_warps": _warps(_block(n))}
        self.run = Launch(_layer_norm, (x.size // n,), (n, float(eps)), LOW=kept is not x.dtype, **modes)
        self.statistics, self.wide = stat_shape(x, ndim), _wide(x.dtype)
        # What the backward pass reads lies in one piece: the normalized input, and its statistics behind it.
        self.begin = -(-x.size * kept.itemsize // 16) * 16
        self.end = self.begin + x.size // n * self.wide.itemsize


_norms: dict[Any, _Norm] = {}


def _norm(key: Any, x: Any, weight: Any, bias: Any, ndim: int, eps: float, kept: Any) -> _Norm | None:
    """A new plan; None for what is not computed here."""
    if not _normed(x, weight, bias, ndim, eps):
        return None
    if len(_norms) > 4096:
        _norms.clear()
    found = _norms[key] = _Norm(x, weight, bias, ndim, eps, kept)
    return found


@offer("layer_norm", "triton", accepts=always)
def layer_norm(x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> Any:
    """The result, the normalized input before weight and bias, and 1 / its standard deviation."""
    if not x._c_contiguous or not (weight is None or weight._c_contiguous) or not (bias is None or bias._c_contiguous):
        x, weight, bias = _contiguous(x), _contiguous(weight), _contiguous(bias)
    shape, kind = x.shape, x.dtype
    kept = narrow.kind
    kept = kind if kept is None or kind.itemsize != 4 else kept  # the type of what the backward pass alone reads
    key = (shape, kind, kept, weight is None or weight.dtype, bias is None or bias.dtype, ndim, eps)
    plan = _norms.get(key)
    if plan is None:
        plan = _norm(key, x, weight, bias, ndim, eps, kept)
        if plan is None:
            return NotImplemented
    out = new(shape, kind)
    low = out if kept is kind else new(shape, kept)
    memory = cupy.cuda.alloc(plan.end)
    normal, rstd = over(shape, kept, memory), over(plan.statistics, plan.wide, memory + plan.begin)
    plan.run.run(x, x if weight is None else weight, x if bias is None else bias, out, low, normal, rstd)
    if low is not out:
        narrow.made = out, low  # (what comes next is mostly a product in this type: amp/state.py)
    return out, normal, rstd


@offer("rms_norm", "triton", accepts=_normed)
def rms_norm(x: Any, weight: Any, ndim: int, eps: float) -> Any:
    """The result, the input divided by its root mean square, and 1 / that."""
    x, weight = _contiguous(x), _contiguous(weight)
    n = math.prod(x.shape[x.ndim - ndim :])
    out, normal = new(x.shape, x.dtype), new(x.shape, x.dtype)
    rrms = new(stat_shape(x, ndim), _wide(x.dtype))
    block = _block(n)
    _rms_norm.launch(
        (x.size // n,), (x, x if weight is None else weight, out, normal, rrms, n, float(eps)),
        WEIGHT=weight is not None, B=block, num_warps=_warps(block),
    )  # fmt: skip
    return out, normal, rrms


def _norm_backward(g: Any, weight: Any, normal: Any, scale: Any, ndim: int, centered: bool) -> Any:
    g, weight, normal = _contiguous(g), _contiguous(weight), _contiguous(normal)
    n = math.prod(g.shape[g.ndim - ndim :])
    rows = g.size // n
    per = -(-rows // _SHARES)
    out = new(g.shape, g.dtype)
    block = _block(n)
    _layer_norm_backward.launch(
        (-(-rows // per),),
        (g, g if weight is None else weight, normal, scale, g, out, scale, scale, scale, scale, rows, n, per),
        WEIGHT=weight is not None, BEFORE=False, SUMS=False, LAST=False, CENTERED=centered, P=1, B=block, num_warps=_warps(block),
    )  # fmt: skip
    return out


def _normed_backward(g: Any, weight: Any, normal: Any, scale: Any, ndim: int) -> bool:
    return g.dtype in FLOATS and g.size > 0 and math.prod(g.shape[g.ndim - ndim :]) <= _LONGEST and scale._c_contiguous


@offer("layer_norm_backward", "triton", accepts=_normed_backward)
def layer_norm_backward(g: Any, weight: Any, normal: Any, rstd: Any, ndim: int) -> Any:
    """Gradient of the input."""
    return _norm_backward(g, weight, normal, rstd, ndim, True)


_norm_gradients: dict[Any, _NormGradients] = {}


@offer("layer_norm_gradients", "triton", accepts=always)
def layer_norm_gradients(g: Any, weight: Any, normal: Any, rstd: Any, ndim: int, needs: Any, before: Any) -> Any:
    """Gradients of input, weight and bias in one pass: each program sums its rows, the sums are summed after."""
    if not (g._c_contiguous and normal._c_contiguous) or (before is not None and not before._c_contiguous):
        g, normal, before = _contiguous(g), _contiguous(normal), _contiguous(before)
    of = None if weight is None else weight.dtype
    key = (g.shape, g.dtype, of, normal.dtype, rstd._c_contiguous, ndim, None if before is None else before.dtype)
    plan = _norm_gradients.get(key)
    if plan is None or not (needs[1] or needs[2]):
        if not _normed_backward(g, weight, normal, rstd, ndim):
            return NotImplemented
        if not (needs[1] or needs[2]):
            out = layer_norm_backward(g, weight, normal, rstd, ndim)
            return out if before is None else raw.add(out, before), None, None
        if len(_norm_gradients) > 4096:
            _norm_gradients.clear()
        plan = _norm_gradients[key] = _NormGradients(g, weight, ndim, g.dtype if of is None else of, before)
    if not (weight is None or weight._c_contiguous):
        weight = _contiguous(weight)
    out, gw, gb = plan(g, weight, normal, rstd, before)
    return out, gw if needs[1] else None, gb if needs[2] else None


class _NormGradients:
    """The launches for the gradients of a norm with weight and bias: where there are few rows, one."""

    def __init__(self, g: Any, weight: Any, ndim: int, kind: Any, before: Any) -> None:
        self.shape, self.parameters, self.kind = g.shape, g.shape[g.ndim - ndim :], kind
        # (The gradient of a float32 result may come in a lower type: see `goes_on` in core/op_node.py.)
        self.type = kind if kind.itemsize == 4 else g.dtype
        if before is not None:  # the sum of two types is of the wider one
            self.type = max(self.type, before.dtype, key=lambda each: each.itemsize)
        n = math.prod(self.parameters)
        self.begin = -(-n * kind.itemsize // 16) * 16
        rows, block = g.size // n, _block(n)
        most = min(128, max(1, 2**15 // n))
        self.one = rows <= 16 * most
        per = -(-rows // (most if self.one else _SHARES))
        self.partial = (2, -(-rows // per), n)
        modes = {"WEIGHT": weight is not None, "SUMS": True, "CENTERED": True, "B": block, "num_warps": _warps(block)}
        modes |= {"LAST": self.one, "P": max(1, min(32, 4096 // block)), "BEFORE": before is not None}
        shares = self.partial[1]
        self.rows = Launch(_layer_norm_backward, (shares,), (rows, n, per), **modes)
        self.sums = Launch(_two_sums, (-(-n // 16),), (shares, n), P=128, C=16)

    def __call__(self, g: Any, weight: Any, normal: Any, rstd: Any, before: Any) -> Any:
        out, shares = new(self.shape, self.type), new(self.partial, rstd.dtype)
        memory = cupy.cuda.alloc(2 * self.begin)
        gw, gb = over(self.parameters, self.kind, memory), over(self.parameters, self.kind, memory + self.begin)
        counter = counter_of_stream() if self.one else rstd
        weight, before = g if weight is None else weight, g if before is None else before
        self.rows.run(g, weight, normal, rstd, before, out, shares, gw, gb, counter)
        if not self.one:
            self.sums.run(shares, gw, gb)
        return out, gw, gb


@offer("rms_norm_backward", "triton", accepts=_normed_backward)
def rms_norm_backward(g: Any, weight: Any, normal: Any, rrms: Any, ndim: int) -> Any:
    """Gradient of the input."""
    return _norm_backward(g, weight, normal, rrms, ndim, False)


def _last(*args: Any) -> bool:
    """Along the last dimension, of a floating type, with elements."""
    x, dim = args[0], args[-1]
    return bool(x.dtype in FLOATS and x.ndim and dim == x.ndim - 1 and x.size > 0)


def _rows_of(launch: Any, arrays: tuple[Any, ...], log: bool) -> Any:
    arrays = tuple([_contiguous(x) for x in arrays])
    x = arrays[0]
    out, n = new(x.shape, x.dtype), x.shape[-1]
    block = min(_block(n), 4096)
    launch((x.size // n,), (*arrays, out, n), LOG=log, KIND=_kind(x.dtype), B=block, num_warps=_warps(block))
    return out


offer("softmax", "triton", lambda x, dim: _rows_of(_softmax.launch, (x,), False), accepts=_last)
offer("log_softmax", "triton", lambda x, dim: _rows_of(_softmax.launch, (x,), True), accepts=_last)
offer("softmax_backward", "triton", lambda g, y, dim: _rows_of(_softmax_backward.launch, (g, y), False), accepts=_last)
offer(
    "log_softmax_backward", "triton", lambda g, y, dim: _rows_of(_softmax_backward.launch, (g, y), True), accepts=_last
)


_cross_entropy, _cross_entropy_backward = Kernel(text.cross_entropy, 8), Kernel(text.cross_entropy_backward, 8)
_reduced_loss = Kernel(text.reduced_loss, 8)


@offer("cross_entropy_of_scores", "triton", accepts=lambda x, *_: x.size > 0)
def cross_entropy_of_scores(x: Any, target: Any, reduction: int, ignore_index: int) -> Any:
    """The loss in float32 whatever the type of the scores, the log-sum-exp of each row, and the weight of each in the loss."""
    x, target = _contiguous(x), _contiguous(target)
    shape, kind = (x.shape[0],), _wide(x.dtype)
    loss, lse, row = new(shape, kind), new(shape, kind), new(shape, kind)

    def make() -> tuple[Launch, Launch]:
        rows, n = x.shape
        block = min(_block(n), 4096)
        modes = {"KIND": _kind(x.dtype), "B": block, "num_warps": _warps(block)}
        each = Launch(_cross_entropy, (rows,), (n, ignore_index), **modes)
        return each, Launch(_reduced_loss, (1,), (rows, ignore_index), MEAN=reduction == 1, SUM=reduction != 0, B=1024)

    key = ("cross_entropy", x.shape, x.dtype, target.dtype, reduction, ignore_index)
    each, reduced = _kept(key, make)
    each.run(x, target, loss, lse)
    total = loss if reduction == 0 else new((), kind)
    reduced.run(loss, target, row, total)
    return total, lse, row


@offer("cross_entropy_of_scores_backward", "triton", accepts=lambda g, x, *_: x.size > 0, writes=True)
def cross_entropy_of_scores_backward(
    g: Any, x: Any, target: Any, lse: Any, row: Any, ignore_index: int, out: Any = None
) -> Any:
    """Gradient of the scores, in their type; `out` may be the scores themselves."""
    x, target, g = _contiguous(x), _contiguous(target), _contiguous(g)
    result = new(x.shape, x.dtype) if out is None or not out._c_contiguous else out

    def make() -> Launch:
        rows, n = x.shape
        block = min(_block(n), 4096)
        modes = {"KIND": _kind(x.dtype), "B": block, "num_warps": _warps(block)}
        return Launch(_cross_entropy_backward, (rows,), (n, ignore_index), SHARED=g.ndim == 0, **modes)

    key = ("cross_entropy_backward", x.shape, x.dtype, target.dtype, g.dtype, g.ndim, ignore_index)
    _kept(key, make).run(g, x, target, lse, row, result)
    if out is not None and out is not result:
        out[...] = result
        return out
    return result


_cast = Kernel(text.cast)


@offer("cast", "triton", accepts=lambda x, dtype: x.dtype in FLOATS and dtype in FLOATS and x.size > 0)
def cast(x: Any, dtype: Any) -> Any:
    """Another floating type, laid out as x is; NotImplemented where x has gaps."""
    launch, strides, size = _kept(
        ("cast", x.shape, x._c_contiguous or x.strides, x.dtype, dtype), partial(_cast_plan, x, dtype)
    )
    if launch is None:
        return NotImplemented
    out = laid_out(x.shape, dtype, strides, size)
    launch.run(x, out)
    return out


def _cast_plan(x: Any, dtype: Any) -> tuple[Launch | None, Any, int]:
    launch = Launch(_cast, (-(-x.size // 2048),), (x.size,), B=2048)
    if x._c_contiguous:
        return launch, None, 0
    if not in_order(x)._c_contiguous:
        return None, None, 0
    return launch, tuple([s // x.itemsize * dtype.itemsize for s in x.strides]), x.size * dtype.itemsize


def _addable(g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool) -> bool:
    return g.dtype in FLOATS and not scale_grad_by_freq and g.size > 0


@offer("embedding_dense_backward", "triton", accepts=_addable)
def embedding_dense_backward(g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Zeros for the table, with every row of `g` added where its index points: in float32, then rounded."""
    g, indices = _contiguous(g), _contiguous(indices)
    n = g.shape[-1]
    wide = _wide(g.dtype)
    out = new((rows, n), wide)
    out.data.memset_async(0, out.nbytes)

    def make() -> Launch:
        block = min(_block(n), 1024)
        return Launch(_embedding_backward, (indices.size, -(-n // block)), (n, padding_idx), B=block)

    _kept(("embedding_backward", g.shape, g.dtype, indices.dtype, padding_idx), make).run(g, indices, out)
    return out if wide is g.dtype else raw.cast(out, g.dtype)


_embedding = Kernel(text.embedding)


@offer("embedding", "triton", accepts=lambda weight, indices, *_: type(indices) is cupy.ndarray and indices.size > 0)
def embedding(weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """Rows of the table. To look for indices out of range would be to wait for the GPU at every call: their rows are NaN."""
    if not (weight._c_contiguous and weight.dtype in FLOATS and weight.ndim == 2):
        return weight.take(indices, axis=0)
    indices = _contiguous(indices)
    out = new((*indices.shape, weight.shape[1]), weight.dtype)

    def make() -> Launch:
        rows, n = weight.shape
        block = min(_block(n), 1024)
        return Launch(_embedding, (indices.size, -(-n // block)), (rows, n), B=block)

    _kept(("embedding", indices.shape, indices.dtype, weight.shape, weight.dtype), make).run(weight, indices, out)
    return out


_counted = Kernel(text.counted)


def counted(start: int, step: int, count: int, dtype: Any) -> Any:
    """Integers in even steps."""
    out = new((count,), dtype)
    if count:
        numbers = np.int64(start), np.int64(step), count
        make = partial(Launch, _counted, (-(-count // 1024),), numbers, B=1024)
        _kept(("counted", start, step, count, dtype), make).run(out)
    return out
