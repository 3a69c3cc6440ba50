"""Stores: small tables of names and bytes that processes share to find each other. Here the table itself, and one in memory."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError, NotSupportedError


class DistError(RuntimeError):
    """Something between processes went wrong."""


class DistBackendError(DistError):
    """A way of communicating failed."""


class DistNetworkError(DistError):
    """A connection failed."""


class DistStoreError(DistError):
    """A store did not have in time what it was asked for."""


class QueueEmptyError(DistStoreError):
    """Nothing is waiting in a queue of a store."""


for _error in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _error.__module__ = "torch.distributed"

DEFAULT = timedelta(minutes=5)


def _bytes(value: Any, name: str = "set") -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise ArgumentTypeError(
        f"{name}(): incompatible function arguments: a value is a str or bytes, not {type(value).__name__}"
    )


def _number(value: bytes) -> int:
    try:
        return int(value)
    except ValueError:
        raise ArgumentValueError(f"stoll: {value!r} is no number to add to") from None


class Table:
    """Names and bytes, and queues of them; those who wait are woken by every change."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.queues: dict[str, deque[bytes]] = {}
        self.changed = threading.Condition()

    def set(self, key: str, value: bytes) -> None:
        """Put a value under a name."""
        with self.changed:
            self.values[key] = value
            self.changed.notify_all()

    def add(self, key: str, amount: int) -> int:
        """Add to a number; one that is not there is zero."""
        with self.changed:
            total = _number(self.values.get(key, b"0")) + amount
            self.set(key, str(total).encode())
            return total

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Put a value where the expected one is (or none, if that is empty); what is there now."""
        with self.changed:
            now = self.values.get(key)
            if now == expected or (now is None and not expected):
                self.set(key, desired)
                return desired
            return expected if now is None else now

    def append(self, key: str, value: bytes) -> None:
        """Put bytes behind those that are there."""
        with self.changed:
            self.set(key, self.values.get(key, b"") + value)

    def delete(self, key: str) -> bool:
        """Take a name out; whether it was there."""
        with self.changed:
            return self.values.pop(key, None) is not None

    def has(self, keys: Sequence[str]) -> bool:
        """Are all these names there?"""
        with self.changed:
            return all(key in self.values or key in self.queues for key in keys)

    def wait(self, keys: Sequence[str], seconds: float) -> bool:
        """Wait until all are there; False if they are not in time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.has(keys), seconds)

    def push(self, key: str, value: bytes) -> None:
        """Put a value at the end of a queue."""
        with self.changed:
            self.queues.setdefault(key, deque()).append(value)
            self.changed.notify_all()

    def pop(self, key: str) -> bytes | None:
        """Take the first value of a queue; None if there is none."""
        with self.changed:
            queue = self.queues.get(key)
            if not queue:
                return None
            value = queue.popleft()
            if not queue:
                del self.queues[key]
            return value


class Store:
    """What all stores can do. A class of one's own defines `set`, `get` and what else it needs."""

    _timeout = DEFAULT

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Wait so long from now on."""
        if not isinstance(timeout, timedelta):
            raise ArgumentTypeError(f"set_timeout(): a timeout is a datetime.timedelta, not {type(timeout).__name__}")
        self._timeout = timeout

    def _absent(self, *args: Any, **kwargs: Any) -> Any:
        """A store defines it."""
        raise NotSupportedError(f"{type(self).__name__} does not define this")

    set = get = add = check = compare_set = delete_key = num_keys = wait = append = list_keys = clone = _absent

    def _no_queue(self, *args: Any, **kwargs: Any) -> Any:
        """Not in this kind of store."""
        raise NotSupportedError("queue support is not implemented.")

    queue_push = queue_pop = queue_len = _no_queue

    def has_extended_api(self) -> bool:
        """Are `append`, `multi_get` and `multi_set` one step each?"""
        return False

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """The values of several names."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: list[str], values: list[Any]) -> None:
        """Put values under several names."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)


class HashStore(Store):
    """A store in the memory of this process, for its threads."""

    def __init__(self) -> None:
        self._table = Table()

    def set(self, key: str, value: Any) -> None:
        """Put a value under a name."""
        self._table.set(key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value under a name; waits for it."""
        self.wait([key])
        return self._table.values[key]

    def add(self, key: str, amount: int) -> int:
        """Add to a number."""
        if not hasattr(amount, "__index__"):
            raise ArgumentTypeError(f"add(): incompatible function arguments: an int, not {type(amount).__name__}")
        return self._table.add(key, int(amount))

    def check(self, keys: list[str]) -> bool:
        """Are all these names there?"""
        return self._table.has(keys)

    def compare_set(self, key: str, expected_value: Any, desired_value: Any) -> bytes:
        """Put a value where the expected one is; what is there now."""
        return self._table.compare_set(key, _bytes(expected_value), _bytes(desired_value))

    def delete_key(self, key: str) -> bool:
        """Take a name out; whether it was there."""
        return self._table.delete(key)

    def num_keys(self) -> int:
        """How many names there are."""
        return len(self._table.values)

    def list_keys(self) -> list[str]:
        """The names."""
        return list(self._table.values)

    def append(self, key: str, value: Any) -> None:
        """Put bytes behind those that are there."""
        self._table.append(key, _bytes(value, "append"))

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until all these names are there."""
        if not self._table.wait(keys, (timeout or self._timeout).total_seconds()):
            raise DistStoreError("Wait timeout")

    def queue_push(self, key: str, value: Any) -> None:
        """Put a value at the end of a queue."""
        self._table.push(key, _bytes(value, "queue_push"))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The first value of a queue; waits for one, or refuses."""
        return popped(lambda: self._table.pop(key), block, self._timeout)

    def queue_len(self, key: str) -> int:
        """How many values are in a queue."""
        return len(self._table.queues.get(key, ()))

    def has_extended_api(self) -> bool:
        """They are one step each."""
        return True

    def clone(self) -> HashStore:
        """The same table."""
        made = HashStore()
        made._table, made._timeout = self._table, self._timeout
        return made


