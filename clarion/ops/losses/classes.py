"""Losses of class scores: cross entropy and negative log-likelihood."""

from __future__ import annotations

from typing import Any

from ...core.alone import only_saved
from ...core.devices import HALVES, kind_of, ndarray
from ...core.dtypes import f32, i64, uint8
from ...core.op import Op
from ...core.op_node import OpNode
from ...core.saved import check_versions
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError
from ...events import hub
from ...kernels.registry import RawNamespace, raw
from ..faces.api import FUNCTIONS, functional, no_gradient
from ..faces.autocast import autocast
from ..faces.typed import part, show_parts
from .pointwise import reduction_number


def at_class_dim(s: Any, shape: tuple[int, ...], ops: Any) -> Any:
    """One number per target, with the dimension of the classes put back as 1."""
    if not s.shape and len(shape) > 1:
        return s
    dim = 0 if len(shape) == 1 else 1
    return ops.view(s, (*s.shape[:dim], 1, *s.shape[dim:]))


into_targets_op = Op("into_targets", "s target", "shape ignore_index", node="NllLossBackwardBackward0")
into_targets_op.vjp(
    s=lambda g, s_shape, target, ignore_index, ops: _sum_to(ops.at_targets(g, target, ignore_index), s_shape, ops)
).jvp("each")
at_targets_op = Op("at_targets", "x target", "ignore_index", node="GatherBackward0")
at_targets_op.vjp(
    x=lambda g, x_shape, target, ignore_index, ops: ops.into_targets(g, target, x_shape, ignore_index)
).jvp("each")


def _sum_to(g: Any, shape: tuple[int, ...], ops: Any) -> Any:
    return ops.sum(g, None, False) if g.shape and not shape else g


def _declare_nll(name: str, node: str) -> Op:
    op = Op(name, "x target weight?", "reduction ignore_index", outputs="out row", node=node, traits="loss fused")
    op.vjp(
        x=lambda g, x_shape, target, row, ignore_index, ops: ops.into_targets(-(g * row), target, x_shape, ignore_index)
    )
    return op


nll_loss_op = _declare_nll("nll_loss", "NllLossBackward0")
nll_loss2d_op = _declare_nll("nll_loss2d", "NllLoss2DBackward0")


def _cross_entropy_rule(g: Any, probs: Any, row: Any, target: Any, ignore_index: int, ops: Any) -> Any:
    """Gradient of the scores. The softmax is an output too: that is how second derivatives reach the scores."""
    g_loss, g_probs, _ = g
    result = None
    if g_loss is not None:
        s = g_loss * row
        if isinstance(ops, RawNamespace):
            # One weight for all targets means that none of them is ignored.
            several = row.ndim or probs.ndim == 1
            result = ops.cross_entropy_backward(s, probs, target, ignore_index if several else None)
        else:
            result = probs * at_class_dim(s, probs.shape, ops) - ops.into_targets(s, target, probs.shape, ignore_index)
    if g_probs is not None:
        dim = 0 if len(probs.shape) == 1 else 1
        through = probs * (g_probs - ops.sum(g_probs * probs, (dim,), True))
        result = through if result is None else result + through
    return (result, None, None)


def _declare_cross_entropy(name: str, node: str) -> Op:
    op = Op(
        name,
        "x target weight?",
        "reduction ignore_index",
        outputs="out probs row",
        grad_outputs=(0, 1),
        node=node,
        traits="loss",
    )
    op.vjp(_cross_entropy_rule)
    return op


cross_entropy_op = _declare_cross_entropy("cross_entropy", "NllLossBackward0")
cross_entropy2d_op = _declare_cross_entropy("cross_entropy2d", "NllLoss2DBackward0")
for _op in (cross_entropy_op, cross_entropy2d_op):
    show_parts(_op, lambda x, *_: (part("LogSoftmaxBackward0", x),))


