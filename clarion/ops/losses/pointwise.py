"""Losses of `torch.nn.functional`. `reduction` is PyTorch's number inside: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...core.devices import HOST, ndarray, visible
from ...core.dtypes import FROM_NUMPY, INEXACT
from ...core.messages import broadcast_error
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError, ShapeError, not_a_tensor
from ...events import hub
from ...kernels.batched.levels import all_samples
from ...kernels.everywhere import constant
from ..faces.api import FUNCTIONS, functional, no_gradient
from ..faces.autocast import autocast

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduction_number(reduction: str, size_average: Any = None, reduce: Any = None) -> int:
    """PyTorch's number of a reduction; `size_average` and `reduce` are its old spelling."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    number = REDUCTIONS.get(reduction)
    if number is None:
        if reduction == "elementwise_mean":
            warnings.warn(
                "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
                UserWarning,
                stacklevel=3,
            )
            return 1
        raise ArgumentValueError(f"{reduction} is not a valid value for reduction")
    return number


def legacy_reduction(size_average: Any, reduce: Any, emit_warning: bool = True) -> str:
    """The reduction that `size_average` and `reduce` stand for."""
    average = True if size_average is None else size_average
    if reduce is None or reduce:
        name = "mean" if average else "sum"
    else:
        name = "none"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.",
            UserWarning,
            stacklevel=4,
        )
    return name


def reduce_all(loss: Any, number: int) -> Any:
    """A composite loss, reduced."""
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


def same_shape(input: Any, target: Any) -> tuple[Any, Any]:
    """Both expanded to one shape; a warning if they had two, which is nearly always a mistake."""
    if target._array.shape == input._array.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
        "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        UserWarning,
        stacklevel=3,
    )
    try:
        both: tuple[Any, Any] = FUNCTIONS["broadcast_tensors"](input, target)
    except ShapeError:
        raise broadcast_error(input._array.shape, target._array.shape) from None
    tell_shapes(input, target)
    return both


def tell_shapes(input: Any, target: Any) -> None:
    """Tell whoever listens that a loss has two shapes."""
    if hub.stretched is not None and target.shape != input.shape:
        hub.stretched(input, target)


def stretched(a: Any, b: Any) -> bool:
    """Two shapes that differ were broadcast to each other."""
    return True


def in_type_of(kept: Any, loss: Any) -> Any:
    """A loss in the type of one of its arguments, in whose memory PyTorch computes it."""
    if loss._array.dtype is kept._array.dtype:
        return loss
    if kept._array.dtype not in INEXACT:
        names = [FROM_NUMPY[each._array.dtype].old for each in (loss, kept)]
        raise DtypeError(
            f"result type {names[0]} can't be cast to the desired output type {names[1]}\n"
            "A loss is computed in the type of this argument, which has to be a floating one: convert it, e.g. with .float()."
        )
    return loss.to(kept.dtype)


def share(g: Any, shape: tuple[int, ...], reduction: int) -> Any:
    """The gradient of one element's loss."""
    if reduction != 1:
        return g
    count = 1
    for n in shape:
        count *= n
    return g / count


# Losses of pairs -----------------------------------------------------------------------------------
# Three operations for the squared error: without parameters a call takes the short way through the dispatch.


mse_loss_op = Op("mse_loss", "x y", elementwise=True, promote="common", saved_as={"target": "y"}, traits="loss")
mse_loss_op.vjp(x=lambda g, x, y: (x - y) * (g * 2), y=lambda g, x, y: (y - x) * (g * 2))

mse_loss_mean_op = Op(
    "mse_loss_mean",
    "x y",
    node="MseLossBackward0",
    pair=stretched,
    promote="common",
    saved_as={"target": "y"},
    traits="loss",
)
mse_loss_mean_op.vjp(
    x=lambda g, x, y, ops: ops.mse_loss_backward(x, y, g, _count(x)),
    y=lambda g, x, y, ops: ops.mse_loss_backward(y, x, g, _count(x)),
)

mse_loss_backward_op = Op("mse_loss_backward", "x y gy n", node="MseLossBackwardBackward0", elementwise=True)
mse_loss_backward_op.vjp(
    x=lambda g, gy, n: g * (gy * 2 / n),
    y=lambda g, gy, n: g * (gy * -2 / n),
    gy=lambda g, x, y, n: (x - y) * (g * 2 / n),
)


def _count(x: Any) -> Any:
    """How many elements there are, as a number to compute with."""
    if type(x) is ndarray and x.dtype.char in "fd":
        return constant(HOST.xp, x.size, x.dtype.char)
    return math.prod(x.shape)


mse_loss_sum_op = Op(
    "mse_loss_sum",
    "x y",
    node="MseLossBackward0",
    pair=stretched,
    promote="common",
    saved_as={"target": "y"},
    traits="loss",
)
mse_loss_sum_op.vjp(x=lambda g, x, y: (x - y) * (g * 2), y=lambda g, x, y: (y - x) * (g * 2))

