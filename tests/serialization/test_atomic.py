"""A save that does not come to its end leaves the old file as it was."""

from __future__ import annotations

import os
import pathlib
import signal
import stat
import subprocess
import sys
import time
from typing import Any

import pytest

import clarion as torch


def leftovers(folder: pathlib.Path) -> list[str]:
    return [name for name in os.listdir(folder) if "clarion-tmp" in name]


class Fails:
    """An object whose pickling does something else."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __reduce__(self) -> Any:
        raise self.error("now")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_errors_keep_the_old_file(tmp_path: pathlib.Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.pt"
    torch.save(torch.ones(3), path)
    with pytest.raises(error):
        torch.save([torch.zeros(3), Fails(error)], path)
    assert torch.load(path).tolist() == [1, 1, 1]
    assert os.listdir(tmp_path) == ["a.pt"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_errors_while_writing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    from clarion.serialization.zipwriter import ZipWriter

    path = tmp_path / "a.pt"
    torch.save(torch.ones(3), path)

    def close(self: ZipWriter) -> None:
        raise error("disk full")

    monkeypatch.setattr(ZipWriter, "close", close)
    with pytest.raises(error):
        torch.save(torch.zeros(3), path)
    assert torch.load(path).tolist() == [1, 1, 1]
    assert leftovers(tmp_path) == []


def test_permissions_and_links_are_kept(tmp_path: pathlib.Path) -> None:
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    old = os.umask(0o027)
    try:
        torch.save(1, path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    torch.save(2, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    link.symlink_to(path)
    torch.save(3, link)
    assert link.is_symlink()
    assert torch.load(path) == 3


def test_devices_are_written_directly() -> None:
    torch.save(torch.ones(3), os.devnull)
    assert not os.path.isfile(os.devnull)


def test_synced_before_it_is_renamed(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), fsync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (steps.append("rename"), replace(a, b))[1])
    torch.save(1, tmp_path / "a.pt")
    assert steps[:2] == ["sync", "rename"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.pt"
    torch.save(1, path)
    tmp_path.chmod(0o555)
    try:
        with pytest.warns(UserWarning, match="written in place"):
            torch.save(2, path)
        with pytest.raises(PermissionError):
            torch.save(2, tmp_path / "b.pt")
    finally:
        tmp_path.chmod(0o755)
    assert torch.load(path) == 2


SAVER = """
import sys, time
import clarion as torch
from clarion.serialization import zipwriter

class Slow(zipwriter.ZipWriter):
    def record(self, name, data):
        super().record(name, data)
        self._push(self._waiting)
        self._waiting = bytearray()
        if name == "data/0":
            print("half", flush=True)
            time.sleep(60)

import clarion.serialization.api as api
api.ZipWriter = Slow
torch.save([torch.zeros(500_000), torch.zeros(500_000)], sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killed_in_the_middle(tmp_path: pathlib.Path, how: signal.Signals) -> None:
    path = tmp_path / "a.pt"
    torch.save(torch.ones(3), path)
    process = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        assert leftovers(tmp_path)
        process.send_signal(how)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert torch.load(path).tolist() == [1, 1, 1]
    if how == signal.SIGINT:  # Python cleans up after Ctrl-C; nothing can after the other two
        assert leftovers(tmp_path) == []
    torch.save(torch.zeros(2), path)
    assert torch.load(path).tolist() == [0, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_killed_at_any_time(tmp_path: pathlib.Path) -> None:
    """Save after save, killed somewhere: the file is always one of those that were saved."""
    path = tmp_path / "a.pt"
    torch.save(torch.full((200_000,), 0.0), path)
    program = (
        "import sys, clarion as torch\n"
        "for i in range(10_000):\n"
        "    torch.save(torch.full((200_000,), float(i)), sys.argv[1])\n"
        "    if i == 0: print('go', flush=True)\n"
    )
    for wait in (0.0, 0.003, 0.011):
        process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.kill()
        process.wait()
        process.stdout.close()
        found = torch.load(path)
        assert found.shape == (200_000,)
        assert bool((found == found[0]).all())


def test_interrupted_right_after_the_file_was_made(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clarion.serialization import atomic

    made = atomic._made

    def interrupted(*args: Any) -> Any:
        file = made(*args)
        assert file is not None
        file.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "_made", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.save({"a": torch.ones(2)}, tmp_path / "model.pt")
    assert leftovers(tmp_path) == []


def test_saved_tensors_are_not_held(tmp_path: pathlib.Path) -> None:
    import gc
    import weakref

    tensor = torch.ones(3)
    gone = weakref.ref(tensor)
    gc.collect()
    gc.disable()
    try:
        torch.save({"a": tensor}, tmp_path / "model.pt")
        del tensor
        assert gone() is None
    finally:
        gc.enable()