# Where kernels take half precision as it is (a GPU), neither probabilities nor a wide copy of the scores are kept: the gradient
# is computed from the scores themselves.


def _score_rule(
    g: Any, x: Any, target: Any, reduction: int, ignore_index: int, lse: Any, row: Any, needs: Any, ops: Any
) -> Any:
    if isinstance(ops, RawNamespace):
        return ops.cross_entropy_of_scores_backward(g, x, target, lse, row, ignore_index), None
    probs = ops.softmax(x, 1)
    s = g * row
    return probs * at_class_dim(s, probs.shape, ops) - ops.into_targets(s, target, probs.shape, ignore_index), None


scores_op = Op(
    "cross_entropy_of_scores",
    "x target",
    "reduction ignore_index",
    outputs="out lse row",
    grad_outputs=(0,),
    node="NllLossBackward0",
)
scores_op.vjp(_score_rule)


def _scores_backward(node: Any, g: Any, edges: Any = None) -> Any:
    """Scores are often the largest tensor of all: if nobody else sees them, their gradient takes their place."""
    if type(g) not in HALVES or edges is not None or not only_saved(node, 0):
        return OpNode.apply_raw(node, g, edges)
    check_versions(node)
    x, target, _, ignore_index, _, lse, row = node.saved[:7]
    scores = x._array
    return raw.cross_entropy_of_scores_backward(g, scores, target._array, lse, row, ignore_index, out=scores), None


scores_op.node_class.apply_raw = _scores_backward  # type: ignore[method-assign]


def _check_classes(name: str, input: Any, target: Any, weight: Any) -> None:
    """Shapes and types of scores and class indices."""
    x, t = input._array, target._array
    if x.ndim == 0:
        raise ArgumentValueError("Expected 1 or more dimensions (got 0)")
    if name == "cross_entropy" and x.shape == t.shape:
        raise EngineError(
            f"Expected floating point type for target with class probabilities, got {target.dtype.old}\n"
            "A target of the input's shape holds probabilities; class indices have one dimension less."
        )
    if (x.ndim == 1 and t.ndim > 1) or (x.ndim == 2 and t.ndim > 1):
        raise EngineError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim == 1:
        if t.ndim == 1 and t.shape[0] != 1:
            raise ArgumentValueError(f"Expected input batch_size (1) to match target batch_size ({t.shape[0]}).")
    elif t.ndim == 0 or x.shape[0] != t.shape[0]:
        have = t.shape[0] if t.ndim else 1
        raise ArgumentValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({have}).")
    elif x.shape[2:] != t.shape[1:]:
        raise EngineError(f"Expected target size {[x.shape[0], *x.shape[2:]]}, got {list(t.shape)}")
    if weight is not None:
        no_gradient("nll_loss_forward" if x.ndim <= 2 else "nll_loss2d_forward", weight=weight)
    if weight is not None and weight._array.shape != (x.shape[min(x.ndim - 1, 1)],):
        raise EngineError(
            f"weight tensor should be defined either for all {x.shape[min(x.ndim - 1, 1)]} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )
    if t.dtype is not i64 and t.dtype is not uint8.numpy:
        raise DtypeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.old}\n"
            f"{name}() takes class indices as integers: target.long(), or probabilities of the input's shape."
        )
    if x.ndim > 2 and t.dtype is not i64:
        raise DtypeError(f"expected scalar type Long but found {target.dtype.old}\nTake target.long().")


