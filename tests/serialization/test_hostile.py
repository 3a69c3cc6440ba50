"""Files that want to run code, exhaust memory, or are simply broken: a clear error, and nothing else."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import sys
import time
import warnings
import zipfile
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.serialization.failures import FileDamagedError

from ..without_gpu import there
from .archives import FOUR, PROTO, archive, name, plain, storage, tensor, text, whole

RAN: list[Any] = []


def ran(*args: Any) -> None:
    """What a malicious file would call."""
    RAN.append(args)


class Evil:
    def __reduce__(self) -> Any:
        return ran, (1,)


class EvilState:
    def __setstate__(self, state: Any) -> None:
        ran(state)


class EvilSlots(dict):
    pass


HERE = __name__

GLOBALS = {
    "reduce": (name("os", "system") + text("true") + b"\x85R", "os.system"),
    "posix": (name("posix", "system") + text("true") + b"\x85R", "posix.system"),
    "eval": (name("builtins", "eval") + text("1") + b"\x85R", "eval"),
    "python 2 builtins": (name("__builtin__", "eval") + text("1") + b"\x85R", "eval"),
    "python 2 modules": (name("commands", "getoutput") + text("true") + b"\x85R", "subprocess.getoutput"),
    "getattr": (name("builtins", "getattr"), "getattr"),
    "import": (name("builtins", "__import__"), "__import__"),
    "never called": (name("subprocess", "Popen"), "subprocess.Popen"),
    "inside torch": (name("torch.hub", "load"), "torch.hub.load"),
    "of clarion": (name("clarion.serialization.api", "save"), "clarion.serialization.api.save"),
    "dotted": (name("collections", "OrderedDict.fromkeys"), "collections.OrderedDict.fromkeys"),
    "numpy": (name("numpy.core.multiarray", "_reconstruct"), "numpy.core.multiarray._reconstruct"),
    "user class": (name(HERE, "Evil") + b")\x81", f"{HERE}.Evil"),
    "stack global": (text("os") + text("system") + b"\x93" + text("true") + b"\x85R", "os.system"),
    "stack global dotted": (text(HERE) + text("Evil.__reduce__") + b"\x93", f"{HERE}.Evil.__reduce__"),
    "inst": (b"(" + text("true") + b"ios\nsystem\n", "os.system"),
    "inst user": (b"(i" + f"{HERE}\nran\n".encode(), f"{HERE}.ran"),
    "obj": (b"(" + name(HERE, "Evil") + b"o", f"{HERE}.Evil"),
    "setstate": (name(HERE, "EvilState") + b")\x81" + plain({"a": 1}) + b"b", f"{HERE}.EvilState"),
    "functools": (name("functools", "partial"), "functools.partial"),
    "codecs": (name("_codecs", "decode"), "_codecs.decode"),
}


@pytest.mark.parametrize("case", GLOBALS)
def test_names_are_refused(case: str) -> None:
    body, named = GLOBALS[case]
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(archive(whole(body)))
    message = str(caught.value)
    assert message.startswith("Weights only load failed")
    assert f"GLOBAL {named} was not an allowed global by default" in message
    assert not RAN


@pytest.mark.parametrize("case", GLOBALS)
def test_names_are_refused_in_the_old_format(case: str) -> None:
    head = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global"):
        torch.load(io.BytesIO(head + whole(GLOBALS[case][0])))
    assert not RAN


ORDERED = name("collections", "OrderedDict")
REFUSED = {
    "instance called": (plain([1, 2]) + b")R", "unrecognized function"),
    "dtype called": (name("torch", "float32") + b")R", "unrecognized function"),
    "tensor class called": (name("torch", "Tensor") + plain((10**12,)) + b"R", "unrecognized function"),
    "storage called": (name("torch", "FloatStorage") + plain((10**12,)) + b"R", "unrecognized function"),
    "rebuild of any function": (
        name("torch._tensor", "_rebuild_from_type_v2") + b"(" + ORDERED + name("torch", "Tensor") + b")" + b"}tR",
        "unrecognized function",
    ),
    "rebuild into any class": (
        name("torch._tensor", "_rebuild_from_type_v2")
        + b"(" + name("torch._utils", "_rebuild_tensor_v2") + ORDERED + b")}tR",
        "unrecognized function",
    ),
    "new object of a function": (name("torch._utils", "_rebuild_tensor_v2") + b")\x81", "Can only create new object"),
    "new dtype": (name("torch", "float32") + b")\x81", "Can only create new object"),
    "build of a list": (b"]" + plain({"a": 1}) + b"b", "Can only build"),
    "build of a tensor": (tensor(storage()) + plain({"_array": 1}) + b"b", "Can only build"),
    "build of a class": (ORDERED + plain({"fromkeys": 1}) + b"b", "Can only build"),
    "attributes without names": (ORDERED + b")R" + plain({1: 1}) + b"b", "not stored by name"),
    "append to a dict": (b"}" + plain(1) + b"a", "Can only append"),
    "setitem of a list": (b"]" + plain(0) + plain(1) + b"s", "Can only SETITEM"),
    "setitem of a class": (ORDERED + plain(0) + plain(1) + b"s", "Can only SETITEM"),
    "persistent id": (text("storage") + b"Q", "Only persistent_load of storage"),
    "persistent tuple": (plain(("module", 1)) + b"Q", "Only persistent_load of storage"),
    "persistent id as text": (b"Pabc\n", "Unsupported operand"),
    "extension registry": (b"\x82\x01", "Unsupported operand"),
    "newobj_ex": (ORDERED + b")}\x92", "Unsupported operand"),
    "no instruction": (b"\xff", "Unsupported operand 255"),
    "huge bytearray": (name("builtins", "bytearray") + plain((10**15,)) + b"R", "not made from bytes"),
    "codec": (name("_codecs", "encode") + plain(("x", "zlib_codec")) + b"R", "may only turn"),
    "complex of text": (name("builtins", "complex") + plain(("1" * 100,)) + b"R", "complex number"),
    "size of text": (name("torch", "Size") + plain((["a"],)) + b"R", "not made from whole numbers"),
    "empty stack": (b"t", "damaged"),
    "nothing": (b"", "damaged"),
    "unknown memo": (b"h\x07", "damaged"),
    "unhashable key": (b"}" + b"]" + plain(1) + b"s", "damaged"),
    "odd items": (b"}(" + plain(1) + b"u", "damaged|Unsupported"),
    "bad text": (b"X\x02\x00\x00\x00\xff\xfe", "damaged"),
    "newer protocol": (b"\x80\x63", "newer protocol"),
    "huge text": (b"X\xff\xff\xff\xff", "truncated"),
    "huge bytes": (b"\x8e" + struct.pack("<Q", 2**62), "truncated"),
    "huge number": (b"\x8b\xff\xff\xff\x7f", "truncated"),
    "endless name": (b"c" + b"a" * 10_000, "does not end"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_instructions_are_refused(case: str) -> None:
    body, phrase = REFUSED[case]
    with pytest.raises(pickle.UnpicklingError, match=phrase):
        torch.load(archive(whole(body), {"0": FOUR}))


def test_truncated_pickles() -> None:
    good = whole(tensor(storage()))
    for length in range(len(good)):
        with pytest.raises((pickle.UnpicklingError, FileDamagedError)):
            torch.load(archive(good[:length], {"0": FOUR}))


TENSORS: dict[str, tuple[bytes, str]] = {
    "too long": (tensor(storage(), size=(5,)), "out of bounds"),
    "offset": (tensor(storage(), offset=1), "out of bounds"),
    "stride": (tensor(storage(), size=(2, 2), stride=(3, 1)), "out of bounds"),
    "huge": (tensor(storage(), size=(2**62,)), "out of bounds"),
    "overflow": (tensor(storage(), size=(2**40, 2**40), stride=(2**40, 1)), "out of bounds"),
    "huge expanded": (tensor(storage(), size=(2**62, 4), stride=(0, 1)), "cannot have the shape"),
    "huge empty": (tensor(storage(), size=(0, 2**70), stride=(1, 1)), "cannot have the shape"),
    "many dimensions": (tensor(storage(), size=(1,) * 100, stride=(1,) * 100), "cannot have the shape"),
    "negative stride": (tensor(storage(), offset=3, stride=(-1,)), "negative"),
    "negative offset": (tensor(storage(), offset=-1), "negative"),
    "negative size": (tensor(storage(), size=(-4,)), "negative"),
    "no numbers": (tensor(storage(), size=(1.5,)), "no whole number"),
    "text": (tensor(storage(), size="abcd"), "do not fit"),
    "lengths": (tensor(storage(), size=(2, 2)), "do not fit"),
    "no storage": (tensor(plain([1, 2])), "no storage"),
    "count": (tensor(storage(count=5)), "has 16 bytes"),
    "type": (tensor(storage("DoubleStorage")), "has 16 bytes"),
    "negative count": (tensor(storage(count=-4)), "no number of elements"),
    "huge count": (tensor(storage(count=2**60)), "has 16 bytes"),
    "no record": (tensor(storage(key="1")), "file not found"),
    "traversal": (tensor(storage(key="../../../etc/passwd")), "file not found"),
    "the pickle as a storage": (tensor(storage(key="../data.pkl")), "file not found"),
    "unknown place": (tensor(storage(location="toaster:0")), "don't know how to restore"),
    "cuda": (tensor(storage(location="cuda:0")), "map_location"),
    "integers with grad": (
        tensor(storage("IntStorage"), requires_grad=True),
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("case", TENSORS)
def test_tensors_that_lie(case: str, weights_only: bool) -> None:
    if case == "cuda" and there:
        pytest.skip("this machine has a GPU: such a tensor is read")
    body, phrase = TENSORS[case]
    with pytest.raises(RuntimeError, match=phrase):
        torch.load(archive(whole(body), {"0": FOUR}), weights_only=weights_only)


def test_internals_cannot_be_set() -> None:
    arguments = storage() + plain(0) + plain((4,)) + plain((1,)) + plain(False) + b"N"
    for attribute in ("_array", "_grad", "data", "backward", "__class__", "_accumulator"):
        body = (
            name("torch._tensor", "_rebuild_from_type_v2") + b"(" + name("torch._utils", "_rebuild_tensor_v2")
            + name("torch", "Tensor") + b"(" + arguments + b"t" + plain({attribute: 1}) + b"tR"
        )  # fmt: skip
        with pytest.raises(FileDamagedError, match="no attribute of the user's"):
            torch.load(archive(whole(body), {"0": FOUR}))


def test_truth_values_are_zero_or_one() -> None:
    found = torch.load(archive(whole(tensor(storage("BoolStorage"))), {"0": b"\x00\x01\x02\xff"}))
    assert found._array.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_keys_that_take_forever_to_hash() -> None:
    body = plain((1, 1)) + b"q\x00"
    for _ in range(60):
        body += b"h\x00h\x00\x86q\x00"
    for use in (body + b"}h\x00Ns", body + name("builtins", "set") + b"]h\x00a\x85R"):
        begun = time.monotonic()
        with pytest.raises(pickle.UnpicklingError, match="parts"):
            torch.load(archive(whole(use)))
        assert time.monotonic() - begun < 5


def test_deep_nesting_is_no_recursion() -> None:
    found = torch.load(archive(whole(b"]" * 50_000 + b"a" * 49_999)))
    assert type(found) is list


# Archives ------------------------------------------------------------------------------------------


def saved() -> bytes:
    file = io.BytesIO()
    torch.save({"a": torch.arange(100.0), "b": torch.ones(3, dtype=torch.bfloat16)}, file)
    return file.getvalue()


def test_truncated_archives() -> None:
    good = saved()
    for length in [*range(64), *range(64, len(good), 7), len(good) - 1]:
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
            torch.load(io.BytesIO(good[:length]))


def test_damaged_archives() -> None:
    """Any byte may be wrong: there is an error or a warning, or the same values (not every byte of a zip file matters)."""
    good, rng = saved(), np.random.default_rng(0)
    expected = torch.load(io.BytesIO(good))
    for position in range(0, len(good), 3):
        bad = bytearray(good)
        bad[position] ^= int(rng.integers(1, 256))
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = torch.load(io.BytesIO(bytes(bad)))
        except (RuntimeError, pickle.UnpicklingError, EOFError):
            continue
        if any("checksum" in str(each.message) for each in told):
            continue
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[k], expected[k]) for k in found), position


def test_garbage() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 3, 100, 5000):
        for head in (b"", PROTO, b"PK\3\4"):
            with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
                torch.load(io.BytesIO(head + rng.bytes(size)))
    with pytest.raises(EOFError, match="Ran out of input"):
        torch.load(io.BytesIO(b""))


def test_compressed_records_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("archive/data.pkl", whole(tensor(storage(count=25_000_000))))
        made.writestr("archive/data/0", bytes(100_000_000))
    assert len(file.getvalue()) < 200_000
    file.seek(0)
    with pytest.raises(NotImplementedError, match="compressed"):
        torch.load(file)


def test_overlapping_records_are_refused() -> None:
    """Many entries of the directory that are the same bytes: a small file that would fill the memory."""
    data = bytes(1_000_000)
    good = archive(whole(b"]"), {"0": data}).getvalue()
    with zipfile.ZipFile(io.BytesIO(good)) as made:
        infos = made.infolist()
        begin = made.start_dir
    entry = infos[-1]
    central = b""
    for copy in range(1000):
        entry_name = f"archive/data/{copy}".encode()
        central += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 0, 0, 0x21, entry.CRC, 1_000_000, 1_000_000,
            len(entry_name), 0, 0, 0, 0, 0, entry.header_offset,
        ) + entry_name  # fmt: skip
    tail = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1000, 1000, len(central), begin, 0)
    with pytest.raises(FileDamagedError, match="more bytes than the file has"):
        torch.load(io.BytesIO(good[:begin] + central + tail))


def test_other_archives() -> None:
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as made:
        made.writestr("readme.txt", "hello")
    empty.seek(0)
    with pytest.raises(FileDamagedError, match="PytorchStreamReader failed"):
        torch.load(empty)
    with pytest.raises(FileDamagedError, match=r"locating file data.pkl"):
        no_pickle = io.BytesIO()
        with zipfile.ZipFile(no_pickle, "w") as made:
            made.writestr("archive/version", "3")
        no_pickle.seek(0)
        torch.load(no_pickle)
    with pytest.raises(FileDamagedError, match="endianness"):
        torch.load(archive(whole(b"]"), byteorder=b"middle"))
    script = archive(whole(b"]"), **{"constants.pkl": b""})
    with pytest.raises(RuntimeError, match="TorchScript"):
        torch.load(script)
    with pytest.warns(UserWarning, match="Duplicate"), pytest.raises(FileDamagedError, match="same name"):
        torch.load(archive(whole(b"]"), version=b"4"))


def test_another_checksum_is_told_and_the_bytes_are_taken(tmp_path) -> None:
    """As in PyTorch, which does not look: a tool that edits a checkpoint need not know of checksums."""
    path = tmp_path / "x.pt"
    torch.save({"a": torch.arange(4.0)}, path)
    content = bytearray(path.read_bytes())
    content[content.find(struct.pack("<4f", 0, 1, 2, 3)) + 7] = 0x40  # 1.0 → 4.0
    path.write_bytes(content)
    for given in (path, io.BytesIO(content)):
        with pytest.warns(UserWarning, match="data/0 of the checkpoint does not have the checksum") as told:
            assert torch.load(given)["a"].tolist() == [0, 4, 2, 3]
        assert told[0].filename == __file__


def test_old_format_does_not_allocate_what_is_not_there() -> None:
    head = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    where = b"(" + text("storage") + name("torch", "FloatStorage") + text("0") + text("cpu") + plain(2**50) + b"NtQ"
    with pytest.raises(FileDamagedError, match="more bytes than the file has"):
        torch.load(io.BytesIO(head + whole(tensor(where))))
    small = where.replace(plain(2**50), plain(4))
    keys = pickle.dumps(["0"], 2)
    for tail in (b"", struct.pack("<q", 5) + FOUR, struct.pack("<q", 4) + FOUR[:8], struct.pack("<q", -1) + FOUR):
        with pytest.raises(FileDamagedError):
            torch.load(io.BytesIO(head + whole(tensor(small)) + keys + tail))
    fine = torch.load(io.BytesIO(head + whole(tensor(small)) + keys + struct.pack("<q", 4) + FOUR))
    assert fine.tolist() == [0, 1, 2, 3]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits of Linux")
def test_hostile_files_stay_within_little_memory(tmp_path: Any) -> None:
    """All tensors that lie, loaded by a process that may not have 1.5 GB."""
    program = (
        "import resource, clarion, sys\n"
        "from tests.serialization import test_hostile as t\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))\n"
        "for body, _ in [*t.TENSORS.values(), *t.REFUSED.values()]:\n"
        "    try: clarion.load(t.archive(t.whole(body), {'0': t.FOUR}))\n"
        "    except MemoryError: raise SystemExit('memory')\n"
        "    except Exception: pass\n"
    )
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env=env)


def test_sparse_tensors_that_do_not_hold_together() -> None:
    from clarion.serialization.rebuild import rebuild_sparse_tensor

    places, values = torch.tensor([[0, 5]]), torch.ones(2)
    begins, columns = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
    for layout, parts in (
        ("strided", (places, values, (6,), True)),
        ("sparse_coo", (places, values, (3,), True)),  # reaches outside
        ("sparse_coo", (places, torch.ones(3), (6,), True)),
        ("sparse_coo", (places, [1, 2], (6,), True)),
        ("sparse_coo", (places, values, (-6,), True)),
        ("sparse_coo", (places, values)),
        ("sparse_csr", (torch.tensor([0, 9, 2]), columns, values, (2, 2))),  # rows that begin nowhere
        ("sparse_csr", (begins, columns, values, (5, 2))),
        ("sparse_csr", (begins, torch.tensor([0, 7]), values, (2, 2))),
        ("sparse_csc", (begins, columns, torch.ones(9), (2, 2))),
    ):
        with pytest.raises(FileDamagedError, match="sparse tensor"):
            rebuild_sparse_tensor(getattr(torch, layout), parts)
