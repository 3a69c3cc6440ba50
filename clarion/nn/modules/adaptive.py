"""The adaptive softmax: rare classes stand in clusters of their own, with fewer weights."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from ...errors import EngineError
from ...ops.faces.api import FUNCTIONS
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of the targets, and their negative mean. Classes must be sorted by frequency."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
                "is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(itertools.pairwise(self.cutoffs), 1):
            size = int(in_features // (div_value**i))
            self.tail.append(
                Sequential(
                    Linear(in_features, size, bias=False, device=device, dtype=dtype),
                    Linear(size, high - low, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new values for all layers."""
        self.head.reset_parameters()
        for first, second in self.tail:  # type: ignore[attr-defined]
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        """(log-probabilities of the targets, loss)."""
        _check(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        values = target._array
        if values.size and (values.min() < 0 or values.max() >= self.n_classes):
            raise EngineError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{values.min()}, "
                f"{values.max()}] were found. "
            )
        output = input.new_zeros(values.shape[0])
        places = target.clone()  # of each target in the head: its own, or its cluster's
        for i, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().reshape(-1)
            if rows.numel() == 0:
                continue
            logs = self.tail[i](input.index_select(0, rows)).log_softmax(1)
            local = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, logs.gather(1, local).squeeze(1))
            places.index_fill_(0, rows, self.shortlist_size + i)
        head = self.head(input).log_softmax(1)
        output = output + head.gather(1, places.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output if batched else output.squeeze(0), (-output).mean())

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        head = head_output.log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            at = self.shortlist_size + i
            parts.append(self.tail[i](input).log_softmax(1) + head[:, at : at + 1])
        return FUNCTIONS["cat"](parts, 1)

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class of each row."""
        head = self.head(input)
        best = head.argmax(1)
        rare = (best >= self.shortlist_size).nonzero().reshape(-1)
        if rare.numel() == 0:
            return best
        logs = self._get_full_log_prob(input.index_select(0, rare), head.index_select(0, rare))
        return best.index_copy(0, rare, logs.argmax(1))


def _check(input: Any, target: Any) -> None:
    if target.dim() > 1:
        raise EngineError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise EngineError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise EngineError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size "
            f"{input.size()}"
        )
