"""`random_split`: a dataset into random parts."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentValueError
from ..ops.random.draws import randperm
from ..ops.random.generator import Generator, default_generator
from .dataset import Subset


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Parts of the given lengths, or fractions of 1, of a shuffled dataset; no sample is in two of them."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ArgumentValueError(
            "Sum of input lengths does not equal the length of the input dataset!\n"
            f"{list(lengths)} add up to {sum(lengths)}; the dataset has {len(dataset)} samples."
        )
    order = randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _lengths(total: int, fractions: Sequence[float]) -> list[int]:
    """Whole numbers near the fractions; what rounding leaves over is dealt out from the first part on."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ArgumentValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths
