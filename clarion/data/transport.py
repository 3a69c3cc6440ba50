"""Batches from a worker to the main process.

NOTE [Transport]: a message is pickled; the memory of large arrays stays out of the pickle and is written to
a memory file without a name (`memfd`), whose descriptor follows the pickle through the socket. The receiver
reads the file into ordinary memory and closes it. So nothing has to be cleaned up: whoever dies, and however,
the system takes the memory back with the last descriptor; and a batch that is kept occupies no descriptor.
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

from ..core.tensor import Tensor
from ..errors import EngineError

MIN_SHARED = 1 << 15  # smaller arrays are cheaper inside the pickle
_WORD = 8


class _Pickler(reduction.ForkingPickler):
    """Keeps types that NumPy cannot share apart as plain integers, and refuses parts of a graph."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is np.ndarray:
            if value.dtype.isbuiltin == 2:  # bfloat16: for pickle, memory of unknown kind
                return np.ndarray.view, (value.view(f"u{value.dtype.itemsize}"), value.dtype)
        elif isinstance(value, Tensor) and value.requires_grad and not value.is_leaf:
            raise EngineError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            )
        return NotImplemented


def pack(message: Any, shared: bool = True) -> tuple[io.BytesIO, list[memoryview]]:
    """A pickle, followed by the sizes of the pieces of memory that are left out of it and how many there are."""
    pieces: list[memoryview] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < MIN_SHARED:
            return True
        pieces.append(raw)
        return False

    file = io.BytesIO()
    _Pickler(file, 5, True, keep_inside if shared else None).dump(message)
    for number in (*[piece.nbytes for piece in pieces], len(pieces)):
        file.write(number.to_bytes(_WORD, "little"))
    return file, pieces


def send(connection: Connection, message: Any) -> None:
    """Send a message; raises what pickling it raises before anything is sent."""
    file, pieces = pack(message, hasattr(os, "memfd_create"))
    if not pieces:
        connection.send_bytes(file.getbuffer())
        return
    try:
        memory = _fill(pieces)
    except OSError:  # no descriptors left, or not allowed here
        connection.send_bytes(pack(message, False)[0].getbuffer())
        return
    try:
        connection.send_bytes(file.getbuffer())
        reduction.send_handle(connection, memory, None)
    finally:
        os.close(memory)


def _fill(pieces: list[memoryview]) -> int:
    memory = os.memfd_create("clarion batch", os.MFD_CLOEXEC)
    try:
        for piece in pieces:
            while piece.nbytes:  # one call writes at most 2 GiB
                piece = piece[os.write(memory, piece) :]
    except BaseException:
        os.close(memory)
        raise
    return memory


def receive(connection: Connection) -> Any:
    """The next message. EOFError or OSError if the sender is gone."""
    data = memoryview(connection.recv_bytes())
    count = int.from_bytes(data[-_WORD:], "little")
    if not count:
        return pickle.loads(data)
    sizes = data[-_WORD * (count + 1) : -_WORD]
    pieces = [np.empty(int.from_bytes(sizes[i : i + _WORD], "little"), np.uint8) for i in range(0, len(sizes), _WORD)]
    try:
        memory = reduction.recv_handle(connection)
    except RuntimeError as error:  # how it reports an end in the middle
        raise EOFError from error
    try:
        at = 0
        for piece in pieces:
            rest = memoryview(piece)  # type: ignore[arg-type]
            while rest.nbytes:
                n = os.preadv(memory, [rest], at)
                rest, at = rest[n:], at + n
    finally:
        os.close(memory)
    return pickle.loads(data, buffers=pieces)