def popped(pop: Callable[[], bytes | None], block: bool, timeout: timedelta) -> bytes:
    """What a queue gives, at once or in time."""
    end = time.monotonic() + timeout.total_seconds()
    while (value := pop()) is None:
        if not block:
            raise QueueEmptyError("queue is empty")
        if time.monotonic() > end:
            raise DistStoreError("Wait timeout")
        time.sleep(0.002)
    return value


class PrefixStore(Store):
    """A part of another store: every name gets a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store = prefix, store

    @property
    def timeout(self) -> timedelta:
        """That of the store behind it."""
        return self.underlying_store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Wait so long from now on, in the store behind it."""
        self.underlying_store.set_timeout(timeout)

    def _name(self, key: str) -> str:
        return f"{self.prefix}/{key}"

    def set(self, key: str, value: Any) -> None:
        """Put a value under a name."""
        self.underlying_store.set(self._name(key), value)

    def get(self, key: str) -> bytes:
        """The value under a name."""
        return self.underlying_store.get(self._name(key))  # type: ignore[no-any-return]

    def add(self, key: str, amount: int) -> int:
        """Add to a number."""
        return self.underlying_store.add(self._name(key), amount)  # type: ignore[no-any-return]

    def check(self, keys: list[str]) -> bool:
        """Are all these names there?"""
        return self.underlying_store.check([self._name(key) for key in keys])  # type: ignore[no-any-return]

    def compare_set(self, key: str, expected_value: Any, desired_value: Any) -> bytes:
        """Put a value where the expected one is."""
        return self.underlying_store.compare_set(self._name(key), expected_value, desired_value)  # type: ignore[no-any-return]

    def delete_key(self, key: str) -> bool:
        """Take a name out."""
        return self.underlying_store.delete_key(self._name(key))  # type: ignore[no-any-return]

    def num_keys(self) -> int:
        """How many names the store behind it has."""
        return self.underlying_store.num_keys()  # type: ignore[no-any-return]

    def list_keys(self) -> list[str]:
        """The names with this prefix, without it."""
        start = self._name("")
        return [key.removeprefix(start) for key in self.underlying_store.list_keys() if key.startswith(start)]

    def append(self, key: str, value: Any) -> None:
        """Put bytes behind those that are there."""
        self.underlying_store.append(self._name(key), value)

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until all these names are there."""
        names = [self._name(key) for key in keys]
        self.underlying_store.wait(names) if timeout is None else self.underlying_store.wait(names, timeout)

    def queue_push(self, key: str, value: Any) -> None:
        """Put a value at the end of a queue."""
        self.underlying_store.queue_push(self._name(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The first value of a queue."""
        return self.underlying_store.queue_pop(self._name(key), block)  # type: ignore[no-any-return]

    def queue_len(self, key: str) -> int:
        """How many values are in a queue."""
        return self.underlying_store.queue_len(self._name(key))  # type: ignore[no-any-return]

    def has_extended_api(self) -> bool:
        """As the store behind it."""
        return self.underlying_store.has_extended_api()

    def clone(self) -> PrefixStore:
        """The same part of the same store."""
        return PrefixStore(self.prefix, self.underlying_store.clone())
