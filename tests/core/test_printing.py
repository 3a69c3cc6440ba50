"""Tensor text against literal PyTorch output."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import clarion
from clarion.core import printing
from clarion.core.printing import format_array, printoptions, tensor_text

nan, inf = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    with printoptions(profile="default"):
        yield


def text(array: Any, suffixes: list[str] | None = None) -> str:
    return tensor_text(
        array,
        default_dtype="torch.float32",
        dtype_name=f"torch.{array.dtype}",
        suffixes=suffixes or [],
    )


def f32(values: Any) -> Any:
    return np.array(values, np.float32)


def block(expected: str) -> str:
    """A triple-quoted literal without its margin and outer line breaks."""
    return dedent(expected).strip("\n")


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array(3), "tensor(3)"),
        (f32(2.5), "tensor(2.5000)"),
        (f32(-0.0), "tensor(-0.)"),
        (f32(1e-7), "tensor(1.0000e-07)"),
        (np.array(True), "tensor(True)"),
        (np.array(1 - 2j, np.complex64), "tensor(1.-2.j)"),
    ],
)
def test_scalars(array: Any, expected: str) -> None:
    assert text(array) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, -30], "tensor([  1.,   2., -30.])"),
        ([1.5, nan, -inf, 0], "tensor([1.5000,    nan,   -inf, 0.0000])"),
        # Zeros and non-finite numbers do not widen the columns.
        ([nan, inf, 0.0, -0.0], "tensor([nan, inf, 0., -0.])"),
        ([1, nan, 100], "tensor([  1.,  nan, 100.])"),
        # Scientific notation: a ratio over 1000, below 1e-4 or above 1e8.
        ([1, 1000], "tensor([   1., 1000.])"),
        ([1, 1001], "tensor([1.0000e+00, 1.0010e+03])"),
        ([1e-5, 1], "tensor([1.0000e-05, 1.0000e+00])"),
        ([2e8], "tensor([2.0000e+08])"),
    ],
)
def test_float_vectors(values: list[float], expected: str) -> None:
    assert text(f32(values)) == expected


def test_float16() -> None:
    array = np.array([65504, 1], np.float16)
    assert text(array) == "tensor([6.5504e+04, 1.0000e+00], dtype=torch.float16)"


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    array = np.array([1.5, 2.25, -3], ml_dtypes.bfloat16)
    expected = "tensor([ 1.5000,  2.2500, -3.0000], dtype=torch.bfloat16)"
    assert text(array) == expected


def test_bool_and_integer_matrices() -> None:
    assert text(np.array([[True, False], [False, True]])) == block("""
        tensor([[ True, False],
                [False,  True]])
        """)
    assert text(np.array([[1, -20], [300, 4]], np.int32)) == block("""
        tensor([[  1, -20],
                [300,   4]], dtype=torch.int32)
        """)


def test_complex() -> None:
    array = np.array([1 + 2j, -3.5 - 0.25j, complex(nan, -inf)], np.complex64)
    assert text(array) == "tensor([ 1.0000+2.0000j, -3.5000-0.2500j,     nan-infj])"
    array = np.array([[1e-9 + 1j, 2 + 300j]])
    expected = "tensor([[1.0000e-09+1.j, 2.0000e+00+300.j]], dtype=torch.complex128)"
    assert text(array) == expected


def test_three_dimensions_are_separated_by_blank_lines() -> None:
    assert text(f32(range(24)).reshape(2, 3, 4)) == block("""
        tensor([[[ 0.,  1.,  2.,  3.],
                 [ 4.,  5.,  6.,  7.],
                 [ 8.,  9., 10., 11.]],

                [[12., 13., 14., 15.],
                 [16., 17., 18., 19.],
                 [20., 21., 22., 23.]]])
        """)


def test_transposed_array() -> None:
    assert format_array(np.arange(6).reshape(2, 3).T) == "[[0, 3],\n [1, 4],\n [2, 5]]"


def test_long_rows_wrap() -> None:
    assert text(np.arange(30)) == block("""
        tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
                18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
        """)
    assert text(np.arange(20) / 7) == block("""
        tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,
                1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,
                2.5714, 2.7143], dtype=torch.float64)
        """)


def test_summarised() -> None:
    expected = "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert text(np.arange(1001)) == expected
    # Only the long axis is cut, and the width comes from what is shown.
    assert text(np.arange(1200).astype(np.uint8).reshape(2, 600)) == block("""
        tensor([[  0,   1,   2,  ...,  85,  86,  87],
                [ 88,  89,  90,  ..., 173, 174, 175]], dtype=torch.uint8)
        """)


def test_summarised_rows_wrap_too() -> None:
    assert text(f32(range(10000)).reshape(100, 100)) == block("""
        tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.7000e+01, 9.8000e+01,
                 9.9000e+01],
                [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.9700e+02, 1.9800e+02,
                 1.9900e+02],
                [2.0000e+02, 2.0100e+02, 2.0200e+02,  ..., 2.9700e+02, 2.9800e+02,
                 2.9900e+02],
                ...,
                [9.7000e+03, 9.7010e+03, 9.7020e+03,  ..., 9.7970e+03, 9.7980e+03,
                 9.7990e+03],
                [9.8000e+03, 9.8010e+03, 9.8020e+03,  ..., 9.8970e+03, 9.8980e+03,
                 9.8990e+03],
                [9.9000e+03, 9.9010e+03, 9.9020e+03,  ..., 9.9970e+03, 9.9980e+03,
                 9.9990e+03]])
        """)


def test_hidden_elements_do_not_affect_the_format() -> None:
    array = np.ones(2000, np.float32)
    array[1000] = 1e-30
    assert text(array) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros(0, np.float32), "tensor([])"),
        (np.zeros((0, 3), np.float32), "tensor([], size=(0, 3))"),
        (np.zeros((0, 3), np.int64), "tensor([], size=(0, 3), dtype=torch.int64)"),
        (np.zeros(0, np.complex64), "tensor([], dtype=torch.complex64)"),
    ],
)
def test_empty(array: Any, expected: str) -> None:
    assert text(array) == expected


def test_suffixes() -> None:
    # On one line this would be exactly 80 columns, which PyTorch still wraps.
    assert text(np.ones(13, np.float32), ["requires_grad=True"]) == block("""
        tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],
               requires_grad=True)
        """)
    grad_fn = ["grad_fn=<AddBackward0>"]
    assert text(f32(range(1, 13)).reshape(3, 4), grad_fn) == block("""
        tensor([[ 1.,  2.,  3.,  4.],
                [ 5.,  6.,  7.,  8.],
                [ 9., 10., 11., 12.]], grad_fn=<AddBackward0>)
        """)
    assert text(np.arange(1.0, 14.0), grad_fn) == block("""
        tensor([ 1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],
               dtype=torch.float64, grad_fn=<AddBackward0>)
        """)
    expected = "tensor([], size=(0, 3), dtype=torch.float64, grad_fn=<AddBackward0>)"
    assert text(np.zeros((0, 3)), grad_fn) == expected


def test_default_dtype_decides_which_dtypes_show() -> None:
    def under_double(array: Any) -> str:
        return tensor_text(
            array,
            default_dtype="torch.float64",
            dtype_name=f"torch.{array.dtype}",
            suffixes=[],
        )

    assert under_double(np.ones(1)) == "tensor([1.])"
    assert under_double(f32([1])) == "tensor([1.], dtype=torch.float32)"
    assert under_double(np.ones(1, np.complex128)) == "tensor([1.+0.j])"


@pytest.mark.parametrize(
    ("array", "options", "expected"),
    [
        (
            f32(range(8)) / 3,
            {"precision": 2},
            "tensor([0.00, 0.33, 0.67, 1.00, 1.33, 1.67, 2.00, 2.33])",
        ),
        (f32(range(8)), {"threshold": 4, "edgeitems": 1}, "tensor([0.,  ..., 7.])"),
        (f32(range(8)), {"threshold": 4, "edgeitems": 0}, "tensor([...], size=(8,))"),
        (f32([1, 2]), {"edgeitems": 0}, "tensor([1., 2.], size=(2,))"),
        (f32([1, 2]), {"sci_mode": True}, "tensor([1.0000e+00, 2.0000e+00])"),
        (f32([1e-6, 1]), {"sci_mode": False}, "tensor([0.0000, 1.0000])"),
        (
            np.arange(8),
            {"linewidth": 20},
            "tensor([0, 1, 2, 3,\n        4, 5, 6, 7])",
        ),
    ],
)
def test_options(array: Any, options: dict[str, Any], expected: str) -> None:
    with printoptions(**options):
        assert text(array) == expected


def test_profiles_and_restoring() -> None:
    defaults = {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }
    assert printing.get_printoptions() == defaults
    with printoptions(profile="short", edgeitems=5):
        short = {**defaults, "precision": 2, "edgeitems": 5}
        assert printing.get_printoptions() == short
    with pytest.raises(ZeroDivisionError), printoptions(profile="full"):
        assert printing.get_printoptions() == {**defaults, "threshold": inf}
        raise ZeroDivisionError
    assert printing.get_printoptions() == defaults


def test_sci_mode_returns_to_automatic_unless_given() -> None:
    with printoptions(sci_mode=True):
        printing.set_printoptions(precision=3)
        assert printing.get_printoptions()["sci_mode"] is None


@pytest.mark.parametrize("shape", [(10**7,), (7, 10**7 // 7), (10, 1000, 1000)])
def test_large_arrays_print_quickly(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        text(array)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.01


def test_the_class_has_the_name_that_programs_use():
    assert str(type(clarion.ones(2))) == "<class 'clarion.Tensor'>"
    assert pickle.loads(pickle.dumps(clarion.Tensor)) is clarion.Tensor
