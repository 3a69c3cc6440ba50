"""Batches from a worker to the main process.

NOTE [Transport]: a message is pickled; the memory of large arrays stays out of the pickle and is written to
a memory file without a name (`memfd`), whose descriptor follows the pickle through the socket. The receiver
copies it into ordinary memory, and says with its next request that the file may be written again: both sides
keep the descriptor, for fresh memory costs more than the copy. So nothing has to be cleaned up: whoever dies,
and however, the system takes the memory back with the last descriptor; and batches that are kept hold none.
Where there are no such files (other systems than Linux, or none left), everything goes through the socket.
"""

from __future__ import annotations

import io
import os
import pickle
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ....core.tensor import Tensor
from ....errors import EngineError

MIN_SHARED = 1 << 15  # smaller arrays are cheaper inside the pickle
_WORD = 8


class _Pickler(reduction.ForkingPickler):
    """Keeps types that NumPy cannot share apart as plain integers, and refuses parts of a graph."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is np.ndarray:
            if value.dtype.isbuiltin == 2:  # bfloat16: for pickle, memory of unknown kind
                return np.ndarray.view, (value.view(f"u{value.dtype.itemsize}"), value.dtype)
        elif isinstance(value, Tensor):
            if not value.requires_grad or value.is_leaf:
                return value.__reduce_ex__(5)  # never as a descriptor, whatever `torch.multiprocessing` has registered
            raise EngineError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            )
        return NotImplemented


def pack(message: Any, shared: bool) -> tuple[io.BytesIO, list[memoryview]]:
    """A pickle, and the pieces of memory that are left out of it."""
    pieces: list[memoryview] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < MIN_SHARED:
            return True
        pieces.append(raw)
        return False

    file = io.BytesIO()
    _Pickler(file, 5, True, keep_inside if shared else None).dump(message)
    return file, pieces


class Sender:
    """The worker's side of a connection.

    A message is a pickle and the trailer [size of each piece of memory, number of the memory file, how many
    pieces], in words; the descriptor of the file follows if the receiver has not seen it yet.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._files: list[int] = []
        self._free: list[int] = []  # numbers of files that may be written

    def release(self, numbers: list[int]) -> None:
        """The receiver has read these files."""
        self._free += numbers

    def send(self, message: Any) -> None:
        """Send a message; raises what pickling it raises before anything is sent."""
        file, pieces = pack(message, hasattr(os, "memfd_create"))
        known = len(self._files)
        number = 0
        if pieces:
            try:
                number = self._write(pieces)
            except OSError:  # no descriptors or memory left, or not allowed here
                file, pieces = pack(message, False)
        for word in (*[piece.nbytes for piece in pieces], number, len(pieces)):
            file.write(word.to_bytes(_WORD, "little"))
        self._connection.send_bytes(file.getbuffer())
        if pieces and number >= known:
            reduction.send_handle(self._connection, self._files[number], None)

    def _write(self, pieces: list[memoryview]) -> int:
        """Write to a free file, or to a new one; its number."""
        fresh = not self._free
        memory = os.memfd_create("clarion batch", os.MFD_CLOEXEC) if fresh else self._files[self._free[-1]]
        try:
            at = 0
            for piece in pieces:
                while piece.nbytes:  # one call writes at most 2 GiB
                    n = os.pwrite(memory, piece, at)
                    piece, at = piece[n:], at + n
        except BaseException:
            if fresh:
                os.close(memory)
            raise
        if not fresh:
            return self._free.pop()
        self._files.append(memory)
        return len(self._files) - 1


class Receiver:
    """The main process's side of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._files: dict[int, int] = {}
        self._read: list[int] = []  # files that were read since `take_read`

    def take_read(self) -> list[int]:
        """What to tell the sender's `release`."""
        read, self._read = self._read, []
        return read

    def receive(self) -> Any:
        """The next message. EOFError or OSError if the sender is gone."""
        data = memoryview(self._connection.recv_bytes())
        count = int.from_bytes(data[-_WORD:], "little")
        if not count:
            return pickle.loads(data)
        trailer = data[-_WORD * (count + 2) : -_WORD]
        *sizes, number = [int.from_bytes(trailer[i : i + _WORD], "little") for i in range(0, len(trailer), _WORD)]
        if number not in self._files:
            try:
                self._files[number] = reduction.recv_handle(self._connection)
            except RuntimeError as error:  # how it reports an end in the middle
                raise EOFError from error
            os.set_inheritable(self._files[number], False)
        memory, at = self._files[number], 0
        pieces = [np.empty(size, np.uint8) for size in sizes]
        for piece in pieces:
            rest = memoryview(piece)  # type: ignore[arg-type]
            while rest.nbytes:
                n = os.preadv(memory, [rest], at)
                rest, at = rest[n:], at + n
        self._read.append(number)
        return pickle.loads(data, buffers=pieces)

    def close(self) -> None:
        """Give the memory back."""
        while self._files:
            os.close(self._files.popitem()[1])
