"""LAPACK in the type of the matrices, values without vectors, and least squares."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
from clarion.kernels import lapack
from clarion.kernels.portable.linalg.decompositions import linalg_solve_triangular


def draw(*shape, kind="f", seed=0):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind in "FD" else 0)
    return found.astype(kind)


@pytest.mark.parametrize("kind", "fdFD")
def test_what_numpy_finds_in_the_type_that_is_given(kind):
    x = draw(3, 5, 5, kind=kind) + 3 * np.eye(5, dtype=kind)
    spd, b, own = x @ x.conj().swapaxes(-1, -2), draw(3, 5, 2, kind=kind, seed=1), lapack.of(np)
    calls = [
        ("inv", x),
        ("det", x),
        ("slogdet", x),
        ("solve", x, b),
        ("cholesky", spd),
        ("eigvalsh", spd),
        ("svd", x[..., :3]),
    ]
    calls += [("eigvals", x)] if kind in "fd" else []
    for name, *arrays in calls:
        wide = [a.astype("D" if kind in "FD" else "d") for a in arrays]
        options = {"compute_uv": False} if name == "svd" else {}
        got, expected = (
            f if type(f) is np.ndarray or np.isscalar(f) else tuple(f)
            for f in (getattr(own, name)(*arrays, **options), getattr(np.linalg, name)(*wide, **options))
        )
        for one, other in zip(
            got if type(got) is tuple else [got], expected if type(got) is tuple else [expected], strict=True
        ):
            assert one.dtype.char.lower() == kind.lower(), name
            if name == "eigvals":
                one, other = np.sort_complex(one), np.sort_complex(other)
            np.testing.assert_allclose(one, other, 1e-4 if kind in "fF" else 1e-10, 1e-5, err_msg=name)


def test_what_has_no_answer_raises_as_ever():
    own, nothing = lapack.of(np), np.zeros((2, 2), np.float32)
    for failing in (
        lambda: own.inv(nothing),
        lambda: own.solve(nothing, nothing),
        lambda: own.cholesky(-np.eye(2, dtype=np.float32)),
    ):
        with pytest.raises(np.linalg.LinAlgError):
            failing()
    with pytest.raises(np.linalg.LinAlgError):
        own.svd(np.full((3, 3), np.nan, np.float32))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("shape", [(50, 30), (30, 50), (3, 40, 40), (2, 2, 33, 64), (1, 2048), (2048, 1)])
def test_orthogonal_factors_of_float32(shape, mode):
    x, own = draw(*shape), lapack.of(np)
    got, expected = own.qr(x, mode=mode), np.linalg.qr(x.astype("d"), mode=mode)
    for one, other in zip(*((each,) if mode == "r" else each for each in (got, expected)), strict=True):
        assert one.dtype == np.float32
        assert one.shape == other.shape
        if mode != "complete":  # (what completes the basis is free)
            np.testing.assert_allclose(one, other, 1e-3, 1e-4 * np.abs(other).max())
    if mode != "r":
        q, r = got
        np.testing.assert_allclose(q @ r, x, 1e-4, 1e-4)
        np.testing.assert_allclose(
            q.swapaxes(-1, -2) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *2 * (q.shape[-1],))), 0, 1e-4
        )


@pytest.mark.parametrize("kind", "fd")
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 6, 3)])
def test_least_squares(shape, kind):
    a, b = draw(*shape, kind=kind), draw(*shape[:-1], 2, kind=kind, seed=1)
    a[..., 1] = 2 * a[..., 0]
    found = lapack.least_squares(a, b, 1e-4)
    if found is None:
        pytest.skip("NumPy's LAPACK is not OpenBLAS")
    np.testing.assert_allclose(found[0], np.linalg.pinv(a.astype("d"), 1e-4) @ b, 1e-4, 1e-4)
    assert (found[1] == np.linalg.matrix_rank(a, rtol=1e-4)).all()


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles_of_many_small_matrices(upper, unit):
    a, b = draw(40, 4, 4, kind="d"), draw(4, 3, kind="d", seed=1)
    triangle = (np.triu if upper else np.tril)(a, 0)
    if unit:
        triangle = triangle - triangle * np.eye(4) + np.eye(4)
    np.testing.assert_allclose(
        linalg_solve_triangular(np, a, b, upper, True, unit), np.linalg.solve(triangle, b), 1e-7, 1e-9
    )


def test_values_alone_have_derivatives_too():
    """Forward ones, of what does not require a gradient."""
    x, dx = torch.tensor(draw(4, 4, kind="d")), torch.tensor(draw(4, 4, kind="d", seed=1))
    x, dx = x + x.T, dx + dx.T
    for function in (torch.linalg.svdvals, torch.linalg.eigvalsh, lambda x: torch.linalg.eigvals(x).real):
        found, tangent = torch.func.jvp(function, (x,), (dx,))
        step = (function(x + 1e-6 * dx) - function(x - 1e-6 * dx)) / 2e-6
        assert torch.allclose(tangent, step, atol=1e-6)
        assert torch.allclose(found, function(x))
