"""A store behind a socket: one process keeps the table, all others ask it.

A question is a letter for what to do and some fields, an answer a letter for how it went and one field; lengths stand before
them. Each connection has a thread of the server, so that one who waits keeps nobody up.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import weakref
from datetime import timedelta
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError
from .stores import DEFAULT, DistNetworkError, DistStoreError, Store, Table, _bytes, popped

_LENGTH = struct.Struct("<I")
_DONE, _NOTHING, _LATE, _WRONG = b"d", b"n", b"l", b"w"
_WORKERS = "init/"


def _send(connection: socket.socket, *fields: bytes) -> None:
    parts = [_LENGTH.pack(len(fields)), *[part for field in fields for part in (_LENGTH.pack(len(field)), field)]]
    connection.sendall(b"".join(parts))


def _receive(connection: socket.socket) -> list[bytes]:
    (count,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return [_exactly(connection, _LENGTH.unpack(_exactly(connection, _LENGTH.size))[0]) for _ in range(count)]


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError("the other side has closed the connection")
        parts += part
    return bytes(parts)


class _Server:
    """Keeps the table, and answers."""

    def __init__(self, host: str, port: int, listening: socket.socket | None) -> None:
        self.table = Table()
        self.socket = listening or socket.create_server((host if port or host else "", port), backlog=512)
        self.port: int = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="clarion-tcp-store").start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Free the port. (A thread that waits for connections holds it until it is woken.)"""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while True:
                what, *fields = _receive(connection)
                try:
                    _send(connection, *self._answer(what.decode(), fields))
                except ArgumentValueError as error:
                    _send(connection, _WRONG, str(error).encode())

    def _answer(self, what: str, fields: list[bytes]) -> tuple[bytes, bytes]:
        """How it went, and what came of it."""
        table, key = self.table, fields[0].decode() if fields else ""
        if what == "wait":
            seconds, *keys = fields
            return (_DONE if table.wait([each.decode() for each in keys], float(seconds)) else _LATE), b""
        if what == "check":
            return _DONE, b"1" if table.has([each.decode() for each in fields]) else b""
        if what == "list":
            return _DONE, b"\0".join(each.encode() for each in table.values)
        if what == "pop":
            value = table.pop(key)
            return (_NOTHING, b"") if value is None else (_DONE, value)
        found: Any = {
            "set": lambda: table.set(key, fields[1]),
            "get": lambda: table.values[key],
            "add": lambda: table.add(key, int(fields[1])),
            "compare_set": lambda: table.compare_set(key, fields[1], fields[2]),
            "delete": lambda: 1 if table.delete(key) else b"",
            "append": lambda: table.append(key, fields[1]),
            "count": lambda: len(table.values),
            "push": lambda: table.push(key, fields[1]),
            "length": lambda: len(table.queues.get(key, ())),
        }[what]()
        return _DONE, b"" if found is None else found if isinstance(found, bytes) else str(found).encode()


