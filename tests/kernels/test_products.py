"""Compiled matrix products: what the portable kernels compute, in any layout, in any process and thread."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import clarion as torch
from clarion.kernels import registry
from clarion.kernels.llvm.products import calls, few_rows

pytestmark = pytest.mark.skipif("llvm" not in registry.offers("mm"), reason="llvmlite is not installed")


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape, dtype)


def close(name, *args):
    """What is offered is what the portable kernel computes, which does so in float64."""
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in args]
    got, expected = registry.offers(name)["llvm"].function(*args), registry.portable(name)(*wide)
    assert got is not NotImplemented, name
    assert got.dtype == args[0].dtype
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, 1e-5, 1e-6 * np.abs(expected).max(), err_msg=name)


M, K, N = 130, 150, 170


def layouts(*shape):
    """A matrix (or several) as it may lie: in rows, in columns, as a part of something larger."""
    yield draw(*shape)
    yield draw(*shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2)
    yield draw(*shape[:-1], shape[-1] + 6)[..., 3:-3]


@pytest.mark.parametrize("name", ["mm", "matmul", "fold_mm"])
def test_products_in_any_layout(name):
    for x in layouts(M, K):
        for y in layouts(K, N):
            close(name, x, y)


def test_transposed_products():
    for x in layouts(M, K):
        close("fold_nt", x, draw(N, K))
        close("matmul_nt", x, draw(N, K))
    close("fold_tn", draw(K, M), draw(K, N))
    close("fold_tn", draw(5, 30, M), draw(5, 30, N))
    close("matmul_tn", draw(K, M), draw(K, N))
    close("fold_mm", draw(5, 26, K), draw(K, N))


def test_a_bias_is_added():
    close("linear", draw(M, K), draw(N, K), draw(N))
    close("linear", draw(M, K), draw(N, K), None)
    close("linear_rows", draw(5, 26, K), draw(N, K), draw(N))
    close("addmm", draw(N), draw(M, K), draw(K, N), 1, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 700, 803), (1, 263, 1001), (1, 4001, 131), (2, 131, 1003), (7, 263, 212), (16, 513, 70)]
)
def test_few_rows_beside_a_transposed_matrix(m, k, n, dtype):
    x, w, bias = draw(m, k, dtype=dtype), draw(n, k, seed=1, dtype=dtype), draw(n, seed=2, dtype=dtype)
    for each in (w, draw(n, k + 5, seed=3, dtype=dtype)[:, 2:-3]):
        assert few_rows.is_for(x, each.T)
        close("fold_nt", x, each)
        close("linear", draw(m, k + 3, seed=4, dtype=dtype)[:, 1:-2], each, bias)
        close("linear", x, each, np.repeat(bias, 2)[::2])


@pytest.mark.parametrize("name", ["matmul", "bmm"])
def test_batches_are_one_call(name):
    for x in layouts(6, 64, 65):
        for y in layouts(6, 65, 66):
            close(name, x, y)
    heads = draw(4, 64, 6, 32).transpose(0, 2, 1, 3)  # as attention cuts them
    close("matmul_nt", heads, draw(4, 6, 64, 32))
    close("matmul_tn", heads, draw(4, 6, 64, 32))


def test_any_strides():
    """Parts of something larger, broadcast, backwards, every other element; sizes that fill no tile."""
    for m, k, n in ((1, 700, 1000), (1000, 700, 1), (97, 91, 33), (15, 800, 31), (93, 1, 3000), (64, 1100, 600)):
        close("mm", draw(m, k), draw(k, n))
        close("mm", draw(m, 2 * k)[:, ::2], draw(k, 3 * n)[:, ::3])
        close("mm", draw(m, k)[::-1, ::-1], draw(n, k).T[::-1])
        close("mm", np.broadcast_to(draw(1, k), (m, k)), np.broadcast_to(draw(k, 1), (k, n)))


def test_float64():
    x, y = draw(M, K, dtype=np.float64), draw(K, N, dtype=np.float64)
    got = registry.offers("mm")["llvm"].function(x, y)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, x @ y, 1e-12, 1e-12)


def test_what_is_not_for_it_is_declined():
    large = draw(M, K)
    for name, args in [
        ("mm", (draw(4, 4), draw(4, 4))),  # too small
        ("mm", (large.astype(np.complex64), draw(K, N).astype(np.complex64))),
        ("mm", (large.astype(np.int64), large.T.astype(np.int64))),
        ("mm", (large, draw(K, N).astype(np.float64))),
        ("matmul", (draw(1, 64, 64), draw(8, 64, 64))),
        ("matmul", (draw(64, 2000), draw(2000))),
        ("addmm", (draw(N), large, draw(K, N), 2, 1)),
        ("addmm", (draw(M, N), large, draw(K, N), 1, 1)),
    ]:
        assert registry.offers(name)["llvm"].function(*args) is NotImplemented


def test_shapes_that_do_not_fit_are_refused_as_ever():
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.randn(200, 300) @ torch.randn(200, 300)


def test_infinities_are_values():
    x = torch.full((100, 100), 1e38)
    with np.errstate(all="raise"):
        assert torch.isinf(x @ x).all()
    x[0, 0] = float("nan")
    assert (x @ torch.eye(100)).isnan().sum() == 100


def test_threads_change_no_bit():
    x, y = draw(300, 500), draw(500, 400)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            results.append(registry.raw.mm(x, y))
    finally:
        torch.set_num_threads(before)
    assert all(np.array_equal(results[0], other) for other in results[1:])


# Processes and threads -----------------------------------------------------------------------------------------


def run(program, **environment):
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=100, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_forked_process_multiplies_too():
    assert run(
        """
        import os
        import clarion as torch
        x = torch.randn(300, 300)
        before = x @ x
        pid = os.fork()
        if pid == 0:
            os._exit(0 if torch.equal(x @ x, before) else 1)
        print(os.waitpid(pid, 0)[1], torch.equal(x @ x, before))
        """,
        OMP_NUM_THREADS="2",
    ) == ["0", "True"]


def test_it_is_compiled_when_it_is_needed():
    program = """
        import clarion as torch
        from clarion.kernels.llvm.products import calls
        torch.ones(4, 4) @ torch.ones(4, 4)
        print(calls.products.cache_info().currsize)
        torch.ones(200, 200) @ torch.ones(200, 200)
        print(calls.products.cache_info().currsize)
        """
    assert run(program) == ["0", "1"]


def test_blas_keeps_to_one_thread():
    """Its threads would look for work while loops want the processors; factorizations get them all."""
    program = """
        import numpy as np
        from clarion.kernels import blas
        told = []
        blas.set_threads = told.append
        import clarion as torch
        torch.ones(300, 300) @ torch.ones(300, 300)
        torch.linalg.inv(torch.eye(300))
        torch.set_num_threads(3)
        print(*told)
        """
    assert run(program, OMP_NUM_THREADS="2") == ["1", "2", "1", "1"]


def test_several_threads_at_once():
    x = torch.randn(256, 256)
    expected = x @ x
    wrong = []

    def multiply():
        for _ in range(20):
            if not torch.equal(x @ x, expected):
                wrong.append(1)

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_processors(monkeypatch):
    """The text for registers of 16 and 32 bytes, and for another processor, is LLVM's language, too."""
    from clarion.kernels.llvm import machine
    from clarion.kernels.llvm.products import blocks, rooms
    from clarion.kernels.llvm.products.tiles import shape_for
    from clarion.kernels.llvm.text import module

    for scalar in ("float", "double"):
        for width, x86 in ((16, True), (32, True), (16, False)):
            text = module(blocks.functions(shape_for(scalar, width, x86), x86), rooms.GLOBALS)
            machine.binding().parse_assembly(text).verify()


@pytest.mark.parametrize("shape", [(2, 64, 96), (1, 128, 64)], ids=str)
def test_muon_in_pairs_of_bfloat16(shape):
    if calls.products_of_pairs() is None:
        pytest.skip("the processor does not multiply bfloat16")
    updates = registry.portable("muon_normalized")(np.random.default_rng(0).standard_normal(shape), 1e-7)
    given = (3.4445, -4.775, 2.0315), 5
    expected = registry.portable("muon_orthogonal")(updates.copy(), *given)
    got = registry._offers["muon_orthogonal"]["llvm"].function(updates.copy(), *given)
    # Sums in another order round differently now and then, and the iteration magnifies that.
    assert np.linalg.norm(got - expected) < 0.02 * np.linalg.norm(expected)
    assert not (got.view(np.uint32) & 0xFFFF).any()  # bfloat16 can hold it
