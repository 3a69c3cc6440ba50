"""Some of the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, _check_unpickable_fn, chosen, validate_input_col

__all__ = ["FilterIterDataPipe"]

T_co = TypeVar("T_co", covariant=True)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[T_co]):
    """The samples of which a function says True (functional name: ``filter``)."""

    def __init__(self, datapipe: IterDataPipe[T_co], filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(filter_fn)
        self.filter_fn = filter_fn
        self.input_col = input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self) -> Iterator[T_co]:
        for data in self.datapipe:
            kept = chosen(self.filter_fn, data, self.input_col)
            if not isinstance(kept, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
            if kept:
                yield data
            else:
                StreamWrapper.close_streams(data)
