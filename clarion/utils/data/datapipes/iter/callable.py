"""A function of every sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .....errors import NotSupportedError
from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, chosen, length_of, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]

T_co = TypeVar("T_co", covariant=True)


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[T_co]):
    """What a function makes of each sample, or of some of its columns (functional name: ``map``).

    input_col    which columns the function is given (a key, or several); None: the sample
    output_col   where its result goes; None: in the place of the first input column, -1: behind the others
    """

    def __init__(
        self, datapipe: IterDataPipe[Any], fn: Callable[..., Any], input_col: Any = None, output_col: Any = None
    ) -> None:
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(fn)
        self.fn = fn
        self.input_col = input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, list | tuple):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: Any) -> Any:
        result = chosen(self.fn, data, self.input_col)
        if self.input_col is None:
            return result
        row = list(data) if isinstance(data, tuple) else data
        if self.output_col == -1:
            row.append(result)
        elif self.output_col is not None:
            row[self.output_col] = result
        elif isinstance(self.input_col, list | tuple):
            row[self.input_col[0]] = result
            for column in sorted(self.input_col[1:], reverse=True):
                del row[column]
        else:
            row[self.input_col] = result
        return tuple(row) if isinstance(data, tuple) else row

    def __iter__(self) -> Iterator[T_co]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self, self.datapipe)[0]


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe[Any]):
    """Samples of lists as batches of tensors, by default_collate or a function of one's own (functional name: ``collate``)."""

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        conversion: Any = default_collate,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        fn = conversion if collate_fn is None else collate_fn
        if not callable(fn):
            raise NotSupportedError("columns of data frames are not collated one by one; give a function of the batch")
        super().__init__(datapipe, fn=fn)
