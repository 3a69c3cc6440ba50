"""Archives made by hand, for files that no honest program writes."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from typing import Any

import numpy as np

PROTO = b"\x80\x02"


def archive(pickled: bytes, storages: dict[str, bytes] | None = None, **records: bytes) -> io.BytesIO:
    """A checkpoint with this pickle and these storages."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", pickled)
        made.writestr("archive/version", b"3\n")
        for name, data in records.items():
            made.writestr(f"archive/{name}", data)
        for key, data in (storages or {}).items():
            made.writestr(f"archive/data/{key}", data)
    file.seek(0)
    return file


def name(module: str, attribute: str) -> bytes:
    """The instruction that names a class or function."""
    return b"c" + f"{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def plain(value: Any) -> bytes:
    """The instructions that build plain data."""
    return pickle.dumps(value, 2)[2:-1]


def storage(kind: str = "FloatStorage", key: str = "0", location: str = "cpu", count: Any = 4) -> bytes:
    """The instructions that refer to a storage."""
    module = "torch.storage" if kind == "UntypedStorage" else "torch"
    return b"(" + text("storage") + name(module, kind) + text(key) + text(location) + plain(count) + b"tQ"


def tensor(where: bytes, offset: Any = 0, size: Any = (4,), stride: Any = (1,), requires_grad: Any = False) -> bytes:
    """The instructions that build a tensor."""
    rest = plain(offset) + plain(size) + plain(stride) + plain(requires_grad)
    return (
        name("torch._utils", "_rebuild_tensor_v2")
        + b"("
        + where
        + rest
        + name("collections", "OrderedDict")
        + b")R"
        + b"tR"
    )


def whole(body: bytes) -> bytes:
    """A complete pickle."""
    return PROTO + body + b"."


FOUR = np.arange(4, dtype=np.float32).tobytes()
