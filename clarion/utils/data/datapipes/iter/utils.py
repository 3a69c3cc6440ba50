"""Where pipes begin."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..datapipe import IterDataPipe
from ..utils.common import length_of

__all__ = ["IterableWrapperIterDataPipe"]

T = TypeVar("T")


class IterableWrapperIterDataPipe(IterDataPipe[T]):
    """Anything iterable as a pipe; a copy of it at each iteration, unless told otherwise."""

    def __init__(self, iterable: Iterable[T], deepcopy: bool = True) -> None:
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self) -> Iterator[T]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place modification would affect source "
                    "data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        return length_of(self, self.iterable)[0]
