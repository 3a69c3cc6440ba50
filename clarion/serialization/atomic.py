"""Writing a file so that its name always stands for a complete one: the old, or the new."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import warnings
from collections.abc import Iterator
from typing import IO

from ..errors import EngineError


@contextlib.contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` when the block ends well, and vanishes when it does not.

    The bytes are on the disk before the name changes hands (fsync, then rename), so that neither an exception,
    Ctrl-C, a killed process nor a power cut leaves half a file where a whole one was. A symbolic link is followed;
    the permissions (and, where allowed, the owner) of an existing file are kept. Pipes and devices are written
    directly.
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise EngineError(f"Parent directory {folder} does not exist.\n{path} was not written.")
    try:
        before = os.stat(path)
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(path, "wb", buffering=0) as file:  # a directory is refused here, by the system
            yield file
        return
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.clarion-tmp")
    try:  # from before there is a file: Ctrl-C right after that must not leave it
        file = _made(temporary, before is not None)
        if file is not None:
            with file:
                yield file
                if before is not None:
                    _keep_permissions(temporary, before)
                os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException:  # KeyboardInterrupt too
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if file is None:
        warnings.warn(
            f"No file can be made in {folder}, so {path} is written in place: if the program is interrupted now, neither "
            "the old nor the new checkpoint will be whole.",
            UserWarning,
            stacklevel=5,
        )
        with open(path, "wb", buffering=0) as file:
            yield file
        return
    _sync_folder(folder)


def _made(path: str, may_fail: bool) -> IO[bytes] | None:
    """A new file, whose mode follows the umask; None where none may be made."""
    try:
        return open(path, "xb", buffering=0)
    except PermissionError:
        if not may_fail:
            raise
        return None


def _keep_permissions(path: str, before: os.stat_result) -> None:
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.chown(path, before.st_uid, before.st_gid)
    os.chmod(path, stat.S_IMODE(before.st_mode))


def _sync_folder(folder: str) -> None:
    """The new name too must be on the disk. Not every system lets a folder be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
