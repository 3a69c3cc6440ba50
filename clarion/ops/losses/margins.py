"""Losses with margins, of embeddings and of distributions: all made of other operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.devices import xp_of
from ...core.dtypes import contiguous_format, i64
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentValueError, EngineError, not_a_tensor
from ...events import hub
from ...kernels.batched.levels import all_samples
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL, functional, no_gradient
from ..faces.autocast import autocast
from ..faces.options import warn_user
from .pointwise import reduce_all, reduction_number, tell_shapes


def _also_main(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Offer a loss as `torch.name` too, where `reduction` is PyTorch's number and comes right after the parameters."""

    count = fn.__code__.co_varnames.index("size_average")

    def main(*args: Any, reduction: int = 0, **kwargs: Any) -> Any:  # (not the mean, as it would be elsewhere)
        if len(args) > count:
            *args_, reduction = args
            args = tuple(args_)
        return fn(*args, reduction=("none", "mean", "sum")[reduction], **kwargs)

    main.__name__, main.__doc__ = fn.__name__, fn.__doc__
    FUNCTIONS[fn.__name__] = autocast("float32")(main)
    return fn


def _tensors(name: str, **values: Any) -> None:
    for key, value in values.items():
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, key, value)


# Embeddings ----------------------------------------------------------------------------------------


@_also_main
@functional()
@autocast("float32")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """1 - cosine where the target is 1; the cosine's excess over the margin where it is -1."""
    number = reduction_number(reduction, size_average, reduce)
    _tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    if target.ndim > 1:
        raise EngineError("0D or 1D target tensor expected, multi-target not supported")
    wanted = target.ndim + 1
    if input1.ndim != wanted or input2.ndim != wanted:
        raise EngineError(
            f"{target.ndim}D target tensor expects {wanted}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    tiny = 1e-12
    product = (input1 * input2).sum(target.ndim)
    sizes = ((input1 * input1).sum(target.ndim) + tiny) * ((input2 * input2).sum(target.ndim) + tiny)
    cosine = product / sizes.sqrt()
    zeros = FUNCTIONS["zeros_like"](cosine)
    where = FUNCTIONS["where"]
    near = where(target == 1, 1 - cosine, zeros)
    far = where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduce_all(near + far, number)


@_also_main
@functional()
@autocast("float32")
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The input where the target is 1; what it lacks to the margin where it is -1."""
    number = reduction_number(reduction, size_average, reduce)
    _tensors("hinge_embedding_loss", input=input, target=target)
    where, zeros = FUNCTIONS["where"], FUNCTIONS["zeros_like"](input)
    lack = (margin - input).clamp_min(0)
    return reduce_all(where(target != 1, lack, zeros) + where(target != -1, input, zeros), number)


@functional()
@autocast("float32")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin)."""
    number = reduction_number(reduction, size_average, reduce)
    _tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise EngineError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return reduce_all((-target * (input1 - input2) + float(margin)).clamp_min(0), number)


def _check_triplet(anchor: Any, positive: Any, negative: Any, margin: float) -> None:
    if margin <= 0:
        raise ArgumentValueError(f"margin must be greater than 0, got {margin}")
    dims = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(dims)) > 1:
        raise EngineError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )


def _triplet(anchor: Any, positive: Any, negative: Any, distance: Any, margin: float, swap: bool, number: int) -> Any:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return reduce_all((margin + near - far).clamp_min(0), number)


@_also_main
@functional()
@autocast("float32")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + distance to the positive - distance to the negative)."""
    number = reduction_number(reduction, size_average, reduce)
    _tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    _check_triplet(anchor, positive, negative, margin)
    distance = FUNCTIONS["pairwise_distance"]
    return _triplet(anchor, positive, negative, lambda a, b: distance(a, b, p, eps), margin, swap, number)


@functional()
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with any distance."""
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentValueError(f"{reduction} is not a valid value for reduction")
    _check_triplet(anchor, positive, negative, margin)
    distance = FUNCTIONS["pairwise_distance"] if distance_function is None else distance_function
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction_number(reduction))


# Several classes -----------------------------------------------------------------------------------


def _batch_of_scores(name: str, input: Any, target: Any, labels: int) -> tuple[Any, Any]:
    """Scores and targets with their batch dimension; `labels` is 1 where each row has a list of targets."""
    x, t = input._array, target._array
    fits = (x.ndim == 2 and x.shape[1] > 0) or (x.ndim == 1 and x.size > 0) or (x.ndim == 0)
    if not fits:
        raise EngineError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(x.shape)}"
        )
    rows = x.shape[0] if x.ndim == 2 else 1
    columns = x.shape[-1] if x.ndim else 1
    wanted = (x.shape,) if labels else ((rows,), ()) if rows == 1 and x.ndim < 2 else ((rows,),)
    if t.shape not in wanted and not labels:
        raise EngineError(
            f"{name}: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected target "
            f"size [{rows}], but got {list(t.shape)}. Input has shape {list(x.shape)}."
        )
    if t.shape not in wanted:
        raise EngineError(f"inconsistent target size: {list(t.shape)} for input of size: {list(x.shape)}")
    if t.dtype.kind not in "iu":
        raise EngineError(f"{name}(): expected scalar type Long but found {target.dtype.old}")
    return input.reshape(rows, columns), target.reshape(rows, columns) if labels else target.reshape(rows)


