"""Where checkpoints are read from and written to."""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

import clarion as torch


def test_paths_and_files(tmp_path: pathlib.Path) -> None:
    x = torch.arange(5)
    for target in (str(tmp_path / "a.pt"), tmp_path / "b.pt", tmp_path / "ünïcode.pt"):
        torch.save(x, target)
        assert torch.load(target).tolist() == x.tolist()
    with open(tmp_path / "c.pt", "wb") as file:
        torch.save(x, file)
    with open(tmp_path / "c.pt", "rb") as file:
        assert torch.load(file).tolist() == x.tolist()
    with gzip.open(tmp_path / "d.pt.gz", "wb") as file:
        torch.save(x, file)
    with gzip.open(tmp_path / "d.pt.gz", "rb") as file:
        assert torch.load(file).tolist() == x.tolist()


def test_archive_is_a_zip_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "my.model.v1.pt"
    torch.save({"a": torch.ones(3), "b": torch.ones(0)}, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {
            "my.model.v1/" + name
            for name in (
                "data.pkl",
                ".format_version",
                ".storage_alignment",
                "byteorder",
                "data/0",
                "data/1",
                "version",
            )
        }
        raw = path.read_bytes()
        for info in archive.infolist():
            head = info.header_offset
            begin = head + 30 + int.from_bytes(raw[head + 26 : head + 28], "little")
            begin += int.from_bytes(raw[head + 28 : head + 30], "little")
            assert begin % 64 == 0


def test_only_write_is_needed() -> None:
    class Sink:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: Any) -> int:
            some = bytes(data[: max(1, len(data) // 2)])  # as an unbuffered file may do
            self.data += some
            return len(some)

    sink = Sink()
    torch.save(torch.arange(100_000), sink)
    assert torch.load(io.BytesIO(sink.data)).sum() == sum(range(100_000))


def test_only_read_and_seek_are_needed() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(3), file)

    class Source:
        def __init__(self) -> None:
            self.read, self.seek, self.tell = file.read, file.seek, file.tell

        def seekable(self) -> bool:
            return True

    file.seek(0)
    assert torch.load(Source()).tolist() == [1, 1, 1]


def test_bad_targets(tmp_path: pathlib.Path) -> None:
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        torch.save(1, 3)
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        torch.save(1, tmp_path / "no" / "a.pt")
    with pytest.raises(IsADirectoryError):
        torch.save(1, tmp_path)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")
    with pytest.raises(AttributeError, match=r"You can only torch.load from a file that is seekable"):
        torch.load(3)
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read, "rb") as pipe, pytest.raises(io.UnsupportedOperation, match="file that is seekable"):
        torch.load(pipe)


def test_unpicklable_values_leave_nothing(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.pt"
    with pytest.raises((pickle.PicklingError, AttributeError)):
        torch.save({"a": torch.ones(3), "f": lambda: None}, path)
    assert os.listdir(tmp_path) == []


def test_mmap(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.pt"
    torch.save({"x": torch.arange(1000.0), "b": torch.tensor([True, False]), "e": torch.ones(0)}, path)
    before = path.read_bytes()
    found = torch.load(path, mmap=True)
    assert found["x"].tolist() == list(range(1000))
    assert found["b"].tolist() == [True, False]
    found["x"] += 1  # a private copy of the page
    assert found["x"][0] == 1
    assert path.read_bytes() == before
    torch.save(found["x"][:2], tmp_path / "b.pt")
    assert os.path.getsize(tmp_path / "b.pt") < 10_000
    os.unlink(path)
    assert found["x"][999] == 1000
    with open(tmp_path / "b.pt", "rb") as file, pytest.raises(ValueError, match="f must be a file path"):
        torch.load(file, mmap=True)
    torch.save(1, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with"):
        torch.load(path, mmap=True)


def test_mapped_file_can_be_replaced(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.pt"
    torch.save(torch.zeros(100_000), path)
    old = torch.load(path, mmap=True)
    torch.save(torch.ones(10), path)
    assert old.sum() == 0


def test_map_location() -> None:
    from .archives import FOUR, archive, storage, tensor, whole

    def file() -> io.BytesIO:
        return archive(whole(tensor(storage(location="cuda:1"))), {"0": FOUR})

    seen = []

    def remember(where: Any, location: str) -> Any:
        seen.append((where.nbytes(), where.device, location))
        return where

    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on (a )?CUDA device"):
        torch.load(file())
    for place in ("cpu", torch.device("cpu"), {"cuda:1": "cpu"}, remember, lambda where, location: where.cpu()):
        assert torch.load(file(), map_location=place).tolist() == [0, 1, 2, 3]
    assert seen == [(16, torch.device("cpu"), "cuda:1")]
    with pytest.raises(RuntimeError, match="CUDA"):
        torch.load(file(), map_location=lambda where, location: None)
    if torch.cuda.is_available():
        assert torch.load(file(), map_location="cuda").is_cuda
    else:
        with pytest.raises(RuntimeError, match="CUDA"):
            torch.load(file(), map_location="cuda")
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        torch.load(file(), map_location={"cuda:1": "moon"})


def test_register_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from clarion.serialization import locations

    monkeypatch.setattr(locations, "_packages", [])
    torch.serialization.register_package(
        5, lambda storage: "moon", lambda storage, place: storage if place == "moon" else None
    )
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    assert torch.load(file).tolist() == [1, 1]
    locations._packages.clear()
    file.seek(0)
    with pytest.raises(RuntimeError, match="tagged with moon"):
        torch.load(file)


def test_old_format(tmp_path: pathlib.Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    value = {"x": x, "row": x[1], "b": torch.ones(2, dtype=torch.bfloat16), "n": [1, None]}
    path = tmp_path / "old.pt"
    torch.save(value, path, _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile(path)
    for weights_only in (True, False):
        found = torch.load(path, weights_only=weights_only)
        assert found["x"].tolist() == x.tolist()
        assert found["n"] == [1, None]
        found["x"][1, 0] = 9
        assert found["row"][0] == 9
    tar = bytearray(1024)
    tar[257:262] = b"ustar"
    with pytest.raises(NotImplementedError, match="tar archive"):
        torch.load(io.BytesIO(bytes(tar)))
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        torch.load(io.BytesIO(pickle.dumps(7, 2)))


def test_other_byte_order() -> None:
    import numpy as np

    from .archives import archive, storage, tensor, whole

    data = np.arange(4, dtype=">f4").tobytes()
    assert torch.load(archive(whole(tensor(storage())), {"0": data}, byteorder=b"big")).tolist() == [0, 1, 2, 3]


def test_modes_of_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    def file() -> io.BytesIO:
        made = io.BytesIO()
        torch.save(Ellipsis, made)
        made.seek(0)
        return made

    with pytest.raises(pickle.UnpicklingError):
        torch.load(file())
    assert torch.load(file(), weights_only=False) is Ellipsis
    assert torch.load(file(), pickle_module=pickle) is Ellipsis
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        torch.load(file(), pickle_module=pickle, weights_only=True)
    with pytest.warns(UserWarning, match="pickle_load_args"), pytest.raises(pickle.UnpicklingError):
        torch.load(file(), encoding="latin1")
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file(), weights_only=False)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both were set"):
        torch.load(file())
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert torch.load(file()) is Ellipsis
    assert torch.load(file(), weights_only=False) is Ellipsis


def test_names_of_torch_that_clarion_lacks() -> None:
    from .archives import archive, name, whole

    with pytest.raises(NotImplementedError, match=r"torch.nn.modules.unheard.Of"):
        torch.load(archive(whole(name("torch.nn.modules.unheard", "Of"))), weights_only=False)


@pytest.mark.parametrize("what", ["q", "nested"])
def test_kinds_of_tensors_that_clarion_lacks(what: str) -> None:
    from .archives import archive, name, whole

    function = {"q": "_rebuild_qtensor", "nested": "_rebuild_nested_tensor"}[what]
    with pytest.raises(NotImplementedError, match="which clarion does not have"):
        torch.load(archive(whole(name("torch._utils", function) + b")R")))


@pytest.mark.parametrize("kind", ["path", "file", "buffer"])
def test_single_records_of_an_archive(tmp_path: pathlib.Path, kind: str) -> None:
    records = {"a": b"12039810948234589", "c/d": b"94589480984058"}
    makers = {"path": str, "file": lambda path: open(path, "w+b"), "buffer": lambda path: io.BytesIO()}
    target = makers[kind](tmp_path / "records.pt")
    with torch.serialization._open_zipfile_writer(target) as archive:
        for name, data in records.items():
            archive.write_record(name, data, len(data))
        archive.write_record_metadata("later", 5)
        assert archive.get_all_written_records() == ["a", "c/d", "later"]
    if kind != "path":
        target.seek(0)
    with torch.serialization._open_zipfile_reader(target) as archive:
        assert {name: archive.get_record(name) for name in records} == records
        assert archive.has_record("version")
        assert not archive.has_record("b")
        begin = archive.get_record_offset("later")
        with pytest.raises(RuntimeError, match="file not found"):
            archive.get_record("b")
    if kind != "path":
        target.seek(begin)
        assert target.read(5) == bytes(5)
        target.close()


def test_where_the_storages_of_a_file_lie(tmp_path: pathlib.Path) -> None:
    torch.save({"w": torch.arange(4.0)}, tmp_path / "w.pt")
    with torch.serialization._open_file_like(tmp_path / "w.pt", "rb") as file:
        assert torch.serialization._is_zipfile(file)
        reader = torch._C.PyTorchFileReader(file)
        file.seek(reader.get_record_offset("data/0"))
        assert np.frombuffer(file.read(16), np.float32).tolist() == [0, 1, 2, 3]
