"""Where pipes begin."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]

T = TypeVar("T")


class SequenceWrapperMapDataPipe(MapDataPipe[T]):
    """A sequence (or a dictionary) as a pipe; a copy of it, unless told otherwise."""

    def __init__(self, sequence: Sequence[T] | Mapping[Any, T], deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place modification would affect source "
                    "data",
                    stacklevel=2,
                )

    def __getitem__(self, index: Any) -> T:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)