@functional()
@autocast("float32")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The sum over the other classes of max(0, margin - score of the target + score)^p, over the number of classes."""
    number = reduction_number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ArgumentValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ArgumentValueError("weight must be one-dimensional")
    no_gradient("multi_margin_loss", weight=weight)
    x, y = _batch_of_scores("multi_margin_loss", input, target, 0)
    classes = x.shape[1]
    if weight is not None and weight.numel() != classes:
        raise EngineError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}: weight of size [{classes}]"
        )
    places = all_samples(y._array)
    if places.size and (places.min() < 0 or places.max() >= classes):
        raise EngineError("target out of range")
    column = y.unsqueeze(1)
    lack = (margin - x.gather(1, column) + x).relu()
    lack = lack if p == 1 else lack * lack
    if weight is not None:
        lack = lack * weight.index_select(0, y).unsqueeze(1)
    own = xp_of(column._array).arange(classes) == column._array
    each = lack.masked_fill(new_tensor(own), 0.0).sum(1) / classes
    return reduce_all(each if target.ndim or number else each.squeeze(0), number)


@functional()
@autocast("float32")
def multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The sum over targets and other classes of max(0, 1 - score of the target + score), over the number of classes.

    A row's targets end at its first negative entry.
    """
    number = reduction_number(reduction, size_average, reduce)
    x, y = _batch_of_scores("multilabel_margin_loss", input, target, 1)
    labels, classes = y._array, x.shape[1]
    xp = xp_of(labels)
    valid = xp.logical_and.accumulate(labels >= 0, axis=1)
    if valid.any() and labels[valid].max() >= classes:
        raise EngineError("argument #2 'target' is out of range")
    safe = xp.where(valid, labels, 0)
    named = xp.zeros(labels.shape, bool)
    rows = xp.broadcast_to(xp.arange(len(labels))[:, None], labels.shape)
    named[rows[valid], safe[valid]] = True
    picked = x.gather(1, new_tensor(safe.astype(i64)))
    lack = (1 - picked.unsqueeze(2) + x.unsqueeze(1)).relu()
    counted = valid[:, :, None] & ~named[:, None, :]
    each = lack.masked_fill(new_tensor(~counted), 0.0).sum((1, 2)) / classes
    return reduce_all(each if input.ndim > 1 or number else each.squeeze(0), number)


@functional()
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The binary cross entropy of each class's score, averaged over the classes."""
    number = reduction_number(reduction, size_average, reduce)
    logsigmoid = NN_FUNCTIONAL["logsigmoid"]
    tell_shapes(input, target)
    if hub.loss is not None:
        hub.loss("multilabel_soft_margin_loss", input, target)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    dim = input.dim() - 1
    return reduce_all(loss.sum(dim) / input.size(dim), number)


# Distributions -------------------------------------------------------------------------------------


@functional()
@autocast("float32")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-likelihood of counts; `full` adds Stirling's approximation of log(target!)."""
    number = reduction_number(reduction, size_average, reduce)
    tell_shapes(input, target)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduce_all(loss, number)


@autocast("float32")
def _poisson_main(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """`nn.functional.poisson_nll_loss` with all arguments."""
    name = ("none", "mean", "sum")[reduction]
    return poisson_nll_loss(input, target, log_input, full, None, eps, None, name)


FUNCTIONS["poisson_nll_loss"] = _poisson_main


@functional()
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Minus the log-likelihood of normal distributions with the given means and variances."""
    if isinstance(var, float):
        if var < 0:
            raise ArgumentValueError("var has negative entry/entries")
        var = var * FUNCTIONS["ones_like"](input)
    elif (var._array < 0).any():
        raise ArgumentValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(b for a, b in zip(input.shape, var.shape, strict=True) if a != b) != 1:
            raise ArgumentValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentValueError(f"{reduction} is not valid")
    tell_shapes(input, target)
    var = var.clone()
    with modes.no_grad():  # the gradient passes as if nothing had been limited
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduce_all(loss, reduction_number(reduction))


@functional()
def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A sample of the Gumbel-softmax distribution; a hard one has the gradient of the soft one."""
    if eps != 1e-10:
        warn_user("`eps` parameter is deprecated and has no effect.")
    noise = -FUNCTIONS["empty_like"](logits, memory_format=contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return FUNCTIONS["zeros_like"](logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# A projection and its loss -------------------------------------------------------------------------


def _check_projection(input: Any, linear_weight: Any, linear_bias: Any) -> None:
    if not 1 <= input.dim() <= 2:
        raise EngineError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise EngineError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise EngineError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise EngineError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise EngineError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )


@functional()
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """The cross entropy of `input @ linear_weight.T + linear_bias`. (`options` say how PyTorch cuts the batch into pieces.)"""
    _check_projection(input, linear_weight, linear_bias)
    outputs = linear_weight.shape[:-1]
    matrix = linear_weight.reshape(-1, linear_weight.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = NN_FUNCTIONAL["linear"](input, matrix, bias).reshape(*input.shape[:-1], *outputs)
    if target.shape == scores.shape and ignore_index is not None:
        raise EngineError("ignore_index cannot be specified when target contains probabilities")
    return NN_FUNCTIONAL["cross_entropy"](
        scores,
        target,
        weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
