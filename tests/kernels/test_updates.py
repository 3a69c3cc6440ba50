"""Every way to compute an update in place gives what the rule gives as an expression."""

from __future__ import annotations

import numpy as np
import pytest

import clarion  # noqa: F401  (registers the kernels)
from clarion.kernels import registry
from clarion.kernels.numpy import updates as inplace
from clarion.kernels.updates import RULES

# Rule, how many arrays of state, how many numbers, and the words of each form.
FORMS = [
    ("sgd", 0, 1, ()),
    ("sgd", 1, 2, ("first", "momentum")),
    ("sgd", 1, 2, ("momentum",)),
    ("sgd", 1, 3, ("damped", "momentum")),
    ("sgd", 1, 2, ("momentum", "nesterov")),
    ("asgd", 1, 2, ()),
    ("asgd", 1, 3, ("averaging",)),
    ("rprop", 2, 4, ()),
    ("adagrad", 1, 2, ()),
    ("adadelta", 2, 4, ()),
    ("rmsprop", 1, 4, ()),
    ("rmsprop", 2, 5, ("momentum",)),
    ("rmsprop", 2, 4, ("centered",)),
    ("rmsprop", 3, 5, ("momentum", "centered", "far")),
    ("adam", 2, 5, ()),
    ("adam", 2, 5, ("far",)),
    ("adam", 3, 5, ("amsgrad",)),
    ("nadam", 2, 6, ()),
    ("radam", 2, 4, ("plain",)),
    ("radam", 2, 5, ()),
    ("adamax", 2, 4, ()),
]
BEFORE = {(): 0, ("maximize",): 0, ("decay",): 1, ("decay", "maximize"): 1, ("shrink",): 1, ("shrink", "maximize"): 1}


def test_every_rule_stands_here():
    assert set(RULES) == {name for name, *_ in FORMS}


def arrays(count: int, size: int, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(size)
    p, g, *kept = rng.uniform(0.1, 1, (count, size)).astype(dtype)
    return [p, g - dtype_of(dtype)(0.5), *kept]


def dtype_of(dtype: str) -> type:
    return np.dtype(dtype).type


@pytest.mark.parametrize("words", BEFORE)
@pytest.mark.parametrize(("name", "kept", "numbers", "how"), FORMS)
def test_in_place(name, kept, numbers, how, words):
    values = tuple(np.random.default_rng(7).uniform(0.01, 0.3, BEFORE[words] + numbers).tolist())
    for offer in registry.chain(f"{name}_"):
        for dtype in ("float32", "float64"):
            for size in (0, 1, 37, inplace.PIECE // 4 + 5):
                old = arrays(2 + kept, size, dtype)
                if name == "rprop":
                    old[2] -= dtype_of(dtype)(0.5)
                p, g, *state = (each.copy() for each in old)
                with np.errstate(all="ignore"):
                    expected = registry.portable(name)(*old[:2], tuple(old[2:]), values, words + how)
                    if offer.accepts is None or offer.accepts(p, g, tuple(state), values, words + how):
                        offer.function(p, g, tuple(state), values, words + how)
                    else:
                        continue
                exact = offer.backend in ("numpy", "portable")
                rtol = 0 if exact else 1e-5 if dtype == "float32" else 1e-12
                assert np.array_equal(g, old[1])
                for got, wanted in zip((p, *state), expected, strict=True):
                    assert got.dtype == wanted.dtype == np.dtype(dtype)
                    np.testing.assert_allclose(
                        got, wanted, rtol, rtol * 1e-2, err_msg=f"{offer.backend} {dtype} {size}"
                    )


def test_infinite_gradients_that_turn_are_forgotten():
    p, g, before, size = (np.array(x, "float32") for x in ([1.0, 1.0], [-np.inf, np.inf], [1.0, 1.0], [0.1, 0.1]))
    registry.raw.rprop_(p, g, (before, size), (0.5, 1.2, 1e-6, 50.0), ())
    assert before.tolist() == [0.0, np.inf]
    np.testing.assert_allclose(p, [1.0, 1.0 - 0.12], rtol=1e-6)


def test_threads_compute_in_memory_of_their_own():
    from concurrent.futures import ThreadPoolExecutor

    def step(seed: int) -> np.ndarray:
        p, g, average, square = arrays(4, 5000, "float64")
        p += seed
        for _ in range(20):
            registry.raw.adam_(p, g * seed, (average, square), (0.1, 0.999, 0.001, 1e-8, -0.01 * seed), ())
        return p

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(step, range(1, 9)))
    for seed, found in enumerate(together, 1):
        assert np.array_equal(found, step(seed))


def compiled(name):
    """The compiled kernel of a name; the test is skipped where there is none."""
    if "llvm" not in registry.offers(name):
        pytest.skip("llvmlite is not installed")
    return registry.offers(name)["llvm"]


@pytest.mark.parametrize("shape", [(64, 64), (65, 63)])
def test_passes_of_muon_have_the_same_bits(shape):
    start, end = np.random.default_rng(0).standard_normal((2, *shape)).astype("f")
    for weight in (0.05, 0.95, 0.5):
        results = [start.copy(), start.copy()]
        for call, to in zip(
            (compiled("muon_between").function, registry.portable("muon_between")), results, strict=True
        ):
            assert call(to, end, weight, to) is not NotImplemented
        np.testing.assert_array_equal(*results)
    results = [start.copy(), start.copy()]
    for call, to in zip((compiled("muon_add_").function, registry.portable("muon_add_")), results, strict=True):
        assert call(to, end, 0.9, 0.003) is None
    np.testing.assert_array_equal(*results)


def test_matrices_of_muon_are_normalized_alike():
    call = compiled("muon_normalized").function
    updates = np.random.default_rng(0).standard_normal((3, 64, 96)).astype("f")
    found = call(updates, 1e-7)
    if found is NotImplemented:
        pytest.skip("the processor has no products of bfloat16")
    np.testing.assert_array_equal(found, registry.portable("muon_normalized")(updates, 1e-7))


def test_symmetric_products_have_the_same_bits():
    from clarion.kernels.llvm import orthogonal
    from clarion.kernels.llvm.products.calls import products_of_pairs

    compiled("muon_orthogonal")
    if products_of_pairs() is None:
        pytest.skip("the processor has no products of bfloat16")
    multiply = products_of_pairs().matrices
    for rows in (32, 64, 96, 160, 192):
        bits = np.random.default_rng(rows).standard_normal((rows, 40)).astype("f").view(np.uint32)
        x = (bits & 0xFFFF0000 | bits >> 16 & 0xBFFF).view(np.float32)  # two finite numbers of bfloat16 in each
        found = np.full((rows, rows), np.nan, np.float32)
        orthogonal._run([[orthogonal._with_itself(x, found)]])
        np.testing.assert_array_equal(found.view(np.uint32), multiply(x, x.T).view(np.uint32))
