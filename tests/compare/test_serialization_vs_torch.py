"""Checkpoints go from PyTorch to clarion and back: what either writes, the other reads."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import subprocess
import sys
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
PAIRS = {"from torch": (torch, clarion), "from clarion": (clarion, torch), "clarion alone": (clarion, clarion)}
both = pytest.mark.parametrize("pair", PAIRS)


def carried(writer: Any, reader: Any, value: Any, save: Any = None, **options: Any) -> Any:
    """Written by one, read by the other."""
    file = io.BytesIO()
    writer.save(value, file, **(save or {}))
    file.seek(0)
    return reader.load(file, **options)


def numbers(lib: Any, tensor: Any) -> Any:
    return np.asarray(tensor.detach().to(lib.complex128).resolve_conj().tolist())


def same(lib_a: Any, a: Any, lib_b: Any, b: Any) -> None:
    assert str(a.dtype) == str(b.dtype)
    assert tuple(a.shape) == tuple(b.shape)
    assert tuple(a.stride()) == tuple(b.stride())
    assert a.storage_offset() == b.storage_offset()
    assert a.requires_grad == b.requires_grad
    assert np.array_equal(numbers(lib_a, a), numbers(lib_b, b))


@both
@pytest.mark.parametrize("old_format", [False, True])
@pytest.mark.parametrize("name", DTYPES)
def test_types(pair: str, name: str, old_format: bool) -> None:
    writer, reader = PAIRS[pair]
    if old_format and reader is torch and name in ("uint16", "uint32", "uint64"):
        pytest.skip("PyTorch cannot read what it writes itself there")
    x = writer.arange(12).reshape(3, 4).to(getattr(writer, name))
    tensors = {"x": x, "view": x[1:, ::2], "t": x.t(), "row": x[2], "wide": x[0].expand(5, 4), "one": x[1, 1]}
    found = carried(writer, reader, tensors, {"_use_new_zipfile_serialization": not old_format})
    for key, tensor in tensors.items():
        same(writer, tensor, reader, found[key])
        assert found[key].untyped_storage().data_ptr() == found["x"].untyped_storage().data_ptr()
    empty = carried(writer, reader, x[:0])
    assert str(empty.dtype) == f"torch.{name}"
    assert tuple(empty.shape) == (0, 4)


@both
def test_plain_data(pair: str) -> None:
    writer, reader = PAIRS[pair]

    def value(lib: Any) -> Any:
        return {
            "numbers": [0, -1, 255, 256, 65536, 2**31, -(2**40), 2**100, 1.5, float("inf"), 1 + 2j, True, None],
            "text": ["", "ä€", b"\x00\xff", bytearray(b"ab")],
            "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
            "sets": {1, "a"},
            ("a", 1): OrderedDict(z=1, a=[{}]),
            "torch": [lib.float32, lib.bool, lib.bfloat16, lib.device("cpu"), lib.device("cuda", 1), lib.Size([2, 3]), lib.strided],
        }  # fmt: skip

    assert carried(writer, reader, value(writer)) == value(reader)


@both
def test_parameters_and_attributes(pair: str) -> None:
    writer, reader = PAIRS[pair]
    p = writer.nn.Parameter(writer.ones(2), requires_grad=False)
    q = writer.nn.Parameter(writer.ones(2))
    q.note = "kept"
    t = writer.ones(1, requires_grad=True)
    u = writer.ones(1)
    u.note = [1, 2]
    buffer = writer.nn.Buffer(writer.ones(1), persistent=False)
    found = carried(writer, reader, [p, q, t, u, buffer])
    assert [type(each) for each in found] == [
        reader.nn.Parameter, reader.nn.Parameter, reader.Tensor, reader.Tensor, reader.Tensor,
    ]  # fmt: skip
    assert [each.requires_grad for each in found] == [False, True, True, False, False]
    assert found[1].note == "kept"
    assert found[3].note == [1, 2]
    assert found[4].persistent is False


@both
def test_models_and_optimizers(pair: str) -> None:
    """Train in one, carry on in the other: the same losses."""
    writer, reader = PAIRS[pair]

    def model(lib: Any) -> Any:
        return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.LayerNorm(4), lib.nn.ReLU(), lib.nn.Linear(4, 1)).double()

    def train(lib: Any, net: Any, optimizer: Any) -> list[float]:
        losses = []
        for i in range(3):
            x = (lib.arange(12, dtype=lib.float64).reshape(4, 3) + i) / 10
            loss = ((net(x) - 1) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    for make in (
        lambda lib, net: lib.optim.SGD(net.parameters(), lr=0.1, momentum=0.9),
        lambda lib, net: lib.optim.Adam(net.parameters(), lr=0.01, amsgrad=True),
        lambda lib, net: lib.optim.AdamW(net.parameters(), lr=0.01),
    ):
        net = model(writer)
        optimizer = make(writer, net)
        train(writer, net, optimizer)
        state = {
            "model": net.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": 3,
            "rng": writer.get_rng_state(),
        }
        found = carried(writer, reader, state)
        other = model(reader)
        second = make(reader, other)
        other.load_state_dict(found["model"])
        second.load_state_dict(found["optimizer"])
        assert found["model"]._metadata == net.state_dict()._metadata
        assert np.allclose(train(reader, other, second), train(writer, net, optimizer), rtol=1e-9)
        reader.set_rng_state(found["rng"])
        drawn = reader.rand(5).tolist()
        writer.set_rng_state(state["rng"])
        assert drawn == writer.rand(5).tolist()


LAYERS = {
    "Linear": ("(3, 2)", (2, 3)),
    "Bilinear": None,
    "Identity": ("()", (2, 3)),
    "Flatten": ("()", (2, 3, 1)),
    "LayerNorm": ("(3)", (2, 3)),
    "RMSNorm": ("(3)", (2, 3)),
    "PReLU": ("()", (2, 3)),
    "ReLU": ("()", (2, 3)),
    "GELU": ("('tanh')", (2, 3)),
    "SiLU": ("()", (2, 3)),
    "ELU": ("()", (2, 3)),
    "Softmax": ("(-1)", (2, 3)),
    "LogSoftmax": ("(-1)", (2, 3)),
    "Hardtanh": ("()", (2, 3)),
    "LeakyReLU": ("(0.2)", (2, 3)),
    "Softplus": ("()", (2, 3)),
    "Threshold": ("(0.1, 5)", (2, 3)),
    "Dropout": ("(0.3)", (2, 3)),
    "TransformerEncoderLayer": ("(4, 2, 8)", (2, 3, 4)),
}


@both
@pytest.mark.parametrize("layer", [name for name, how in LAYERS.items() if how])
def test_whole_layers(pair: str, layer: str) -> None:
    writer, reader = PAIRS[pair]
    args, shape = LAYERS[layer]  # type: ignore[misc]
    made = eval(f"lib.nn.{layer}{args}", {"lib": writer}).eval()
    whole = writer.nn.Sequential(OrderedDict(layer=made, after=writer.nn.ReLU()))
    found = carried(writer, reader, whole, weights_only=False)
    assert type(found.layer) is getattr(reader.nn, layer)
    count = int(np.prod(shape))
    x, y = (lib.arange(float(count)).reshape(shape) / count - 0.4 for lib in (writer, reader))
    assert np.allclose(whole(x).tolist(), found(y).tolist(), atol=1e-6)
    assert list(found.state_dict()) == list(whole.state_dict())


@both
def test_other_whole_objects(pair: str) -> None:
    writer, reader = PAIRS[pair]
    loss = carried(writer, reader, writer.nn.CrossEntropyLoss(label_smoothing=0.1), weights_only=False)
    assert type(loss) is reader.nn.CrossEntropyLoss
    assert loss.label_smoothing == 0.1
    generator = writer.Generator().manual_seed(3)
    copy = carried(writer, reader, generator, weights_only=False)
    assert writer.rand(3, generator=generator).tolist() == reader.rand(3, generator=copy).tolist()
    functions = carried(
        writer, reader, [writer.nn.functional.relu, writer.tanh, writer.nn.functional.gelu], weights_only=False
    )
    assert [f(reader.ones(1)).shape for f in functions] == [(1,)] * 3
    optimizer = carried(
        writer, reader, writer.optim.SGD([writer.ones(2, requires_grad=True)], lr=0.5), weights_only=False
    )
    assert type(optimizer) is reader.optim.SGD
    assert optimizer.param_groups[0]["lr"] == 0.5


@both
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(pair: str, protocol: int) -> None:
    writer, reader = PAIRS[pair]
    value = {"x": writer.ones(2), "p": writer.nn.Parameter(writer.ones(1)), "d": writer.float32}
    found = carried(writer, reader, value, {"pickle_protocol": protocol}, weights_only=False)
    assert found["x"].tolist() == [1, 1]
    assert found["d"] is reader.float32


class Custom:
    """A class neither knows."""


REFUSED = {
    "class": Custom(),
    "function": os.getcwd,
    "slice": slice(1, 2),
    "frozenset": frozenset([1]),
    "array": np.ones(2),
    "module": None,
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_same_is_refused(case: str) -> None:
    value = REFUSED[case] if case != "module" else torch.nn.Linear(1, 1)
    messages = []
    for reader in (torch, clarion):
        with pytest.raises(pickle.UnpicklingError) as caught:
            carried(torch, reader, value)
        messages.append(str(caught.value))
    for phrase in ("Weights only load failed", "was not an allowed global by default", "is blocked"):
        if phrase in messages[0]:
            assert phrase in messages[1]
    named = messages[0].partition("GLOBAL ")[2].split()[0]
    assert f"GLOBAL {named} " in messages[1]


def test_records_are_where_torch_computes_them(tmp_path: pathlib.Path) -> None:
    """PyTorch can find records by adding up sizes; its own check of that holds for clarion's files."""
    path = tmp_path / "a.pt"
    clarion.save({str(n): clarion.ones(n) for n in (1, 0, 100, 7, 0, 1000)}, path)
    program = (
        "import sys, torch\n"
        "found = torch.load(sys.argv[1])\n"
        "assert all(found[n].sum() == int(n) for n in found)\n"
        "from torch.utils.serialization import config\n"
        "config.load.calculate_storage_offsets = True\n"
        "found = torch.load(sys.argv[1], mmap=True)\n"
        "assert all(found[n].sum() == int(n) for n in found)\n"
        "found = torch.load(sys.argv[1], map_location='meta')\n"
    )
    env = {**os.environ, "TORCH_SERIALIZATION_DEBUG": "1"}
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, env=env, timeout=120)


