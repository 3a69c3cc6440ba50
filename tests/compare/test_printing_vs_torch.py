"""Tensor text against PyTorch's own, over many generated tensors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from clarion.core import printing

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEXES]

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (2,),
    (7,),
    (40,),
    (1000,),
    (1001,),
    (5000,),
    (1, 1),
    (3, 4),
    (2, 30),
    (30, 2),
    (7, 150),
    (6, 200),
    (200, 6),
    (50, 50),
    (2, 3, 4),
    (12, 12, 12),
    (2, 1, 600),
    (9, 2, 3, 40),
    (2, 1, 2, 1, 3),
    (0,),
    (0, 3),
    (2, 0, 3),
]

OPTIONS: list[dict[str, Any]] = [
    {},
    {"precision": 0},
    {"precision": 2},
    {"precision": 10},
    {"sci_mode": True},
    {"sci_mode": False},
    {"sci_mode": True, "precision": 1},
    {"threshold": 0},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 0},
    {"edgeitems": 0},
    {"edgeitems": 8},
    {"linewidth": 20},
    {"linewidth": 1},
    {"linewidth": 200},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "full", "linewidth": 120},
    {"profile": "no such profile", "precision": 3},
]


@contextmanager
def both_options(options: dict[str, Any]) -> Iterator[None]:
    theirs = torch._tensor_str.printoptions(**options)
    with printing.printoptions(**options), theirs:
        yield


def to_numpy(tensor: Any) -> npt.NDArray[Any]:
    if tensor.dtype == torch.bfloat16:
        bits: npt.NDArray[Any] = tensor.view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    array: npt.NDArray[Any] = tensor.numpy()
    return array


def our_text(tensor: Any, suffixes: list[str] | None = None) -> str:
    return printing.tensor_text(
        to_numpy(tensor.detach()),
        default_dtype=str(torch.get_default_dtype()),
        dtype_name=str(tensor.dtype),
        suffixes=suffixes or [],
    )


def random_floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Real numbers of one of several characters, with odd values mixed in."""
    values = rng.standard_normal(shape)
    values = values * 10.0 ** rng.integers(-9, 10) if rng.random() < 0.5 else values
    if rng.random() < 0.3:
        values = values * 10.0 ** rng.uniform(-5, 5, shape)
    if rng.random() < 0.4:
        values = np.round(values * 20)
    if rng.random() < 0.1:
        values = values * 0.0
    if rng.random() < 0.4:
        odd = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
        values = np.where(rng.random(shape) < rng.choice([0.05, 0.5, 1.0]), odd, values)
    return torch.from_numpy(np.asarray(values, dtype=np.float64))


def random_tensor(rng: np.random.Generator, dtype_name: str, shape: tuple[int, ...]) -> Any:
    dtype = getattr(torch, dtype_name)
    if dtype_name == "bool":
        return torch.from_numpy(np.asarray(rng.random(shape) < 0.5))
    if dtype_name in INTEGERS:
        info = np.iinfo(dtype_name)
        limit = int(rng.choice([2, 100, 2**15, 2**62]))
        low, high = max(info.min, -limit), min(info.max, limit)
        values = rng.integers(low, high, shape, dtype=dtype_name, endpoint=True)
        return torch.from_numpy(np.asarray(values))
    if dtype_name in COMPLEXES:
        pair = random_floats(rng, shape), random_floats(rng, shape)
        return torch.complex(*pair).to(dtype)
    return random_floats(rng, shape).to(dtype)


def rearranged(rng: np.random.Generator, tensor: Any) -> Any:
    """Perhaps a view of the tensor that is not contiguous."""
    choice = rng.integers(4)
    if choice == 0:
        return tensor.permute(tuple(reversed(range(tensor.dim()))))
    if choice == 1 and tensor.dim() > 0:
        return tensor[..., ::2]
    if choice == 2:
        return tensor.expand(2, *tensor.shape)
    return tensor


@pytest.mark.parametrize("dtype_name", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_and_dtypes(dtype_name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng([DTYPES.index(dtype_name), *shape])
    for _ in range(4):
        tensor = rearranged(rng, random_tensor(rng, dtype_name, shape))
        assert our_text(tensor) == repr(tensor)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype_name", DTYPES)
def test_options(dtype_name: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(OPTIONS.index(options))
    for shape in random.Random(dtype_name).sample(SHAPES, 8):
        tensor = random_tensor(rng, dtype_name, shape)
        with both_options(options):
            assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
            assert our_text(tensor) == repr(tensor)


@pytest.mark.parametrize("default", ["float32", "float64", "float16", "bfloat16"])
def test_default_dtype(default: str) -> None:
    rng = np.random.default_rng(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, default))
    try:
        for dtype_name in DTYPES:
            for shape in [(), (3,), (0,), (0, 2)]:
                tensor = random_tensor(rng, dtype_name, shape)
                assert our_text(tensor) == repr(tensor)
    finally:
        torch.set_default_dtype(before)


def test_suffix_placement_at_every_line_length() -> None:
    for length in range(1, 40):
        for dtype in (torch.float32, torch.float64):
            leaf = torch.arange(length, dtype=dtype, requires_grad=True)
            assert our_text(leaf, ["requires_grad=True"]) == repr(leaf)
            result = (leaf * 3).reshape(1, length)
            assert our_text(result, ["grad_fn=<ViewBackward0>"]) == repr(result)
            assert "grad_fn=<ViewBackward0>" in repr(result)


def test_extreme_values() -> None:
    f64 = torch.finfo(torch.float64)
    for values in (
        [f64.max, f64.tiny],
        [5e-324],
        [f64.max],
        [-0.0, 0.0],
        [-0.0, 1.0],
        [1e8],
        [1e8 + 1],
        [99999999.5],
        [1e-4],
        [9.9e-5],
        [1.0, 1000.0],
        [1.0, 1001.0],
        [0.99999, 1.0],
        [0.5, 1.5, 2.5],
        [float("nan")] * 30,
        [float("-inf"), 1.0],
        [float("inf"), 0.25],
    ):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            tensor = torch.tensor(values, dtype=torch.float64).to(dtype)
            assert our_text(tensor) == repr(tensor)
            pair = torch.complex(tensor.double(), tensor.flip(0).double())
            assert our_text(pair) == repr(pair)


def test_subclass_prefix() -> None:
    class LongNamedTensor(torch.Tensor):  # type: ignore[misc,name-defined]
        pass

    tensor = torch.arange(60.0).reshape(2, 30).as_subclass(LongNamedTensor)
    text = printing.tensor_text(
        to_numpy(tensor),
        prefix="LongNamedTensor(",
        default_dtype="torch.float32",
        dtype_name="torch.float32",
        suffixes=[],
    )
    assert text == repr(tensor)
