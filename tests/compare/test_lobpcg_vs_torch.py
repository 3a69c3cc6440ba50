"""`lobpcg`: eigenpairs, their gradients and refusals, as PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

N = 30


def matrices(t):
    rng = np.random.RandomState(0)
    q = np.linalg.qr(rng.standard_normal((N, N)))[0]
    r = rng.standard_normal((N, N))
    return t.tensor(q @ np.diag(np.arange(1.0, N + 1)) @ q.T), t.tensor(r @ r.T / N + np.eye(N))


WAYS = {
    "largest": lambda t, a, b: t.lobpcg(a, k=3),
    "smallest": lambda t, a, b: t.lobpcg(a, k=3, largest=False),
    "one": lambda t, a, b: t.lobpcg(a),
    "more than asked for": lambda t, a, b: t.lobpcg(a, k=2, n=4),
    "from vectors": lambda t, a, b: t.lobpcg(a, X=t.eye(N, 3, dtype=t.float64) + 0.1),
    "generalized": lambda t, a, b: t.lobpcg(a, k=3, B=b),
    "preconditioned": lambda t, a, b: t.lobpcg(a, k=3, iK=t.linalg.inv(a), largest=False),
    "basic": lambda t, a, b: t.lobpcg(a, k=2, method="basic"),
    "batches": lambda t, a, b: t.lobpcg(t.stack([a, b])[None], k=2),
    "sparse": lambda t, a, b: t.lobpcg(a.to_sparse(), 2, b.to_sparse()),
    "float32": lambda t, a, b: t.lobpcg(a.float(), k=2),
}


@pytest.mark.parametrize("way", WAYS)
def test_pairs(way):
    found = []
    for t in (clarion, torch):
        t.manual_seed(0)
        values, vectors = WAYS[way](t, *matrices(t))
        found.append((values.numpy(), np.abs(vectors.numpy()), str(values.dtype), tuple(vectors.stride()[-2:])))
    mine, theirs = found
    loose = 2e-3 if way == "float32" else 1e-5
    np.testing.assert_allclose(mine[0], theirs[0], rtol=loose)
    np.testing.assert_allclose(mine[1], theirs[1], atol=loose)
    assert mine[2] == theirs[2]


def test_gradients():
    found = []
    for t in (clarion, torch):
        t.manual_seed(0)
        a = t.stack([*matrices(t)]).requires_grad_()
        values, vectors = t.lobpcg(a, k=2, tol=1e-13)
        loss = (values * t.tensor([1.0, 2.0])).sum() + 3 * vectors.pow(4).sum() + vectors.prod(-1).pow(2).sum()
        (gradient,) = t.autograd.grad(loss, a, create_graph=True)
        found.append((loss.item(), gradient.detach().numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-7, atol=1e-8)


def test_second_derivatives():
    a, _ = matrices(clarion)
    a = (a[:7, :7] + clarion.diag(clarion.arange(7.0)) * 3).requires_grad_()
    start = clarion.eye(7, 2, dtype=clarion.float64) + 0.1

    def observe(a):
        values, vectors = clarion.lobpcg(a, X=start, tol=1e-15, niter=200)
        return values, vectors.abs()

    assert clarion.autograd.gradcheck(lambda a: observe((a + a.mT) / 2), (a,), atol=1e-4)
    assert clarion.autograd.gradgradcheck(lambda a: observe((a + a.mT) / 2), (a,), atol=1e-4)


def test_what_a_tracker_sees():
    for t in (clarion, torch):
        seen = []

        def tracker(worker, seen=seen):
            seen.append((worker.ivars["istep"], worker.ivars["converged_count"], tuple(worker.tvars["rerr"].shape)))
            assert (worker.iparams["k"], *worker.X.shape, *worker.E.shape) == (2, N, 2, 2)
            worker.bvars["force_stop"] = len(seen) == 4

        t.lobpcg(matrices(t)[0], k=2, tracker=tracker)
        # The first is what the vectors that it begins with give.
        assert seen == [(i, 0, (2,)) for i in range(1, 5)]


REFUSED = {
    "too small": lambda t, a, b: t.lobpcg(a, k=20),
    "other sizes": lambda t, a, b: t.lobpcg(a, B=b[:3]),
    "not square": lambda t, a, b: t.lobpcg(a[:5]),
    "integers": lambda t, a, b: t.lobpcg(t.eye(9, dtype=t.int64)),
    "vectors of another size": lambda t, a, b: t.lobpcg(a, X=t.ones(2, 2)),
    "no tensor": lambda t, a, b: t.lobpcg(3),
    "generalized gradient": lambda t, a, b: t.lobpcg(a.requires_grad_(), B=b)[0].sum().backward(),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    with pytest.raises(Exception) as wanted:
        REFUSED[case](torch, *matrices(torch))
    with pytest.raises(type(wanted.value)) as found:
        REFUSED[case](clarion, *matrices(clarion))
    if case != "no tensor":
        assert str(wanted.value).splitlines()[0] in str(found.value)


def test_products_with_missing_matrices():
    import torch._linalg_utils as theirs

    import clarion._linalg_utils as ours

    results = []
    for t, m in ((clarion, ours), (torch, theirs)):
        a, b = matrices(t)
        x = b[:, :3]
        sorted_values = m.symeig(a, largest=True)[0]
        q = m.basis(x)
        results.append(
            [m.qform(a, x), m.qform(None, x), m.bform(x, a, b), m.matmul(a.to_sparse(), x), sorted_values, q @ q.mT]
        )
    for mine, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-10)
