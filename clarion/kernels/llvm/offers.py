"""Which kernels are compiled, and from how many elements on: where a benchmark shows a gain on two processors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ... import config
from .. import registry
from ..layout import in_rows
from ..portable.losses.pointwise import class_loss, softmax_blocks
from ..quiet import quietly
from ..updates import RULES
from . import attention, recurrent
from .kernel import CHEAP, Compiled, Fused, Rows, Update, sum_of_columns
from .products import calls as products

_ANY = config.COMPILE == "all"
SOME = 1 if _ANY else 8192  # elements from which one exponential is worth the call
FEW = 1 if _ANY else 4096  # the same for functions of many steps
GRADIENTS = 1 if _ANY else 8192  # for gradient rules

# Loops that wait for memory gain by threads alone.
_SIMPLE = "add sub mul neg div"
_FUNCTIONS = "exp expm1 exp2 log log1p tanh sin cos erf sigmoid rsqrt reciprocal square tanh_backward sigmoid_backward"
_COMPOSED = """
    gelu gelu_backward gelu_tanh gelu_tanh_backward silu silu_backward mish softplus softplus_backward softplus_bend logsigmoid
    elu elu_backward elu_backward_result elu_written celu celu_written relu relu_backward leaky_relu leaky_relu_backward
    hardtanh hardtanh_backward hardsigmoid hardswish hardswish_backward softshrink hardshrink shrink_backward prelu
    threshold xlogy lerp_tensor addcmul addcdiv where divide_or_zero frac
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
    return ((*arrays, 1), None) if x.ndim > 1 and dim == x.ndim - 1 and x.shape[-1] else None


def _layer_norm(x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> Any:
    if ndim != 1 or x.ndim < 2 or not x.shape[-1]:
        return None
    return (x, weight, bias, 1, eps), _with_statistic


def _rms_norm(x: Any, weight: Any, ndim: int, eps: float) -> Any:
    return None if ndim != 1 or x.ndim < 2 or not x.shape[-1] else ((x, weight, 1, eps), _with_statistic)


def _with_statistic(results: Any) -> Any:
    """The third result has one value per row."""
    out, normal, statistic = results
    return out, normal, statistic[..., None]


def _norm_backward(g: Any, weight: Any, normal: Any, statistic: Any, ndim: int) -> Any:
    return None if ndim != 1 or g.ndim < 2 or not g.shape[-1] else ((g, weight, normal, statistic[..., 0], 1), None)


def _cross_entropy(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """The loss, with a compiled softmax."""
    return class_loss(numpy, _softmax_and_total, x, target, weight, reduction, ignore_index)


def _softmax_and_total(xp: Any, x: Any, dim: int) -> Any:
    found = registry.raw.softmax_and_total(x, dim) if dim == x.ndim - 1 and x.flags.c_contiguous else NotImplemented
    return softmax_blocks(xp, x, dim) if found is NotImplemented else found


def _sum(x: Any, dim: Any, keepdim: bool) -> Any:
    """Over the first dimensions."""
    if dim is None or len(dim) == x.ndim or sorted(dim) != list(range(len(dim))):
        return NotImplemented
    found = sum_of_columns(x, x.ndim - len(dim))
    if found is NotImplemented or not keepdim:
        return found
    return found.reshape((1,) * len(dim) + found.shape)


def _scores(scores: Any, mask: Any) -> Any:
    return ((scores, mask), None) if scores.ndim > 1 and scores.shape[-1] else None


def _sequence(*args: Any) -> bool:
    """Is a recurrent layer's work enough? (Its input is the first argument, or the second after the gradients.)"""
    x = args[1] if type(args[0]) is tuple else args[0]
    return x.size >= SOME


# How arguments are arranged, and which of them have one value per row.
_ROWS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "softmax": (_last_dim, ()),
    "softmax_backward": (_last_dim, ()),
    "log_softmax": (_last_dim, ()),
    "log_softmax_backward": (_last_dim, ()),
    "softmax_and_total": (_last_dim, ()),
    "layer_norm": (_layer_norm, ()),
    "layer_norm_backward": (_norm_backward, (3,)),
    "rms_norm": (_rms_norm, ()),
    "rms_norm_backward": (_norm_backward, (3,)),
}


def make() -> None:
    """Make all offers."""
    registry.describe("llvm", "compiled for this processor, large arrays on several threads", _missing)
    if _missing() is not None:
        return
    for names, least in ((_SIMPLE, CHEAP), (_FUNCTIONS, SOME), (_COMPOSED, FEW)):
        for name in names.split():
            # (Where the portable kernel does not write, small arrays would pay for asking.)
            writes = registry.portable_writes(name)
            compiled: Any = Compiled(name, _traced(name))
            if name == "logsigmoid":
                compiled = in_rows(compiled)  # as the portable one, whatever the layout of its input
            registry.offer(name, "llvm", compiled, writes=writes, least=least)
    for name, (arrange, per_row) in _ROWS.items():
        registry.offer(name, "llvm", Rows(name, _traced_rows(name), arrange, per_row), least=FEW)
    registry.offer("sum_rows", "llvm", sum_of_columns, least=FEW)
    registry.offer("sum_of_rows", "llvm", sum_of_columns, least=FEW)
    registry.offer("sum", "llvm", _sum, least=FEW)
    for name in ("cross_entropy", "cross_entropy2d"):
        registry.offer(name, "llvm", quietly(_cross_entropy), least=FEW)
    weights = Rows("attention_weights", _traced_rows("attention_weights"), _scores, ())
    sdpa = "scaled_dot_product_attention"
    registry.offer(sdpa, "llvm", quietly(attention.attention(weights)), accepts=attention.enough(FEW))
    backward = quietly(attention.attention_backward)
    registry.offer("attention_backward", "llvm", backward, accepts=attention.enough_backward(FEW))
    for name, layer in (("lstm_layer", recurrent.lstm_layer), ("lstm_layer_backward", recurrent.lstm_layer_backward)):
        cell = name.replace("layer", "cell")
        step = Compiled(cell, _traced(cell))
        step.for_any_size = True
        registry.offer(name, "llvm", quietly(layer(step)), accepts=_sequence)
    for name, rule in RULES.items():
        registry.offer(f"{name}_", "llvm", Update(f"{name}_", rule), least=FEW)
    registry.fuse_rules(Fused, GRADIENTS)
    products.make()


make()
