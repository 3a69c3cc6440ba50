"""`IterDataPipe` and `MapDataPipe`: datasets whose methods make the next pipe of them."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from ..._import_utils import import_dill
from ..dataset import Dataset, IterableDataset
from ._hook_iterator import _SnapshotState
from ._typing import _DataPipeMeta, _IterDataPipeMeta

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class DataChunk(list[T]):
    """A batch of a pipe: a list that `unbatch` takes apart again."""

    def __init__(self, items: Iterable[T]) -> None:
        super().__init__(items)
        self.items = list(self)

    def as_str(self, indent: str = "") -> str:
        """As text, indented."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def __iter__(self) -> Iterator[T]:
        yield from super().__iter__()

    def raw_iterator(self) -> Iterator[T]:
        """The items as they were given."""
        yield from self.items


class _Pipe:
    """What both kinds have: methods that are other pipes, and hooks for those who walk over a graph of pipes."""

    functions: ClassVar[dict[str, Callable[..., Any]]]
    reduce_ex_hook: ClassVar[Callable[..., Any] | None] = None
    getstate_hook: ClassVar[Callable[..., Any] | None] = None
    str_hook: ClassVar[Callable[..., Any] | None] = None
    repr_hook: ClassVar[Callable[..., Any] | None] = None
    _family: ClassVar[type[_Pipe]]

    def __getattr__(self, name: str) -> Any:
        found = type(self).functions.get(name)
        if found is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")
        bound = functools.partial(found, self)
        bound.__doc__ = found.__doc__
        return bound

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Pipes get a method: `pipe.function_name(...)` calls `function(pipe, ...)`."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Callable[..., Any], enable_df_api_tracing: bool = False
    ) -> None:
        """Pipes get a method that makes another pipe of them."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        make = functools.partial(_made, cls_to_register)
        make.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = make

    def _state(self) -> Any:
        return self.__dict__

    def __getstate__(self) -> Any:
        hook = self._family.getstate_hook
        return self._state() if hook is None else hook(self._state())

    def __reduce_ex__(self, *args: Any) -> Any:
        if (hook := self._family.reduce_ex_hook) is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args)

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """What is pickled instead of a pipe's state."""
        cls._set_hook("getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """What is pickled instead of a pipe."""
        cls._set_hook("reduce_ex_hook", hook_fn)

    @classmethod
    def _set_hook(cls, name: str, hook: Callable[..., Any] | None) -> None:
        if hook is not None and getattr(cls._family, name) is not None:
            raise RuntimeError(f"Attempt to override existing {name}")
        setattr(cls._family, name, hook)

    def __repr__(self) -> str:
        hook = type(self).repr_hook
        return type(self).__qualname__ if hook is None else hook(self)

    def __str__(self) -> str:
        hook = type(self).str_hook
        return type(self).__qualname__ if hook is None else hook(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


def _made(pipe: Callable[..., Any], source: Any, *args: Any, **kwargs: Any) -> Any:
    return pipe(source, *args, **kwargs)


class IterDataPipe(_Pipe, IterableDataset[T_co], metaclass=_IterDataPipeMeta):
    """A pipe that is iterated. Only its last iterator is valid; making one calls `reset`.

    >>> from clarion.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(6)).map(lambda x: x + 1).filter(lambda x: x % 2 == 0).batch(2))
    [[2, 4], [6]]
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded: int = 0
    _snapshot_state: _SnapshotState = _SnapshotState.NotStarted
    _fast_forward_iterator: Iterator[Any] | None = None
    _passing: ClassVar[tuple[str, ...]] = ()  # what belongs to one iteration, and is not pickled

    def __iter__(self) -> Iterator[T_co]:
        return self  # type: ignore[return-value]

    def reset(self) -> None:
        """Before each iteration: back to the beginning."""

    def _state(self) -> Any:
        if not self._passing:
            return self.__dict__
        return {name: value for name, value in self.__dict__.items() if name not in self._passing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _begin(self) -> None:
        """Set what belongs to one iteration."""


class DFIterDataPipe(IterDataPipe[T_co]):
    """A pipe of data frames."""

    def _is_dfpipe(self) -> bool:
        return True


class MapDataPipe(_Pipe, Dataset[T_co], metaclass=_DataPipeMeta):
    """A pipe that is asked for samples by key.

    >>> from clarion.utils.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper(range(4)).map(lambda x: x + 1).batch(2))
    [[1, 2], [3, 4]]
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


IterDataPipe._family = IterDataPipe
MapDataPipe._family = MapDataPipe


class _DataPipeSerializationWrapper:
    """A pipe on its way to a worker: with dill, its lambdas can go there, too."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> tuple[bytes, bool]:
        try:
            return pickle.dumps(self._datapipe), False
        except Exception:
            if (dill := import_dill()) is None:
                raise
            return dill.dumps(self._datapipe), True

    def __setstate__(self, state: tuple[bytes, bool]) -> None:
        value, by_dill = state
        self._datapipe = import_dill().loads(value) if by_dill else pickle.loads(value)  # type: ignore[union-attr]

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from error


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe[Any]):
    def __init__(self, datapipe: IterDataPipe[Any]) -> None:
        super().__init__(datapipe)
        self._datapipe_iter: Iterator[Any] | None = None

    def __iter__(self) -> _IterDataPipeSerializationWrapper:
        self._datapipe_iter = iter(self._datapipe)
        return self

    def __next__(self) -> Any:
        if self._datapipe_iter is None:
            raise AssertionError("Iterator has not been initialized; call __iter__() before __next__()")
        return next(self._datapipe_iter)


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe[Any]):
    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]