@both
def test_mmap(pair: str, tmp_path: pathlib.Path) -> None:
    writer, reader = PAIRS[pair]
    path = tmp_path / "a.pt"
    writer.save({"x": writer.arange(1000), "y": writer.ones(3, dtype=writer.bfloat16)}, path)
    found = reader.load(path, mmap=True)
    assert found["x"].tolist() == list(range(1000))
    assert found["y"].tolist() == [1, 1, 1]


def test_conjugates_of_torch() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert carried(torch, clarion, x.conj()).tolist() == [1 - 2j, 3 + 1j]
    assert carried(torch, clarion, x.conj().imag).tolist() == [-2, 1]


def test_files_without_checksums() -> None:
    torch.serialization.set_crc32_options(False)
    try:
        assert carried(torch, clarion, torch.ones(3)).tolist() == [1, 1, 1]
    finally:
        torch.serialization.set_crc32_options(True)


@both
@pytest.mark.parametrize("layout", ["coo", "coo twice", "coo rows", "csr", "csc"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors(pair: str, layout: str) -> None:
    writer, reader = PAIRS[pair]
    dense = writer.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    made = {
        "coo": lambda: dense.to_sparse(),
        "coo twice": lambda: writer.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 3)),
        "coo rows": lambda: writer.sparse_coo_tensor([[1]], writer.ones(1, 3), (2, 3)),
        "csr": lambda: dense.to_sparse_csr(),
        "csc": lambda: dense.to_sparse_csc(),
    }[layout]()
    found = carried(writer, reader, {"x": made})["x"]
    assert str(found.layout) == str(made.layout)
    assert repr(found) == repr(made)
    assert found.to_dense().tolist() == made.to_dense().tolist()
    if "coo" in layout:
        assert found.is_coalesced() == made.is_coalesced()


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:TypedStorage")
def test_plain_pickles_of_pytorchs_load(tmp_path: pathlib.Path) -> None:
    """What `pickle` or joblib wrote in a PyTorch program opens where `torch` is clarion."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.BatchNorm1d(2)).eval()
    x = torch.arange(12.0).reshape(4, 3)
    named = torch.ones(2)
    named.note = "mine"
    content = {
        "model": model,
        "answer": model(x).detach().t(),
        "view": x[1:3],
        "half": x.bfloat16(),
        "sparse": x.to_sparse(),
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "named": named,
        "function": torch.relu,
        "format": torch.channels_last,
        "law": torch.distributions.Normal(torch.zeros(1), 1.0),
        "storage": torch.ones(3).storage(),
    }
    (tmp_path / "content.pkl").write_bytes(pickle.dumps(content))
    program = """
