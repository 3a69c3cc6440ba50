"""`torch.futures`: a result that will be there."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .errors import EngineError
from .ops.faces.options import warn_user

T = TypeVar("T")


class Future(Generic[T]):
    """A result that somebody else will set; callbacks run when it is there."""

    def __init__(self, *, devices: Any = None) -> None:
        self._there = threading.Condition()
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def __reduce__(self) -> Any:
        raise EngineError("Can not pickle torch.futures.Future")

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
            _told(callback, self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call it with this Future when the result is there, or now if it is."""
        with self._there:
            if not self._done:
                self._callbacks.append(callback)
                return
        _told(callback, self)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A Future with what the callback makes of this one."""
        following: Future[Any] = Future()

        def run(this: Future[T]) -> None:
            try:
                following.set_result(callback(this))
            except Exception as error:
                text = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                following.set_exception(EngineError(f"{text}\n\nAt:\n{traceback.format_exc()}"))

        self.add_done_callback(run)
        return following


def _told(callback: Callable[[Any], Any], future: Future[Any]) -> None:
    """Call back; what is raised there is nobody's to catch: it is said, and goes no further."""
    try:
        callback(future)
    except Exception:
        warn_user(f"Got the following error when running the callback: {traceback.format_exc()}")


def _refuse_none(futures: Any) -> None:
    if any(future is None for future in futures):
        raise EngineError("Future can't be None")


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A Future that is done when all are; its result are they."""
    _refuse_none(futures)
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