_MSE = {"mean": mse_loss_mean_op, "none": mse_loss_op, "sum": mse_loss_sum_op}


@functional()
@autocast("float32")
def mse_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Any:
    """The squared difference."""
    try:
        if target._array.shape != input._array.shape:
            input, target = same_shape(input, target)
    except AttributeError:
        raise _not_tensors("mse_loss", input, target) from None
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    if weight is not None:
        return _weighted_mse(input, target, reduction, weight)
    op = _MSE.get(reduction)
    if op is None:
        raise ArgumentValueError(f"{reduction} is not a valid value for reduction")
    return op.call(input, target)


def _weighted_mse(input: Any, target: Any, reduction: str, weight: Any) -> Any:
    if weight._array.shape != input._array.shape:
        raise ArgumentValueError("Weights and input must have the same size.")
    errors = (input - target) ** 2 * weight
    number = reduction_number(reduction)
    return errors.sum() / weight.sum() if number == 1 else reduce_all(errors, number)


def _not_tensors(name: str, input: Any, target: Any) -> ArgumentTypeError:
    which, value = ("input", input) if not isinstance(input, Tensor) else ("target", target)
    return not_a_tensor(name, which, value)


@functional()
@autocast("float32")
def l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Any:
    """The absolute difference."""
    number = reduction_number(reduction, size_average, reduce)
    input, target = same_shape(input, target)
    if weight is None:
        return reduce_all((input - target).abs(), number)
    if weight._array.shape != input._array.shape:
        raise ArgumentValueError("Weights and input must have the same size.")
    errors = (input - target).abs() * weight
    return errors.sum() / weight.sum() if number == 1 else reduce_all(errors, number)


clip_unit_op = Op("clip_unit", "x", node="ClampBackward1")
clip_unit_op.vjp(x=lambda g, x, ops: g * ops.inside_unit(x))
Op("inside_unit", "x", differentiable=False)

smooth_l1_loss_op = Op(
    "smooth_l1_loss",
    "x y",
    "reduction beta",
    node="SmoothL1LossBackward0",
    promote="common",
    saved_as={"target": "y"},
    traits="loss",
)
smooth_l1_loss_op.vjp(
    x=lambda g, x, y, reduction, beta, ops: ops.clip_unit((x - y) / beta) * share(g, x.shape, reduction),
    y=lambda g, x, y, reduction, beta, ops: ops.clip_unit((y - x) / beta) * share(g, x.shape, reduction),
)

huber_loss_op = Op("huber_loss", "x y", "reduction delta", promote="common", saved_as={"target": "y"}, traits="loss")
huber_loss_op.vjp(
    x=lambda g, x, y, reduction, delta, ops: ops.clip_unit((x - y) / delta) * (share(g, x.shape, reduction) * delta),
    y=lambda g, x, y, reduction, delta, ops: ops.clip_unit((y - x) / delta) * (share(g, x.shape, reduction) * delta),
)


@functional()
@autocast("float32")
def smooth_l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0
) -> Any:
    """Half the squared difference over beta where it is below beta, the absolute difference minus beta / 2 elsewhere."""
    number = reduction_number(reduction, size_average, reduce)
    input, target = same_shape(input, target)
    if beta == 0.0:
        return reduce_all((input - target).abs(), number)
    if beta < 0:
        raise EngineError("smooth_l1_loss does not support negative values for beta.")
    return smooth_l1_loss_op.call(input, target, number, float(beta))


@functional()
@autocast("float32")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """Half the squared difference where it is at most delta, a line beyond."""
    number = reduction_number(reduction)
    input, target = same_shape(input, target)
    if delta <= 0:
        raise EngineError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return in_type_of(input, huber_loss_op.call(input, target, number, delta))
    if weight._array.shape != input._array.shape:
        raise ArgumentValueError("Weights and input must have the same size.")
    errors = in_type_of(input, huber_loss_op.call(input, target, 0, delta)) * weight
    return errors.sum() / weight.sum() if number == 1 else reduce_all(errors, number)


# Probabilities of two classes ----------------------------------------------------------------------


def times(g: Any, weight: Any) -> Any:
    """g * weight, where there is one."""
    return g if weight is None else g * weight


bernoulli_variance_op = Op("bernoulli_variance", "x", node="MulBackward0")
bernoulli_variance_op.vjp(x=lambda g, x: g * (1 - 2 * x))

clipped_log_op = Op("clipped_log", "x", node="LogBackward0")
clipped_log_op.vjp(x=lambda g, x: g / x)

binary_cross_entropy_op = Op(
    "binary_cross_entropy", "x y weight?", "reduction", saved_as={"target": "y"}, traits="loss"
)
binary_cross_entropy_op.vjp(
    x=lambda g, x, y, weight, reduction, ops: (
        (x - y) / ops.bernoulli_variance(x) * times(share(g, x.shape, reduction), weight)
    ),
    y=lambda g, x, weight, reduction, ops: (
        (ops.clipped_log(1 - x) - ops.clipped_log(x)) * times(share(g, x.shape, reduction), weight)
    ),
)


