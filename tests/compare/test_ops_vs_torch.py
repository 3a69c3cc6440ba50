"""The rows of tests/opcases on PyTorch itself: values, types, gradients, in-place forms."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion
import clarion.errors

from ..opcases import ROWS
from ..rowtools import (
    draw,
    gradients,
    leaves,
    numpy_of,
    results,
    tensors,
    type_name,
)

# PyTorch itself rounds some constants and series to less than a type can hold (hardsigmoid, digamma).
TIGHT = {"float64": (1e-7, 1e-8), "complex128": (1e-7, 1e-8), "float32": (2e-5, 2e-6), "complex64": (2e-5, 2e-6),
         "float16": (2e-3, 4e-3), "bfloat16": (2e-2, 4e-2)}  # fmt: skip


# PyTorch composes these of several nodes on the CPU (or in double precision), so the last one has another name.
COMPOSED = {
    "inner",
    "matmul",
    "chain_matmul",
    "trapezoid",
    "rms_norm",
    "scaled_dot_product_attention",
    "tiled_attention",
    "dropped_attention",
    "dist",
    "frobenius_norm",
    "special_ndtr",
    "householder_product",
    "ormqr",
    "tensorinv",
}
# What comes out of `vmap` has a node of its own here (docs/differences.md).
COMPOSED |= {"batch", "unbatch", "unbatch_view", "same_for_all", "sum_of_samples", "common_sample"}
# PyTorch's gradient of x is 0 where x survives, and flows where it was overwritten: finite differences say otherwise.
WRONG_IN_PYTORCH = {"as_strided_scatter"}


def compared(ours, theirs, what):
    """Same number of results, types, shapes, values; lists of tensors of the two libraries."""
    assert len(ours) == len(theirs), what
    for mine, his in zip(ours, theirs, strict=True):
        assert (mine is None) == (his is None), f"{what}: {mine} against {his}"
        if mine is None:
            continue
        assert type_name(mine) == type_name(his), what
        a, b = numpy_of(clarion, mine), numpy_of(torch, his)
        assert a.shape == b.shape, what
        rtol, atol = TIGHT.get(type_name(mine), (0, 0))
        np.testing.assert_allclose(a, b, rtol, atol, err_msg=what)


def both(act):
    """`act(library)` in clarion and in PyTorch, or None if both refuse it."""
    answers = []
    for library in (clarion, torch):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers.append(act(library))
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            answers.append(error)
            if library is torch and isinstance(error, clarion.errors.Explained):
                pytest.skip("an operation inside clarion")
    ours, theirs = answers
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"PyTorch refuses this: {theirs}"
        return None
    if isinstance(ours, Exception):
        raise ours
    return ours, theirs


def having(wanted):
    """Parametrize over the rows for which `wanted(row)`."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if wanted(row)])


@having(lambda row: True)
def test_values_and_gradients(row):
    for dtype in ("float64", "float32"):
        answer = both(lambda t: results(row.call(t, *leaves(t, row, draw(row), dtype))))
        if answer is None:
            continue
        compared(*answer, f"{dtype} values")
        assert [o.requires_grad for o in answer[0]] == [o.requires_grad for o in answer[1]]
        if row.op not in COMPOSED and not hasattr(row.call, "differentiates") and not hasattr(row.call, "internal"):
            names = [[type(o.grad_fn).__name__ for o in outs] for outs in answer]
            assert names[0] == names[1]
        answer = both(lambda t: gradients(t, row, row.call, leaves(t, row, draw(row), dtype)))
        if answer is not None and row.op not in WRONG_IN_PYTORCH:
            compared(*answer, f"{dtype} gradients")


@having(lambda row: row.dtypes)
def test_types(row):
    for dtype in row.dtypes:
        answer = both(lambda t: results(row.call(t, *tensors(t, draw(row), dtype))))
        assert answer is not None, f"PyTorch refuses {dtype}"
        compared(*answer, dtype)


@having(lambda row: row.edge_shapes)
def test_edge_shapes(row):
    for shapes in row.edge_shapes:
        answer = both(lambda t: results(row.call(t, *leaves(t, row, draw(row, shapes)))))
        assert answer is not None, f"PyTorch refuses {shapes}"
        compared(*answer, f"shapes {shapes}")
        compared(
            *both(lambda t: gradients(t, row, row.call, leaves(t, row, draw(row, shapes)))), f"gradients, {shapes}"
        )


@having(lambda row: row.inplace)
def test_in_place(row):
    def write(t, dtype):
        x, *_ = tensors(t, draw(row), dtype)
        _, *rest = tensors(t, draw(row))
        row.inplace(t, x, *rest)
        return [x]

    for dtype in ("float64", "float32", "int64", "bool"):
        answer = both(lambda t: write(t, dtype))
        if answer is not None:
            compared(*answer, f"into {dtype}")