class TCPStore(Store):
    """A store behind a socket. The one that is the master keeps the table; port 0 is one that is free."""

    def __init__(
        self, host_name: str, port: int = 0, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta = DEFAULT, wait_for_workers: bool = True, multi_tenant: bool = False,
        master_listen_fd: int | None = None, use_libuv: bool = True,
    ) -> None:  # fmt: skip
        self.host, self._timeout, self._workers, self.libuvBackend = host_name, timeout, world_size, use_libuv
        self._lock = threading.Lock()
        self._server: _Server | None = None
        if is_master:
            listening = None if master_listen_fd is None else socket.socket(fileno=master_listen_fd)
            try:
                self._server = _Server("", port, listening)
            except OSError as error:
                raise DistNetworkError(
                    f"The server socket has failed to listen on any local network address. port: {port}, {error}"
                ) from None
            port = self._server.port
            weakref.finalize(self, self._server.close)
        self.port = port
        self._connection = self._connect()
        weakref.finalize(self, self._connection.close)
        if world_size is not None and world_size > 0:
            self.add(_WORKERS, 1)
            if is_master and wait_for_workers:
                self._wait_for_workers(world_size)

    def _connect(self) -> socket.socket:
        end = time.monotonic() + self._timeout.total_seconds()
        while True:
            try:
                connection = socket.create_connection(
                    (self.host, self.port), timeout=max(self._timeout.total_seconds(), 0.1)
                )
                connection.settimeout(None)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except OSError:
                if time.monotonic() > end:
                    raise DistNetworkError(
                        f"The client socket has timed out after {self._timeout // timedelta(milliseconds=1)}ms while trying to "
                        f"connect to ({self.host}, {self.port})."
                    ) from None
                time.sleep(0.05)

    def _wait_for_workers(self, count: int) -> None:
        end = time.monotonic() + self._timeout.total_seconds()
        while (here := int(self._ask("get", _WORKERS.encode()))) < count:
            if time.monotonic() > end:
                raise DistStoreError(f"Timed out after {self._timeout.total_seconds():.0f} seconds waiting for clients. {here}/{count} clients joined.")  # fmt: skip
            time.sleep(0.01)

    def _ask(self, what: str, *fields: bytes) -> bytes:
        how, value = self._exchange(what, *fields)
        if how == _WRONG:
            raise ArgumentValueError(value.decode())
        return value

    def _exchange(self, what: str, *fields: bytes) -> tuple[bytes, bytes]:
        try:
            with self._lock:
                _send(self._connection, what.encode(), *fields)
                how, value = _receive(self._connection)
        except OSError as error:
            raise DistNetworkError(f"{error}. Did the remote server shutdown or crash?") from None
        return how, value

    def set(self, key: str, value: Any) -> None:
        """Put a value under a name."""
        self._ask("set", key.encode(), _bytes(value))

    def get(self, key: str) -> bytes:
        """The value under a name; waits for it."""
        self.wait([key])
        return self._ask("get", key.encode())

    def add(self, key: str, amount: int) -> int:
        """Add to a number."""
        if not hasattr(amount, "__index__"):
            raise ArgumentTypeError(f"add(): incompatible function arguments: an int, not {type(amount).__name__}")
        return int(self._ask("add", key.encode(), str(int(amount)).encode()))

    def check(self, keys: list[str]) -> bool:
        """Are all these names there?"""
        return bool(self._ask("check", *[key.encode() for key in keys]))

    def compare_set(self, key: str, expected_value: Any, desired_value: Any) -> bytes:
        """Put a value where the expected one is; what is there now."""
        return self._ask("compare_set", key.encode(), _bytes(expected_value), _bytes(desired_value))

    def delete_key(self, key: str) -> bool:
        """Take a name out; whether it was there."""
        return bool(self._ask("delete", key.encode()))

    def num_keys(self) -> int:
        """How many names there are; the number of workers is one."""
        return int(self._ask("count"))

    def list_keys(self) -> list[str]:
        """The names."""
        names = self._ask("list")
        return [name for name in names.decode().split("\0") if name and name != _WORKERS]

    def append(self, key: str, value: Any) -> None:
        """Put bytes behind those that are there."""
        self._ask("append", key.encode(), _bytes(value, "append"))

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until all these names are there."""
        limit = timeout or self._timeout
        how, _ = self._exchange("wait", str(limit.total_seconds()).encode(), *[key.encode() for key in keys])
        if how == _LATE:
            names = ", ".join(f"/{key}" for key in keys)
            raise DistStoreError(f"wait timeout after {limit // timedelta(milliseconds=1)}ms, keys: {names}")

    def queue_push(self, key: str, value: Any) -> None:
        """Put a value at the end of a queue."""
        self._ask("push", key.encode(), _bytes(value, "queue_push"))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The first value of a queue; waits for one, or refuses."""

        def pop() -> bytes | None:
            how, value = self._exchange("pop", key.encode())
            return None if how == _NOTHING else value

        return popped(pop, block, self._timeout)

    def queue_len(self, key: str) -> int:
        """How many values are in a queue."""
        return int(self._ask("length", key.encode()))

    def has_extended_api(self) -> bool:
        """They are one step each."""
        return True

    def clone(self) -> TCPStore:
        """Another connection to the same table."""
        return TCPStore(self.host, self.port, None, False, self._timeout)

    def __repr__(self) -> str:
        return f"TCPStore({'server and ' if self._server else ''}client at {self.host}:{self.port})"
