"""Numbers of a GPU that are read a step later: nothing waits for it.

A result is copied, as soon as it is there, to memory of the host that the GPU writes by itself; what is given back is the last one that
has arrived. Who copies (PyTorch, CuPy) says how: see `Post`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_UNDER_WAY = 4  # results of one name that may be on their way; more are left out
_NAMES = 256


class _Mail:
    """Results of one name: those on their way, and the last that has arrived."""

    __slots__ = ("free", "last", "under_way")

    def __init__(self) -> None:
        self.under_way: list[tuple[Any, Any]] = []  # (memory of the host, event)
        self.free: list[tuple[Any, Any]] = []
        self.last: list[float] | None = None


class Post:
    """The mail of one library.

    room(result)                memory of the host for it, and an event
    copy(result, memory, event) copy it without waiting; the event happens when that is done
    arrived(event)              has it happened?
    numbers(memory)             the values, as a list
    """

    def __init__(
        self,
        room: Callable[[Any], tuple[Any, Any]],
        copy: Callable[[Any, Any, Any], None],
        arrived: Callable[[Any], bool],
        numbers: Callable[[Any], list[float]],
    ) -> None:
        self._room, self._copy, self._arrived, self._numbers = room, copy, arrived, numbers
        self._mail: dict[Any, _Mail] = {}

    def read(self, name: Any, result: Any) -> list[float] | None:
        """The values of that name of an earlier step (None: there are none yet); `result` is sent to be read later."""
        mail = self._of((name, tuple(result.shape), result.dtype))
        while mail.under_way and self._arrived(mail.under_way[0][1]):
            place = mail.under_way.pop(0)
            mail.last = self._numbers(place[0])
            mail.free.append(place)
        if len(mail.under_way) < _UNDER_WAY:
            memory, event = place = mail.free.pop() if mail.free else self._room(result)
            self._copy(result, memory, event)
            mail.under_way.append(place)
        return mail.last

    def know(self, name: Any, result: Any, values: list[float]) -> None:
        """Values that were read at once: the next ones that are asked for may come later."""
        self._of((name, tuple(result.shape), result.dtype)).last = values

    def forget(self) -> None:
        """Begin anew."""
        self._mail.clear()

    def _of(self, key: Any) -> _Mail:
        mail = self._mail.get(key)
        if mail is None:
            if len(self._mail) >= _NAMES:
                self._mail.clear()
            mail = self._mail[key] = _Mail()
        return mail
