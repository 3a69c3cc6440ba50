"""`torch.futures`: a result that will be there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .errors import EngineError

T = TypeVar("T")


class Future(Generic[T]):
    """A result that somebody else will set; callbacks run when it is there."""

    def __init__(self, *, devices: Any = None) -> None:
        self._there = threading.Condition()
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Is the result there?"""
        return self._done

    def wait(self) -> T:
        """The result, when it is there; an exception that was set is raised."""
        with self._there:
            self._there.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> T:
        """The result, which must be there."""
        if not self._done:
            raise EngineError("the result of this Future is not there yet: wait() for it")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[no-any-return]

    def set_result(self, result: T) -> None:
        """Set the result, once."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception that `wait` and `value` will raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        with self._there:
            if self._done:
                raise EngineError("Future can only be marked completed once")
            self._value, self._error, self._done = value, error, True
            self._there.notify_all()
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call it with this Future when the result is there, or now if it is."""
        with self._there:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A Future with what the callback makes of this one."""
        following: Future[Any] = Future()

        def run(this: Future[T]) -> None:
            try:
                following.set_result(callback(this))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(run)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A Future that is done when all are; its result are they."""
    together: Future[list[Future[Any]]] = Future()
    left, lock = len(futures), threading.Lock()
    if not futures:
        together.set_result([])

    def one(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = not left
        if last:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(one)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """All results, when they are there."""
    return [future.value() for future in collect_all(futures).wait()]