@functional()
@autocast("float32")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-probability of the target class."""
    number = reduction_number(reduction, size_average, reduce)
    _check_classes("nll_loss", input, target, weight)
    if hub.loss is not None:
        hub.loss("nll_loss", input, target)
    if input._array.ndim == 1 and target._array.ndim == 1:
        target = target.squeeze(0)
    op = nll_loss_op if input._array.ndim <= 2 else nll_loss2d_op
    return op.call(input, target, weight, number, ignore_index)[0]


FUNCTIONS.setdefault("nll_loss", nll_loss)


@functional()
@autocast("float32")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The loss of class scores against class indices, or against probabilities of the classes."""
    number = reduction_number(reduction, size_average, reduce)
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        raise ArgumentTypeError(
            f"cross_entropy_loss(): argument '{'self' if not isinstance(input, Tensor) else 'target'}' must be Tensor, "
            f"not {type(target if isinstance(input, Tensor) else input).__name__}"
        )
    if hub.loss is not None:
        hub.loss("cross_entropy", input, target)
    x, t = input._array, target._array
    if (
        weight is None
        and label_smoothing == 0
        and x.ndim == 2
        and t.dtype is i64
        and t.shape == x.shape[:1]
        and x.dtype is f32
        and type(x) is ndarray
    ):
        return cross_entropy_op.call(input, target, None, number, ignore_index)[0]
    if t.shape == x.shape and t.dtype.kind not in "iub":
        return _probability_targets(input, target, weight, number, label_smoothing)
    if not label_smoothing <= 1.0:
        raise EngineError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    _check_classes("cross_entropy", input, target, weight)
    if label_smoothing > 0:
        return _smoothed(input, target, weight, number, ignore_index, label_smoothing)
    if input._array.ndim == 1 and target._array.ndim == 1:
        target = target.squeeze(0)  # type: ignore[attr-defined]
    if weight is None and x.ndim == 2 and kind_of(x).half:
        return scores_op.call(input, target, number, ignore_index)[0]
    op = cross_entropy_op if x.ndim <= 2 else cross_entropy2d_op
    return op.call(input, target, weight, number, ignore_index)[0]


def _weight_at_classes(weight: Any, ndim: int) -> Any:
    return weight if ndim == 1 else weight.view(1, -1, *(1,) * (ndim - 2))


def _probability_targets(input: Any, target: Any, weight: Any, number: int, smoothing: float) -> Any:
    if not smoothing <= 1.0:
        raise EngineError(f"label_smoothing must be between 0.0 and 1.0. Got: {smoothing}")
    dim = 0 if input.ndim == 1 else 1
    classes = input._array.shape[dim]
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    logs = input.log_softmax(dim)
    if weight is not None:
        logs = logs * _weight_at_classes(weight, input.ndim)
    each = logs * target
    if number == 0:
        return -each.sum(dim)
    if number == 2:
        return -each.sum()
    count = input.numel() / classes if classes else 0
    return -each.sum() / count if count else -each.sum() * float("nan")


def _smoothed(input: Any, target: Any, weight: Any, number: int, ignore_index: int, smoothing: float) -> Any:
    """(1 - smoothing) parts of the target class, and smoothing parts of all classes alike."""
    dim = 0 if input.ndim == 1 else 1
    classes = input._array.shape[dim]
    logs = input.log_softmax(dim)
    if input._array.ndim == 1 and target._array.ndim == 1:
        target = target.squeeze(0)
    op = nll_loss_op if input._array.ndim <= 2 else nll_loss2d_op
    nll = op.call(logs, target, weight, number, ignore_index)[0]
    spread = logs if weight is None else logs * _weight_at_classes(weight, input.ndim)
    smooth = -spread.sum(dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if number == 1:
        if type(target._array) is not ndarray:  # (also where a call is recorded: nothing is read)
            counts = (~ignored).to(input.dtype)
            smooth = smooth.sum() / (counts if weight is None else weight[target * ~ignored] * counts).sum()
        elif weight is None:
            smooth = smooth.sum() / (target.numel() - int(ignored._array.sum()) or float("nan"))
        else:
            counted = weight.detach()._array.take((target * ~ignored)._array) * ~ignored._array
            smooth = smooth.sum() / float(counted.sum())
    elif number == 2:
        smooth = smooth.sum()
    return nll * (1 - smoothing) + smooth * (smoothing / classes)
