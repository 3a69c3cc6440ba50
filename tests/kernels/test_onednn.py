"""Products and convolutions by oneDNN: what the portable kernels compute, in any layout, in any process and thread."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import clarion as torch
from clarion.kernels import registry
from clarion.kernels.onednn import library

pytestmark = pytest.mark.skipif(library.missing() is not None, reason="oneDNN is not installed")


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def offered(name, *args):
    """What oneDNN computes, and what the portable kernel does in float64."""
    wide = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in args]
    return registry.offers(name)["onednn"].function(*args), registry.portable(name)(*wide)


def close(name, *args):
    got, expected = offered(name, *args)
    assert got is not NotImplemented, name
    assert got.dtype == np.float32
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, 1e-4, 1e-4 * np.abs(expected).max(), err_msg=name)


# Products ----------------------------------------------------------------------------------------------------

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
    close("addmm", draw(M, N), draw(M, K), draw(K, N), 1, 1)


@pytest.mark.parametrize("name", ["matmul", "bmm"])
def test_batches_are_one_call(name):
    for x in layouts(6, 64, 65):
        for y in layouts(6, 65, 66):
            close(name, x, y)
    heads = draw(4, 64, 6, 32).transpose(0, 2, 1, 3)  # as attention cuts them
    close("matmul_nt", heads, draw(4, 6, 64, 32))
    close("matmul_tn", heads, draw(4, 6, 64, 32))


def test_offers_can_be_declined():
    assert all(offer.accepts or offer.least for name in registry.names() for offer in registry.chain(name)[:-1])
    assert all(registry.chain(name)[-1].backend != "onednn" for name in registry.names())


def test_what_is_not_for_it_is_declined():
    large = draw(M, K)
    for name, args in [
        ("mm", (draw(4, 4), draw(4, 4))),  # too small
        ("mm", (large.astype(np.float64), draw(K, N).astype(np.float64))),
        ("mm", (large[:, ::2], draw(K // 2, 400))),  # neither rows nor columns lie together
        ("mm", (np.broadcast_to(draw(1, K), (M, K)), draw(K, N))),
        ("matmul", (np.broadcast_to(draw(1, 64, 64), (8, 64, 64)), draw(8, 64, 64))),
        ("addmm", (draw(N), large, draw(K, N), 2, 1)),
    ]:
        assert registry.offers(name)["onednn"].function(*args) is NotImplemented


def test_shapes_that_do_not_fit_are_refused_as_ever():
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.randn(200, 300) @ torch.randn(200, 300)


# Convolutions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize(
    ("ksize", "stride", "padding", "dilation"),
    [
        ((3, 3), (1, 1), (1, 1), (1, 1)),
        ((3, 2), (2, 1), (0, 1), (1, 2)),
        ((5, 5), (3, 3), (2, 2), (1, 1)),
        ((3,), (2,), (1,), (2,)),
        ((2, 3, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1)),
    ],
)
def test_convolutions_and_their_gradients(ksize, stride, padding, dilation, groups):
    x = draw(3, 8, *(12, 11, 9)[: len(ksize)])
    weight = draw(16, 8 // groups, *ksize)
    geometry = (stride, padding, dilation, groups)
    close("correlate", x, weight, *geometry)
    out = registry.portable("correlate")(x, weight, *geometry)
    close("correlate_input", out, weight, *geometry, x.shape[2:])
    if groups in (1, 8):  # the others leave vectors empty, and are declined
        close("correlate_weight", out, x, *geometry, ksize)
    bias = draw(16)
    close("convolution", x, weight, bias, stride, padding, dilation, False, (0,) * len(ksize), groups)
    turned = draw(8, 16 // groups, *ksize)
    close("convolution", x, turned, bias, stride, padding, dilation, True, (0,) * len(ksize), groups)


def test_images_in_any_layout():
    x, weight = draw(2, 9, 9, 8).transpose(0, 3, 1, 2), draw(4, 3, 3, 8).transpose(0, 3, 1, 2)
    close("correlate", x, weight, (1, 1), (1, 1), (1, 1), 1)
    out = registry.offers("correlate")["onednn"].function(x, weight, (1, 1), (1, 1), (1, 1), 1)
    assert out.strides == registry.portable("correlate")(x, weight, (1, 1), (1, 1), (1, 1), 1).strides
    assert out.transpose(0, 2, 3, 1).flags.c_contiguous  # channels stay last
    close("correlate_input", out, weight, (1, 1), (1, 1), (1, 1), 1, (9, 9))
    close("correlate_weight", out, x, (1, 1), (1, 1), (1, 1), 1, (3, 3))
    g = np.broadcast_to(np.float32(1), (2, 4, 9, 9))  # the gradient of a sum
    close("correlate_input", g, weight, (1, 1), (1, 1), (1, 1), 1, (9, 9))
    close("correlate_weight", g, x, (1, 1), (1, 1), (1, 1), 1, (3, 3))


def test_a_training_step_uses_it(monkeypatch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 30 * 30, 64)
    )
    x = torch.randn(8, 3, 32, 32)

    def gradients():
        model.zero_grad()
        model(x).square().sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    fast = gradients()
    kept = {name: registry.offers(name)["onednn"] for name in registry.names() if "onednn" in registry.offers(name)}
    registry.withdraw("onednn")
    try:
        plain = gradients()
    finally:
        for name, offer in kept.items():
            registry.offer(name, "onednn", offer.function, offer.accepts, offer.writes, offer.least)
    for one, other in zip(fast, plain, strict=True):
        assert torch.allclose(one, other, 1e-4, 1e-3)
        assert not torch.equal(one, other)  # another order of additions: it did come from elsewhere


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
            os._exit(0 if torch.allclose(x @ x, before, 1e-3, 1e-3) else 1)
        print(os.waitpid(pid, 0)[1], torch.allclose(x @ x, before, 1e-3, 1e-3))
        """,
        OMP_NUM_THREADS="2",
    ) == ["0", "True"]


def test_it_is_loaded_when_it_is_needed():
    program = """
        import clarion as torch
        from clarion.kernels.onednn import library
        torch.ones(4, 4) @ torch.ones(4, 4)
        print(library.library.cache_info().currsize)
        torch.ones(200, 200) @ torch.ones(200, 200)
        print(library.library.cache_info().currsize)
        """
    assert run(program) == ["0", "1"]


def test_without_it_numpy_computes():
    program = """
        import clarion as torch
        from clarion.kernels import registry
        print("onednn" in registry.offers("mm"), int((torch.ones(200, 200) @ torch.ones(200, 200)).sum()))
        """
    assert run(program, CLARION_ONEDNN="0") == ["False", "8000000"]


def test_a_library_that_cannot_be_loaded_withdraws_its_offers(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libdnnl.so.3").write_text("no library")
    program = """
        import sys
        from clarion.kernels.onednn import library
        library._path = lambda: sys.argv[0] or FILE
        import clarion as torch
        from clarion.kernels import registry
        print(int((torch.ones(200, 200) @ torch.ones(200, 200)).sum()), "onednn" in registry.offers("mm"))
        print("cannot be loaded" in library.missing())
        """.replace("sys.argv[0] or FILE", repr(str(tmp_path / "lib" / "libdnnl.so.3")))
    assert run(program) == ["8000000", "False", "True"]


def test_several_threads_at_once():
    x = torch.randn(256, 256)
    expected = x @ x
    wrong = []

    def multiply():
        for _ in range(20):
            if not torch.allclose(x @ x, expected, 1e-3, 1e-3):
                wrong.append(1)

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
