"""What every IterDataPipe does around its `__iter__`: one iterator at a time, samples counted, errors that name the pipe."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

_FEEDBACK = (
    "\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free to comment on this issue: "
    "https://github.com/pytorch/data/issues/45."
)
_ONE_AT_A_TIME = "single iterator per IterDataPipe constraint"
_THROWN_BY = "thrown by __iter__ of"


class _SnapshotState(Enum):
    """Where a pipe stands: a restored one is iterated once without being reset."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


def described(pipe: Any) -> str:
    """The pipe as a call of its class."""
    names = inspect.signature(type(pipe)).parameters
    given = [(name, value) for name, value in inspect.getmembers(pipe) if name in names]
    texts = [f"{name}={value.__name__ if inspect.isfunction(value) else repr(value)}" for name, value in given]
    return f"{type(pipe).__name__}({', '.join(texts)})"


def _invalidated(pipe: Any) -> str:
    return (
        "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: "
        f"{described(pipe)}\nThis may be caused by multiple references to the same IterDataPipe. We recommend using "
        "`.fork()` if that is necessary."
    )


def _is_child(pipe: Any) -> bool:
    return getattr(pipe, "_is_child_datapipe", False) is True


def _check_iterator_valid(pipe: Any, number: int | None, next_method_exists: bool = False) -> None:
    """Is this iterator still the pipe's last one? (Of the parts of a fork: the last one of the fork.)"""
    if next_method_exists:
        if pipe._valid_iterator_id:
            told = "\nNote that this exception is raised inside your IterDataPipe's a `__next__` method"
            raise RuntimeError(_invalidated(pipe) + told + _FEEDBACK)
    elif _is_child(pipe):
        if not pipe._check_valid_iterator_id(number):
            raise RuntimeError(
                "This iterator has been invalidated, because a new iterator has been created from one of the "
                f"ChildDataPipes of {described(pipe.main_datapipe)}.{_FEEDBACK}"
            )
    elif pipe._valid_iterator_id != number:
        raise RuntimeError(_invalidated(pipe) + _FEEDBACK)


def _new_iterator_of(pipe: Any) -> int:
    """The number of a new iterator, which makes older ones invalid; the pipe is reset."""
    if _is_child(pipe):
        pipe._set_main_datapipe_valid_iterator_id()
    else:
        pipe._valid_iterator_id = 0 if pipe._valid_iterator_id is None else pipe._valid_iterator_id + 1
        pipe.reset()
    return pipe._valid_iterator_id  # type: ignore[no-any-return]


class IteratorDecorator:
    """The iterator of a pipe whose `__iter__` is not a generator."""

    def __init__(self, iterator: Any, pipe: Any, number: int, counts_itself: bool) -> None:
        self.iterator = iterator
        self.datapipe = pipe
        self.iterator_id = number
        self._counts_itself = counts_itself and iterator is pipe

    def __iter__(self) -> IteratorDecorator:
        return self

    def __next__(self) -> Any:
        _check_iterator_valid(self.datapipe, self.iterator_id)
        found = next(self.iterator)
        if not self._counts_itself:
            self.datapipe._number_of_samples_yielded += 1
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.iterator, name)


def _named(error: Exception, pipe: Any) -> None:
    """Say in an error which pipe raised it, unless it says so already."""
    where = f"\nThis exception is {_THROWN_BY} {described(pipe)}"
    if not error.args or not isinstance(error.args[0], str):
        error.args = (where,)
    elif _THROWN_BY not in error.args[0] and _ONE_AT_A_TIME not in error.args[0]:
        error.args = (error.args[0] + where, *error.args[1:])


def _generator(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrap_generator(pipe: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        generator = func(pipe, *args, **kwargs)
        if pipe._fast_forward_iterator:
            forwarded, pipe._fast_forward_iterator = pipe._fast_forward_iterator, None
            pipe._snapshot_state = _SnapshotState.Iterating
            yield from forwarded
            return
        number = _new_iterator_of(pipe)
        try:
            response = generator.send(None)
            while True:
                pipe._number_of_samples_yielded += 1
                request = yield response
                _check_iterator_valid(pipe, number)
                response = generator.send(request)
        except StopIteration:
            return
        except Exception as error:
            _named(error, pipe)
            raise

    return wrap_generator


def _counting(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrap_next(pipe: Any, *args: Any, **kwargs: Any) -> Any:
        found = func(pipe, *args, **kwargs)
        pipe._number_of_samples_yielded += 1
        return found

    return wrap_next


def _iterator(func: Callable[..., Any], counts_itself: bool) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrap_iter(pipe: Any, *args: Any, **kwargs: Any) -> Any:
        iterator = func(pipe, *args, **kwargs)
        pipe._snapshot_state = _SnapshotState.Iterating
        if pipe._fast_forward_iterator:
            forwarded, pipe._fast_forward_iterator = pipe._fast_forward_iterator, None
            return forwarded
        return IteratorDecorator(iterator, pipe, _new_iterator_of(pipe), counts_itself)

    return wrap_iter


def hook_iterator(namespace: dict[str, Any]) -> None:
    """Put what is done around iterating into the namespace of a class that has an `__iter__`."""
    func = namespace["__iter__"]
    if inspect.isgeneratorfunction(func):
        namespace["__iter__"] = _generator(func)
        return
    if "__next__" in namespace:
        namespace["__next__"] = _counting(namespace["__next__"])
    namespace["__iter__"] = _iterator(func, "__next__" in namespace)


def hook_reset(namespace: dict[str, Any]) -> None:
    """A restored pipe is not reset by the iterator that goes on where it stood."""
    func = namespace["reset"]

    @functools.wraps(func)
    def conditional_reset(pipe: Any, *args: Any, **kwargs: Any) -> None:
        if pipe._snapshot_state is not _SnapshotState.Restored:
            pipe._number_of_samples_yielded = 0
            pipe._fast_forward_iterator = None
            func(pipe, *args, **kwargs)
        pipe._snapshot_state = _SnapshotState.Iterating

    namespace["reset"] = conditional_reset
