"""Tangents against PyTorch's, row by row: of values, of complex values, of writes in place."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

from ..opcases import ROWS, Row
from ..rowtools import differentiable, draw, numpy_of, results, tensors, type_name
from ..test_ops import derived, differentiates, draws

# PyTorch has no tangent of products here, and says nothing: second derivatives of them are wrong, too. That of
# cholesky_inverse is another matrix than differences give (tests/semantics/test_differences.py).
WRONG_IN_PYTORCH = ("scatter_reduce-prod", "lone_zero", "no_second_zero", "cholesky_inverse")

TIGHT = {"float64": (1e-7, 1e-8), "complex128": (1e-7, 1e-8), "float32": (1e-4, 1e-5)}


def pushed(t: Any, row: Row, dtype: str, function: Any = None) -> Any:
    """(output, tangent) of every output; or the error."""
    fw = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    made = tensors(t, draw(row), dtype)
    rng = np.random.default_rng(5)
    with warnings.catch_warnings(), fw.dual_level():
        warnings.simplefilter("ignore")
        for i in differentiable(row, made):
            x = made[i].requires_grad_() if differentiates(row) else made[i]
            values = rng.standard_normal(tuple(x.shape))
            made[i] = fw.make_dual(x, t.from_numpy(np.asarray(values)).to(x.dtype))
        try:
            outs = results((function or row.call)(t, *made))
        except (RuntimeError, NotImplementedError, AttributeError, TypeError, ImportError) as error:
            return error
        return [tuple(fw.unpack_dual(out)) for out in outs]


def compare(row: Row, dtype: str, function: Any = None) -> None:
    theirs = pushed(torch, row, dtype, function)
    if isinstance(theirs, Exception):
        pytest.skip(f"PyTorch: {str(theirs)[:100]}")
    if row.id.startswith(WRONG_IN_PYTORCH):
        pytest.skip("PyTorch: no tangent, or a wrong one")
    ours = pushed(clarion, row, dtype, function)
    if isinstance(ours, Exception):
        raise ours
    assert len(ours) == len(theirs)
    for (_, mine), (out, his) in zip(ours, theirs, strict=True):
        if mine is None or his is None:  # a tangent that is zero may be missing
            there = mine if his is None else his
            assert there is None or not numpy_of(clarion if his is None else torch, there).any(), row.id
            continue
        assert type_name(mine) == type_name(his) == type_name(out)
        rtol, atol = TIGHT[type_name(mine)]
        np.testing.assert_allclose(numpy_of(clarion, mine), numpy_of(torch, his), rtol, atol)


# PyTorch's tangent of eigenvectors takes both halves of a tangent that is not symmetric, its gradient the mean; here both do.
ONE_HALF = {"linalg_eigh-asymmetric"}


def rows(wanted: Any) -> Any:
    chosen = [row for row in ROWS if derived(row) and not draws(row) and wanted(row) and row.id not in ONE_HALF]
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in chosen])


@rows(lambda row: True)
def test_tangents(row):
    compare(row, "float64")


@rows(lambda row: "complex128" in row.dtypes)
def test_complex_tangents(row):
    compare(row, "complex128")


@rows(lambda row: row.inplace is not None)
def test_written_tangents(row):
    def written(t: Any, x: Any, *rest: Any) -> Any:
        copy = x.clone()
        row.inplace(t, copy, *rest)
        return copy

    compare(row, "float64", written)