import pickle, torch
found = pickle.load(open("content.pkl", "rb"))
x = torch.arange(12.0).reshape(4, 3)
assert torch.equal(found["model"](x).t(), found["answer"]) or (found["model"](x).t() - found["answer"]).abs().max() < 1e-6
assert found["view"].tolist() == x[1:3].tolist() and found["view"].storage_offset() == 3
assert found["answer"].stride() == (1, 2) and found["half"].dtype is torch.bfloat16
assert torch.equal(found["sparse"].to_dense(), x) and found["sparse"].is_coalesced()
assert isinstance(found["frozen"], torch.nn.Parameter) and not found["frozen"].requires_grad
assert found["named"].note == "mine" and found["function"](x - 5).min() == 0
assert found["format"] is torch.channels_last and found["law"].mean.item() == 0
assert found["storage"].tolist() == [1, 1, 1]
print(torch.__file__)
"""
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "clarion", "run", "--engine", "clarion", "program.py"]
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "clarion" in ran.stdout


@pytest.mark.parametrize("f", [3, None])
def test_bad_arguments(f: Any, tmp_path: pathlib.Path) -> None:
    for call in (lambda lib: lib.save(1, f), lambda lib: lib.load(f), lambda lib: lib.load(tmp_path / "none")):
        errors = []
        for lib in (torch, clarion):
            with pytest.raises(Exception) as caught:
                call(lib)
            errors.append(caught.value)
        assert isinstance(errors[1], type(errors[0]))
        assert str(errors[0])[:60] in str(errors[1])
