"""safetensors files, and the package's own functions on NumPy arrays."""

from __future__ import annotations

import pathlib
import sys

import ml_dtypes
import numpy as np
import pytest

import clarion as torch
from clarion.serialization import load_safetensors, save_safetensors


def test_round_trip(tmp_path: pathlib.Path) -> None:
    numpy_functions = pytest.importorskip("safetensors.numpy", reason="reads files of safetensors")
    path = tmp_path / "a.safetensors"
    tensors = {
        str(d): torch.tensor([[0, 1, 2], [3, 4, 5]]).to(d)
        for d in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool)
    }
    tensors |= {"t": torch.arange(6.0).reshape(2, 3).t(), "none": torch.ones(0, 3), "one": torch.tensor(2.0)}
    save_safetensors(tensors, path, {"made by": "clarion"})
    for found in (load_safetensors(path), torch.load(path)):
        assert found.keys() == tensors.keys()
        for name, value in tensors.items():
            assert found[name].dtype is value.dtype
            assert torch.equal(found[name], value)
    arrays = numpy_functions.load_file(path)
    assert arrays["torch.bfloat16"].dtype == ml_dtypes.bfloat16
    numpy_functions.save_file({"w": np.arange(3.0), "b": np.ones(2, ml_dtypes.bfloat16)}, path)
    found = load_safetensors(path)
    assert found["w"].tolist() == [0, 1, 2]
    assert found["b"].dtype is torch.bfloat16
    found["w"][0] = 5
    assert [each.name for each in tmp_path.iterdir()] == ["a.safetensors"]


def test_refusals(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("safetensors.numpy", reason="reads files of safetensors")
    path = tmp_path / "a.safetensors"
    x = torch.ones(4)
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        save_safetensors({"a": x, "b": x[1:]}, path)
    with pytest.raises(TypeError, match=r"expected torch.Tensor"):
        save_safetensors({"a": 1}, path)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="complex128"):
        save_safetensors({"a": torch.ones(1, dtype=torch.complex128)}, path)
    with pytest.raises(RuntimeError, match="map_location is not supported"):
        torch.load(path, map_location={})
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(RuntimeError, match="no whole safetensors file"):
        load_safetensors(path)
    with pytest.raises(FileNotFoundError):
        load_safetensors(tmp_path / "none.safetensors")


def test_without_the_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "safetensors.numpy", raising=False)
    for call in (
        lambda: save_safetensors({}, tmp_path / "a.safetensors"),
        lambda: load_safetensors(tmp_path / "a.safetensors"),
        lambda: torch.load(tmp_path / "a.safetensors"),
    ):
        with pytest.raises(ImportError, match=r"clarion\[safetensors\]"):
            call()