@functional()
@autocast("float32")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The loss of probabilities against targets between 0 and 1."""
    number = reduction_number(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ArgumentValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    array = input._array
    if target._array.dtype is not array.dtype and target._array.dtype != array.dtype:
        names = [FROM_NUMPY[each._array.dtype].old for each in (target, input)]
        raise DtypeError(
            f"Found dtype {names[0]} but expected {names[1]}\n"
            f"The target of binary_cross_entropy has the type of its input: convert it with target.to(input.dtype)."
        )
    if array.dtype not in INEXACT:
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    for what, each in (("input", array), ("target", target._array)):
        each = all_samples(each)
        if each.size and visible(each) and not (each.min() >= 0 and each.max() <= 1):
            raise EngineError(f"all elements of {what} should be between 0 and 1")
    no_gradient("binary_cross_entropy", weight=weight)
    return in_type_of(input, binary_cross_entropy_op.call(input, target, weight, number))


softplus_plain_op = Op("softplus_plain", "x", node="SoftplusBackward0")
softplus_plain_op.vjp(x=lambda g, x, ops: g * ops.sigmoid(x))


def _logits_slope(x: Any, y: Any, pos_weight: Any, ops: Any) -> Any:
    s = ops.sigmoid(x)
    return s - y if pos_weight is None else s * ((pos_weight - 1) * y + 1) - pos_weight * y


def _target_slope(x: Any, pos_weight: Any, ops: Any) -> Any:
    return -x if pos_weight is None else (pos_weight - 1) * ops.softplus_plain(-x) - x


binary_cross_entropy_with_logits_op = Op(
    "binary_cross_entropy_with_logits",
    "x y weight? pos_weight?",
    "reduction",
    promote="common",
    saved_as={"target": "y"},
    traits="loss",
)
binary_cross_entropy_with_logits_op.vjp(
    x=lambda g, x, y, weight, pos_weight, reduction, ops: (
        _logits_slope(x, y, pos_weight, ops) * times(share(g, x.shape, reduction), weight)
    ),
    y=lambda g, x, weight, pos_weight, reduction, ops: (
        _target_slope(x, pos_weight, ops) * times(share(g, x.shape, reduction), weight)
    ),
)


@functional()
@autocast("float32")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """`binary_cross_entropy(sigmoid(input), target)`, without its overflow."""
    number = reduction_number(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ArgumentValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    no_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if hub.loss is not None:
        hub.loss("binary_cross_entropy_with_logits", input, target)
    return logits_loss(input, target, weight, pos_weight, number)


def logits_loss(input: Any, target: Any, weight: Any, pos_weight: Any, number: int) -> Any:
    """The loss of scores in the target's type, which has to be a floating one."""
    kind = input._array.dtype
    if kind is not target._array.dtype or kind not in INEXACT:
        if kind not in INEXACT:
            raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{FROM_NUMPY[kind].old}'")
        1 - target  # (masks are refused as PyTorch refuses them)
    loss = binary_cross_entropy_with_logits_op.call(input, target, weight, pos_weight, number)
    return in_type_of(target, loss)


soft_margin_loss_op = Op(
    "soft_margin_loss", "x y", "reduction", promote="common", saved_as={"target": "y"}, traits="loss"
)
soft_margin_loss_op.vjp(
    x=lambda g, x, y, reduction, ops: -y * ops.sigmoid(-x * y) * share(g, x.shape, reduction),
    y=lambda g, x, y, reduction, ops: -x * ops.sigmoid(-x * y) * share(g, x.shape, reduction),
)


@functional()
@autocast("float32")
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    number = reduction_number(reduction, size_average, reduce)
    if input.shape != target.shape:
        tell_shapes(input, target)
        input, target = FUNCTIONS["broadcast_tensors"](input, target)
    no_gradient("soft_margin_loss", target=target)
    return in_type_of(input, soft_margin_loss_op.call(input, target, number))


# Distributions -------------------------------------------------------------------------------------


def divergence(input: Any, target: Any, log_target: bool) -> Any:
    """The Kullback-Leibler divergence element by element."""
    if input._array.dtype not in INEXACT or target._array.dtype not in INEXACT:
        raise DtypeError("kl_div: Integral inputs not supported.")
    return target.exp() * (target - input) if log_target else target.xlogy(target) - target * input


@functional()
@autocast("float32")
def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The Kullback-Leibler divergence of `target` from exp(input)."""
    batch = reduction == "batchmean" and size_average is None and reduce is None
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            UserWarning,
            stacklevel=2,
        )
    number = 2 if batch else reduction_number(reduction, size_average, reduce)
    tell_shapes(input, target)
    total = reduce_all(divergence(input, target, log_target), number)
    return total / input.size(0) if batch and input.dim() else total
