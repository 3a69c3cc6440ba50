"""Kernels compiled through LLVM compute what the portable ones do, on arrays of any form, in any process."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import clarion
from clarion.kernels import registry, threads
from clarion.kernels.llvm import build, machine
from clarion.kernels.llvm.kernel import Compiled, Rows, sum_of_columns
from clarion.kernels.trace import tracer
from clarion.kernels.trace.graph import Untraceable

from .test_offers import X, arguments, filled

pytestmark = pytest.mark.skipif(not machine.installed(), reason="llvmlite is not installed")

OFFERED = sorted(name for name in registry.names() if any(o.backend == "llvm" for o in registry.chain(name)))
KINDS: dict[str, type] = {name: type(registry._offers[name]["llvm"].function) for name in OFFERED}
_REDUCTIONS = ("sum", "mean", "var", "amax", "amin", "prod", "vector_norm")
ROWS = [name for name in OFFERED if KINDS[name] is Rows and name not in ("softmax_and_loss", *_REDUCTIONS)]
EACH = [name for name in OFFERED if KINDS[name] is Compiled and name != "where"]
SPECIAL = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    1e-45,
    1.0,
    -1.0,
    80.0,
    -80.0,
    1e30,
    -1e30,
    3.4e38,
    0.5,
    200.0,
]


@pytest.fixture
def any_size(monkeypatch):
    """Compiled kernels take arrays of any size."""
    monkeypatch.setattr(build, "CHEAP", 0)

    def kernel(name):
        found = copy.copy(registry._offers[name]["llvm"].function)
        found.known = {}
        return found

    return kernel


def agree(got, expected, dtype, why):
    parts = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    for a, b in parts:
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, *((1e-12, 1e-14) if dtype == "float64" else (4e-6, 1e-6)), err_msg=why)


# Forms of arrays ----------------------------------------------------------------------------------------


def strided(a):
    wide = np.zeros((*a.shape[:-1], a.shape[-1] * 3), a.dtype)
    wide[..., ::3] = a
    return wide[..., ::3]


FORMS = {
    "as it is": lambda a: a,
    "every third": strided,
    "turned": lambda a: np.asfortranarray(a),
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
}


@pytest.mark.parametrize("name", EACH)
def test_agrees_with_the_portable_kernel(name, any_size):
    kernel, plain = any_size(name), registry.portable(name)
    for dtype in ("float32", "float64"):
        for form in arguments(name):
            for shape in ((1,), (3, 5), (7, 0), (2, 33), (40, 1003)):
                args = filled(name, form, shape, dtype)
                with np.errstate(all="ignore"):
                    expected = plain(*args)
                for title, change in FORMS.items():
                    changed = [change(a) if isinstance(a, np.ndarray) and a.ndim else a for a in args]
                    agree(kernel(*changed), expected, dtype, f"{dtype} {shape} {form} {title}")


@pytest.mark.parametrize("name", [name for name in EACH if arguments(name)[0].count(X) > 1])
def test_broadcasts(name, any_size):
    kernel, plain = any_size(name), registry.portable(name)
    form = arguments(name)[0]
    for other in ((1,), (5,), (4, 1), ()):
        args = filled(name, form, (4, 5), "float32")
        args[1] = filled(name, form, other, "float32")[1]
        try:
            with np.errstate(all="ignore"):
                expected = plain(*args)
        except ValueError:
            continue  # an operation whose arrays have one shape
        agree(kernel(*args), expected, "float32", f"{other}")


def test_where(any_size):
    rng = np.random.default_rng(0)
    mask, a, b = rng.random((50, 33)) < 0.5, rng.random((50, 33)), rng.random(33)
    for x, y in ((a, b), (a.astype("f4"), b.astype("f4")), (a, np.asarray(0.0)), (strided(a), b)):
        np.testing.assert_array_equal(any_size("where")(mask, x, y), np.where(mask, x, y))


@pytest.mark.parametrize("name", EACH)
def test_agrees_on_values_that_are_no_usual_numbers(name, any_size):
    kernel, plain = any_size(name), registry.portable(name)
    for dtype in ("float32", "float64"):
        x = np.array(SPECIAL, dtype)
        for form in arguments(name):
            one, two = np.meshgrid(x, x)
            arrays = [one, two, one.T.copy(), two.T.copy()] if form.count(X) > 1 else [x] * 3
            args = [np.ascontiguousarray(arrays[i]) if a is X else a for i, a in enumerate(form)]
            args = [np.asarray(a, dtype) if isinstance(a, float) and name.startswith("xlogy") else a for a in args]
            with np.errstate(all="ignore"):
                expected = plain(*args)
                np.testing.assert_allclose(
                    kernel(*args), expected, *((1e-12, 0) if dtype == "float64" else (4e-6, 1e-43)), err_msg=str(form)
                )


# Rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_rows_agree_with_the_portable_kernel(name, any_size):
    kernel, plain = any_size(name), registry.portable(name)
    for dtype in ("float32", "float64"):
        for form in arguments(name):
            if form[-1] == 0:
                continue
            for shape in ((1, 1), (3, 5), (2, 16), (5, 33), (300, 48), (6, 5000)):
                args = filled(name, form, shape, dtype)
                with np.errstate(all="ignore"):
                    expected = plain(*args)
                agree(kernel(*args), expected, dtype, f"{dtype} {shape} {form}")


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_rows_agree_on_infinities(name, any_size):
    rows = np.array([[1, -np.inf, 2, 3], [np.nan, 1, 2, 3], [np.inf, 1, 2, 3], [-np.inf] * 4, [90, -90, 1e4, 0]], "f4")
    with np.errstate(all="ignore"):
        expected = registry.portable(name)(rows, 1)
        np.testing.assert_allclose(any_size(name)(rows, 1), expected, 4e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 17), (5, 700), (5, 7000), (3, 20000), (4, 0)])
def test_sums_and_means_of_rows(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    close = {"rtol": 1e-5, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-12}
    for form in (x, np.asfortranarray(x)):
        for dim in [(k,) for k in range(x.ndim)] + [tuple(range(x.ndim))]:
            for keep in (True, False):
                with np.errstate(all="ignore"):
                    wide = form.astype("f8")
                    np.testing.assert_allclose(registry.raw.sum(form, dim, keep), wide.sum(dim, keepdims=keep), **close)
                    if x.size:
                        np.testing.assert_allclose(
                            registry.raw.mean(form, dim, keep), wide.mean(dim, keepdims=keep), **close
                        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 3, 17), (5, 130), (5, 700), (2, 7000), (2, 20000)])
def test_other_reductions_of_rows(shape, dtype, any_size):
    x = np.random.default_rng(0).uniform(0.99, 1.01, shape).astype(dtype)
    x[0].reshape(-1)[: len(SPECIAL)] = SPECIAL[: x[0].size]
    close = {"rtol": 1e-5} if dtype == "float32" else {"rtol": 1e-12}
    dim = (x.ndim - 1,)
    for name, before in (("amax", ()), ("amin", ()), ("prod", ()), ("vector_norm", (2,)), ("vector_norm", (2.0,))):
        for keep in (True, False):
            with np.errstate(all="ignore"):
                expected = registry.portable(name)(x, *before, dim, keep)
                found = any_size(name)(x, *before, dim, keep)
            if found is NotImplemented:  # sums of long rows are made elsewhere, in blocks
                assert name == "vector_norm"
                assert shape[-1] > 1 << 14
                continue
            assert found.shape == expected.shape
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, **close, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_of_whole_arrays(dtype):
    for size in (1, 500, 700, 16_000, 100_001):
        x = np.random.default_rng(0).standard_normal(size).astype(dtype)
        for form in (x, x.reshape(1, -1), x[::-1]):
            found = registry.raw.vector_norm(form, 2, None, False)
            assert found.dtype == dtype
            np.testing.assert_allclose(
                found, np.sqrt((x.astype("f8") ** 2).sum()), 1e-6 if dtype == "float32" else 1e-14
            )
    for value in (np.inf, np.nan):
        x[70_000] = value
        with np.errstate(all="ignore"):
            np.testing.assert_equal(registry.raw.vector_norm(x, 2, None, False), abs(x.dtype.type(value)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["add_scaled", "sub_scaled", "lerp"])
def test_two_arrays_and_a_number_give_the_same_bits(name, dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((300, 300)).astype(dtype) for _ in range(2))
    for a, b in ((x, y), (x.T, y), (x, y[::-1])):
        for number in (0.1, -0.3, 0.5, 0.7, 1, 2, -3, 1e-30):
            expected = registry.portable(name)(a, b, number)
            assert np.array_equal(getattr(registry.raw, name)(a, b, number), expected)
            written = np.empty_like(a)
            getattr(registry.raw, name)(a, b, number, out=written)
            assert np.array_equal(written, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_losses_of_rows(dtype, any_size):
    rng = np.random.default_rng(0)
    for rows, classes in ((1, 1), (5, 3), (40, 65), (300, 16)):
        x, target = rng.standard_normal((rows, classes)).astype(dtype), rng.integers(0, classes, (rows, 1))
        expected = registry.portable("softmax_and_loss")(x, target)
        agree(any_size("softmax_and_loss")(x, target), expected, dtype, f"{rows} {classes}")
        agree(registry.raw.softmax_and_loss(x, target), expected, dtype, f"{rows} {classes}")
    assert type(registry.raw.softmax_and_loss) is type(len)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (64, 64), (63, 65), (1000, 1000)])
def test_sums_and_means_of_everything(shape, dtype):
    x = np.asarray(np.random.default_rng(0).standard_normal(shape), dtype)
    close = {"rtol": 1e-5 if dtype == "float32" else 1e-12, "atol": 1e-4 if dtype == "float32" else 1e-10}
    for form in (x, x.T, x[..., ::-1] if shape else x):
        np.testing.assert_allclose(registry.raw.sum_all(form), x.astype("f8").sum(), **close)
        np.testing.assert_allclose(registry.raw.mean_all(form), x.astype("f8").mean(), **close)
        assert registry.raw.sum_all(form).dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (1000, 17), (65, 130), (300, 256), (40, 3, 64), (4, 0)])
def test_sums_of_columns(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    expected = x.astype("f8").sum(tuple(range(x.ndim - 1)))
    for got in (registry.raw.sum_rows(x), registry.raw.sum(x, tuple(range(x.ndim - 1)), False), sum_of_columns(x)):
        if got is NotImplemented:
            assert not x.size
            continue
        assert got.dtype == x.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_there_may_be_fewer_columns_than_threads(columns):
    x = np.ones((4, columns))
    before = clarion.get_num_threads()
    try:
        clarion.set_num_threads(7)
        assert sum_of_columns(x).tolist() == [4.0] * columns
    finally:
        clarion.set_num_threads(before)


# Layers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [clarion.float32, clarion.float64])
@pytest.mark.parametrize("outside", [True, False])
def test_lstm(dtype, outside):
    clarion.manual_seed(0)
    layer, plain = (
        (registry._offers[name]["llvm"].function for name in ("lstm_layer", "lstm_layer_backward")),
        registry.portable,
    )
    forward, backward = layer
    kind = dtype.numpy
    rng = np.random.default_rng(0)
    x, w_ih, w_hh, b, h0, c0 = (
        rng.standard_normal(s).astype(kind) * 0.3 for s in ((20, 6), (40, 6), (40, 10), (40,), (4, 10), (4, 10))
    )
    tolerance = {"rtol": 1e-10} if kind == np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for steps in (tuple((k, 4) for k in range(0, 20, 4)), tuple((k, 4) for k in range(16, -1, -4))):
        args = (x, w_ih, w_hh, b, None, h0, c0, None, steps)
        results, expected = forward(*args), plain("lstm_layer")(*args)
        for got, value in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, value, **tolerance)
        out, h, c, gates, cells = expected
        g = (out * 0.5 if outside else None, h * 2, c * 3)
        rest = (x, w_ih, w_hh, h0, c0, None, steps, out, gates, cells, (True,) * 8)
        for got, value in zip(backward(g, *rest), plain("lstm_layer_backward")(g, *rest), strict=True):
            if value is not None:
                np.testing.assert_allclose(got, value, **tolerance)
    packed = ((0, 4), (4, 2))
    assert forward(x, w_ih, w_hh, b, None, h0, c0, None, packed) is NotImplemented


@pytest.mark.parametrize(
    "form", ["plain", "causal", "floats", "booleans", "padding", "both", "dropout", "causal dropout"]
)
@pytest.mark.parametrize("sizes", [(33, 33), (40, 21), (21, 40), (700, 520)], ids=str)
def test_attention(form, sizes):
    rng = np.random.default_rng(0)
    m, n = sizes
    for kind, rtol in ((np.float32, 2e-5), (np.float64, 1e-12)):
        q, g = (
            rng.standard_normal((m, 3, 2, 8)).astype(kind).transpose(1, 2, 0, 3) for _ in range(2)
        )  # heads side by side
        k, v = (rng.standard_normal((3, 2, n, 8)).astype(kind) for _ in range(2))
        masks = {"floats": rng.standard_normal((m, n)).astype(kind), "booleans": rng.random((m, n)) < 0.5}
        masks["padding"] = rng.random((3, 1, 1, n)) < 0.6
        masks["padding"][1] = False  # nowhere to look
        masks["both"] = masks["booleans"]
        kept = rng.random((3, 2, m, n)) < 0.8
        bits = np.concatenate([np.packbits(kept, bitorder="little"), np.zeros(8, np.uint8)])
        drop = kept.astype(kind) / kind(0.8) if "dropout" in form else None
        mask, causal = masks.get(form), form in ("causal", "both", "causal dropout")
        results = []
        for name in ("llvm", "portable"):
            run = {"llvm": lambda n: registry._offers[n]["llvm"].function, "portable": registry.portable}[name]
            out, probs = run("scaled_dot_product_attention")(q, k, v, mask, drop, 0.3, causal)
            found = [out, probs, *run("attention_backward")(g, q, k, v, drop, probs, 0.3, (True,) * 4)]
            if drop is None:
                out, lse = run("tiled_attention")(q, k, v, mask, 0.3, causal)
                more = run("tiled_attention_backward")(g, q, k, v, mask, out, lse, 0.3, causal, (True,) * 4)
                found += [out, np.exp(lse), *more]
            else:
                out, lse = run("dropped_attention")(q, k, v, mask, bits, 0.3, causal, 0.2)
                np.testing.assert_allclose(out, found[0], rtol, rtol)
                more = (bits, out, lse, 0.3, causal, 0.2, (True,) * 4)
                found += [out, np.exp(lse), *run("dropped_attention_backward")(g, q, k, v, mask, *more)]
            results.append(found)
        for got, expected in zip(*results, strict=True):
            np.testing.assert_allclose(got, expected, rtol, rtol * max(1, abs(expected).max()))


@pytest.mark.parametrize("correction", [0, 1.0, 2])
@pytest.mark.parametrize("keepdim", [True, False])
def test_variance(correction, keepdim, monkeypatch):
    rng = np.random.default_rng(0)
    kernel = registry._offers["var"]["llvm"].function
    monkeypatch.setattr(
        kernel, "known", {}
    )  # (other tests may have had as many versions made as are made of one kernel)
    for kind, rtol in ((np.float32, 2e-5), (np.float64, 1e-12)):
        for shape in ((8, 16), (5, 7, 33), (3, 1000)):
            x = (rng.standard_normal(shape) + 3).astype(kind)
            x[0] = 1.1  # equal numbers vary by nothing
            args = ((x.ndim - 1,), correction, keepdim)
            got = kernel(x, *args)
            expected = registry.portable("var")(x.astype(np.float64), *args)
            assert got.shape == expected.shape
            assert not got[0].any()
            np.testing.assert_allclose(got, expected, rtol, rtol)


# What cannot be compiled ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda xp, x: x if x.sum() > 0 else -x,
        lambda xp, x: xp.sort(x),
        lambda xp, x: x.reshape(-1, 2),
        lambda xp, x: x[::2],
        lambda xp, x: float(x) + x,
    ],
)
def test_what_is_no_expression_is_refused(function):
    with pytest.raises(Untraceable):
        tracer.trace(function, [tracer.Input(np.float32)])


def test_a_kernel_declines_types_it_has_no_arithmetic_for():
    kernel = registry._offers["add"]["llvm"].function
    whole = np.arange(100_000)
    assert kernel(whole, whole) is NotImplemented
    np.testing.assert_array_equal(registry.bind("add")(whole, whole), whole * 2)


def test_many_parameters_are_not_compiled_again_and_again():
    kernel = Compiled("elu", registry._offers["elu"]["llvm"].function.trace)
    x = np.ones(5000, np.float32)
    for alpha in np.linspace(0.1, 1, 40):
        kernel(x, float(alpha), 1, 1)
    assert sum(found is not None for found in kernel.known.values()) <= 16


# Threads and processes -----------------------------------------------------------------------------------


def test_threads_share_and_give_the_same_numbers():
    x = clarion.randn(1_000_003)
    before = threads.number()
    try:
        threads.limit(1)
        alone = clarion.nn.functional.gelu(x).numpy().copy()
        threads.limit(3)
        results = []
        several = [
            threading.Thread(target=lambda: results.append(clarion.nn.functional.gelu(x).numpy())) for _ in range(4)
        ]
        for thread in several:
            thread.start()
        for thread in several:
            thread.join()
        for result in results:
            np.testing.assert_array_equal(result, alone)
    finally:
        threads.limit(before)


def run(program, **environment):
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True).stdout


WORK = """
import clarion as torch
x = torch.linspace(-3, 3, 200_000)
print(float(torch.nn.functional.gelu(x).sum()))
"""


def test_works_without_llvmlite_without_a_cache_and_after_fork(tmp_path):
    plain = float(run("import sys; sys.modules['llvmlite'] = None\n" + WORK))
    (tmp_path / "file").write_text("")  # a folder that cannot be made
    unkept = float(run(WORK, CLARION_CACHE=str(tmp_path / "file")))
    fork = "import os, sys\nsys.stdout.flush()\npid = os.fork()\nif pid: os.wait()\n"
    forked = WORK + fork + WORK
    values = [float(line) for line in run(forked, CLARION_CACHE=str(tmp_path / "kept")).split()]
    assert len(values) == 3  # before, the child's, the parent's
    assert len(list((tmp_path / "kept").glob("*.o"))) >= 2
    assert not list((tmp_path / "kept").glob("*.part"))
    np.testing.assert_allclose([unkept, *values], plain, rtol=1e-6)


def test_a_damaged_object_is_compiled_again(tmp_path):
    first = run(WORK, CLARION_CACHE=str(tmp_path))
    for kept in tmp_path.glob("*.o"):
        kept.write_bytes(kept.read_bytes()[:100])
    assert run(WORK, CLARION_CACHE=str(tmp_path)) == first


def test_the_compiler_is_not_loaded_for_small_arrays_or_what_is_kept(tmp_path):
    program = "import sys, clarion as t\nx = t.ones(100)\n(x * 2 + x).relu(){}\nprint('llvmlite' in sys.modules)"
    there = {"CLARION_COMPILE": "1", "CLARION_CACHE": str(tmp_path / "kept")}
    nowhere = there | {"CLARION_CACHE": os.devnull}
    assert run(program.format(""), **there).strip() == "False"
    assert [run(program.format(".exp()"), **there).strip() for _ in range(2)] == ["True", "False"]
    assert run(program.format(".exp()"), **nowhere).strip() == "False"  # nothing can be kept: only what is worth it


def test_a_folder_that_is_read_only_is_read(tmp_path):
    first = run(WORK, CLARION_CACHE=str(tmp_path))
    before = sorted(tmp_path.iterdir())
    code = "import os\nopen_ = os.open\ndef refuse(path, flags, *args, **more):\n"
    code += "    if flags & os.O_WRONLY or flags & os.O_RDWR: raise PermissionError(path)\n"
    code += "    return open_(path, flags, *args, **more)\nos.open = refuse\nimport os, sys\n"
    tmp_path.chmod(0o555)
    try:
        # (An administrator may write anywhere: there the refusal is played.)
        assert run(code + WORK + "print('llvmlite' in sys.modules)", CLARION_CACHE=str(tmp_path)) == first + "False\n"
        more = WORK.replace("gelu", "silu")
        assert run(code + more, CLARION_CACHE=str(tmp_path)) == run(more, CLARION_CACHE=os.devnull)
    finally:
        tmp_path.chmod(0o755)
    assert sorted(tmp_path.iterdir()) == before


def test_two_processes_share_a_cold_cache(tmp_path):
    env = {**os.environ, "CLARION_CACHE": str(tmp_path)}
    several = [
        subprocess.Popen([sys.executable, "-c", WORK], env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    results = [process.communicate()[0] for process in several]
    assert all(process.returncode == 0 for process in several)
    assert len(set(results)) == 1
    assert not list(tmp_path.glob("*.part"))
    assert run(WORK, CLARION_CACHE=str(tmp_path)) == results[0]
