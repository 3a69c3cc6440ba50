"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

from ...core.devices import HOST, to_host, xp_of
from ...core.dtypes import i64
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, EngineError, NotSupportedError
from ...kernels.batched.levels import Mapped, all_samples
from ..faces.api import FUNCTIONS, functional
from ..faces.autocast import autocast
from .pointwise import reduction_number

ctc_loss_op = Op(
    "ctc_loss", "log_probs", "labels lengths label_lengths blank zero_infinity", outputs="out alpha",
    node="CtcLossBackward0", traits="loss",
)  # fmt: skip
ctc_loss_op.vjp(
    log_probs=lambda g, log_probs, out, alpha, labels, lengths, label_lengths, blank, zero_infinity, ops: (
        ops.ctc_loss_backward(g, log_probs, out, alpha, labels, lengths, label_lengths, blank, zero_infinity)
    )
)


def _no_second_derivative(g: Any) -> Any:
    raise NotSupportedError("derivative for aten::_ctc_loss_backward is not implemented")


ctc_loss_backward_op = Op(
    "ctc_loss_backward", "g log_probs nll alpha", "labels lengths label_lengths blank zero_infinity"
)
ctc_loss_backward_op.vjp(_no_second_derivative)


def _lengths(name: str, given: Any, batch: int) -> Any:
    if isinstance(given, Tensor):
        if given._array.dtype.kind not in "iu":
            raise EngineError(f"{name} must be integral")
        given = given._array
    found = HOST.xp.asarray(to_host(given) if hasattr(given, "dtype") else given, i64).reshape(-1)
    if found.size != batch:
        raise EngineError(f"{name} must be of size batch_size")
    return found


def _labels(targets: Any, counts: Any) -> Any:
    """Targets as rows; concatenated ones are taken apart."""
    array = targets._array
    if not isinstance(array, Mapped):
        array = to_host(array)
    xp = xp_of(array)
    longest = int(counts.max()) if counts.size else 0
    if array.ndim > 1:
        if array.shape[0] != counts.size or array.shape[1] < longest:
            raise EngineError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {array.shape[1]} for "
                "argument #2 'targets' (while checking arguments for ctc_loss_cpu)"
            )
        rows = array[:, :longest].astype(i64)
    else:
        if array.size != counts.sum():
            raise EngineError(
                f"Expected tensor to have size {counts.sum()} at dimension 0, but got size {array.size} for argument #2 "
                "'targets' (while checking arguments for ctc_loss_cpu)"
            )
        begins = counts.cumsum() - counts
        at = HOST.xp.minimum(begins[:, None] + HOST.xp.arange(longest), max(array.size - 1, 0))
        rows = array[at].astype(i64) if array.size else HOST.xp.zeros((counts.size, longest), i64)
    return xp.where(HOST.xp.arange(longest) < counts[:, None], rows, 0)


@functional()
@autocast("float32")
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Minus the log-likelihood of the targets, over all their alignments to the steps."""
    number = reduction_number(reduction)
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs._array.shape
    if not 0 <= blank < classes:
        raise EngineError("blank must be in label range")
    lengths, counts = _lengths("input_lengths", input_lengths, batch), _lengths("target_lengths", target_lengths, batch)
    if (counts < 0).any():
        raise EngineError(
            f"Expected target_lengths to have value at least 0, but got value {counts.min()} (while checking arguments for "
            "ctc_loss_cpu)"
        )
    if (lengths < 0).any() or (lengths > steps).any():
        bound, value = ("least 0", lengths.min()) if (lengths < 0).any() else (f"most {steps}", lengths.max())
        raise EngineError(
            f"Expected input_lengths to have value at {bound}, but got value {value} (while checking arguments "
            "for ctc_loss_cpu)"
        )
    if single and targets.ndim == 1:
        targets = targets.unsqueeze(0)
    labels = _labels(targets, counts)
    values = all_samples(labels)
    if values.size and (values.min() < 0 or values.max() >= classes):
        raise ArgumentIndexError(f"ctc_loss: a target is out of range for {classes} classes")
    if isinstance(labels, Mapped):
        from ...core.batching import levels_of, shared

        log_probs = shared(log_probs, levels_of((labels,)))
    loss = ctc_loss_op.call(log_probs, labels, lengths, counts, blank, zero_infinity)[0]
    if zero_infinity:
        loss = loss.masked_fill(loss.isinf(), 0)
    if number == 1:
        return (loss / loss.new_tensor(counts.clip(1))).mean()
    return loss.sum() if number == 2 else loss.squeeze(0) if single else loss


@autocast("float32")
def _main(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """`nn.functional.ctc_loss` with PyTorch's number of the reduction."""
    name = ("none", "mean", "sum")[reduction]
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, name, zero_infinity)


FUNCTIONS["ctc_loss"] = _main
