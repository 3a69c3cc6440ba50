"""The random draws against numbers taken from PyTorch 2.13, without PyTorch installed."""

from __future__ import annotations

import copy
import hashlib
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from clarion.kernels import distributions as D
from clarion.kernels import permutation
from clarion.kernels import random as R
from clarion.kernels.boxmuller import fma32, fma64
from clarion.kernels.random import Generator

SIZES = (1, 7, 15, 16, 17, 31, 33, 100, 623, 625, 2000, 0)
INT64_MIN = -(1 << 63)


def chances(n: int, dtype: type) -> np.ndarray:
    return np.arange(n, dtype=dtype) / dtype(max(n, 1))


# Each is called for every size after manual_seed(2024); the digest covers all the bytes PyTorch drew,
# and the state it ended in.
EXACT: dict[str, tuple[Callable[[Generator, int], np.ndarray], str]] = {
    "rand": (lambda g, n: R.uniform(g, n), "5c38322c1c742b67"),
    "rand float64": (lambda g, n: R.uniform(g, n, np.float64), "65b3d907a1591089"),
    "rand float16": (lambda g, n: R.uniform(g, n, np.float16), "b8b6b6c45cd660fd"),
    "rand complex64": (lambda g, n: R.uniform(g, n, np.complex64), "c8c1dbcfa06b5d78"),
    "uniform": (lambda g, n: R.uniform(g, n, np.float32, -0.37, 0.71), "13d49b3085df5eda"),
    "uniform float64": (lambda g, n: R.uniform(g, n, np.float64, -0.37, 0.71), "2ff9a9445a2a2d67"),
    "randint": (lambda g, n: R.randint(g, n, -5, 1000), "45f025e934f3a0ab"),
    "randint 64 bits": (lambda g, n: R.randint(g, n, -(2**40), 2**50), "73ee5eece8de497e"),
    "randint int8": (lambda g, n: R.randint(g, n, -100, 100, np.int8), "33859a4376ecb726"),
    "random": (lambda g, n: R.random(g, n, np.int64), "f77ba904db75305b"),
    "random float32": (lambda g, n: R.random(g, n, np.float32), "965c2980565e3348"),
    "random bool": (lambda g, n: R.random(g, n, np.bool_), "71852908a24fcb99"),
    "random all 64 bits": (lambda g, n: R.random(g, n, np.int64, INT64_MIN, None), "e81d49ca57537140"),
    "randperm": (lambda g, n: permutation.randperm(g, n), "693044ca937e5081"),
    "bernoulli": (lambda g, n: R.bernoulli(g, n, 0.3), "2e0931bb6fa02348"),
    "bernoulli each": (lambda g, n: R.bernoulli_each(g, chances(n, np.float32)), "a825cb7231121957"),
    "bernoulli each float64": (lambda g, n: R.bernoulli_each(g, chances(n, np.float64)), "b29f9d9379d7b234"),
    "dropout": (lambda g, n: R.dropout_mask(g, n, 0.2), "e84ee347e7c45ea8"),
    "normal": (lambda g, n: R.normal(g, max(n, 16)), "58136719f80fdbff"),
    "normal scaled": (lambda g, n: R.normal(g, max(n, 16), np.float32, 0.3, 1.7), "3a5baedeb7b2a094"),
    "normal float16": (lambda g, n: R.normal(g, max(n, 16), np.float16), "551d0c4265ff116e"),
}


def digest(*arrays: np.ndarray, length: int = 16) -> str:
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:length]


@pytest.mark.parametrize("name", EXACT)
def test_same_bytes_and_same_state(name: str) -> None:
    draw, expected = EXACT[name]
    gen = Generator(2024)
    drawn = [draw(gen, n) for n in SIZES]
    assert digest(*drawn, gen.get_state()) == expected
    assert all(a.flags.c_contiguous for a in drawn)


def test_a_hundred_thousand() -> None:
    gen = Generator(7)
    n = 100_000
    assert digest(R.uniform(gen, n), length=12) == "c4deea25dc62"
    assert digest(permutation.randperm(gen, 70_001), length=12) == "49705234357b"
    assert digest(R.bernoulli(gen, n, 0.25), length=12) == "6c3301069678"
    assert digest(R.normal(gen, n), length=12) == "a7dd26422b66"
    assert digest(R.randint(gen, n, 0, 10), length=12) == "d77c6dfaa71b"


def test_few_normals_share_one_remembered_sample() -> None:
    gen = Generator(7)
    five = R.normal(gen, 5)
    assert gen.next_double is not None
    four = R.normal(gen, 4, np.float64)
    expected = [-0.1467950940132141, 0.7861412763595581, 0.9468216300010681, -1.1143440008163452, 1.6907901763916016]
    np.testing.assert_allclose(five, expected, rtol=1e-7)
    expected = [-0.8948278791726386, -0.3556250270062136, 1.2323857451651945, 0.13817266368739245]
    np.testing.assert_allclose(four, expected, rtol=1e-15)
    assert gen.next_double is not None  # nine drawn: the tenth is remembered, in the state too
    assert gen.clone_state().next_double == gen.next_double
    assert gen.manual_seed(7).next_double is None


def test_float64_normals_redraw_the_last_sixteen() -> None:
    last = R.normal(Generator(7), 17, np.float64)[-3:]
    expected = [-0.28387899021947915, 0.45257550210102954, -1.6677291342328766]
    np.testing.assert_allclose(last, expected, rtol=1e-14)


def test_a_sequence_of_different_draws_stays_in_step() -> None:
    gen = Generator(7)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=3e-7)
    close(D.exponential(gen, 3, rate=0.7), [0.46806275844573975, 0.45683354139328003, 2.8302507400512695])
    close(D.geometric(gen, 5, 0.3), [2, 1, 1, 4, 2])
    close(D.cauchy(gen, 3, np.float32, 0.3, 1.7), [2.145359992980957, 2.10300612449646, -8.173949241638184])
    close(D.log_normal(gen, 3, np.float32, 0.3, 0.7), [2.0064473152160645, 1.5682071447372437, 1.910629153251648])
    weights = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    assert D.multinomial(gen, weights, 10, True).tolist() == [3, 0, 3, 1, 3, 3, 3, 3, 2, 3]
    assert D.multinomial(gen, weights, 3).tolist() == [3, 2, 0]
    assert D.multinomial(gen, weights, 1, True).tolist() == [2]
    rates = np.array([0, 0.5, 3, 9.9, 10, 50, 1000], np.float32)
    assert D.poisson(gen, rates).tolist() == [0, 1, 1, 8, 13, 51, 971]
    assert R.uniform(gen, 1).item() == 0.21081125736236572


@pytest.mark.parametrize(
    ("seed", "kept", "first"),
    [
        (0, 0, [75434668, 130329135]),
        (1, 1, [46265381, 122126571]),
        (-1, 2**64 - 1, [16673187, 76693794]),
        (2**32 + 5, 2**32 + 5, [13929315, 102779086]),
        (2**64 - 1, 2**64 - 1, [16673187, 76693794]),
        (-(2**63), 2**63, [75434668, 130329135]),
    ],
)
def test_seeds(seed: int, kept: int, first: list[int]) -> None:
    gen = Generator().manual_seed(seed)
    assert gen.initial_seed() == kept
    assert R.randint(gen, 2, 0, 2**27).tolist() == first


def test_seed_from_the_system() -> None:
    gen = Generator()
    assert gen.initial_seed() == 67280421310721
    seed = gen.seed()
    assert seed == gen.initial_seed() < 1 << 53
    assert R.default_generator.initial_seed() != R.Generator().initial_seed()


# -- state --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 1248, 3000])
def test_state_continues_where_it_was_taken(drawn: int) -> None:
    gen = Generator(11)
    gen.words(drawn)
    R.normal(gen, 3)
    state = gen.get_state()
    assert state.dtype == np.uint8
    assert state.shape == (5056,)
    expected = gen.words(2000)
    for other in (Generator(0).set_state(state), pickle.loads(pickle.dumps(Generator(1).set_state(state)))):
        assert np.array_equal(other.get_state(), state)
        assert np.array_equal(other.words(2000), expected)
        assert np.array_equal(other.get_state(), gen.get_state())
    gen.set_state(state)
    for twin in (gen.clone_state(), copy.deepcopy(gen)):
        assert np.array_equal(R.normal(twin, 5), R.normal(gen.clone_state(), 5))


def test_words_do_not_depend_on_how_they_are_asked_for() -> None:
    whole = Generator(3).words(5000)
    gen = Generator(3)
    parts = [gen.words(n) for n in (0, 1, 2, 620, 1, 624, 1248, 3, 1873, 628)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_bad_states_and_seeds() -> None:
    gen = Generator()
    with pytest.raises(RuntimeError, match=r"Expected a CPUGeneratorImplState of size 5056 but found .* to be 10"):
        gen.set_state(np.zeros(10, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        gen.set_state(np.zeros(5056, np.uint8))
    with pytest.raises(TypeError, match="RNG state must be a ByteTensor"):
        gen.set_state(np.zeros(5056, np.float32))
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        gen.manual_seed(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        gen.manual_seed(2**64)


# -- shapes, order, errors ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3, 4), 5])
def test_shapes(shape: int | tuple[int, ...]) -> None:
    gen = Generator(0)
    expected = (shape,) if isinstance(shape, int) else shape
    for out in (
        R.uniform(gen, shape),
        R.normal(gen, shape),
        R.normal(gen, shape, np.complex128),
        R.randint(gen, shape, 0, 9),
        R.bernoulli(gen, shape, 0.5),
        R.dropout_mask(gen, shape, 0.5),
        D.exponential(gen, shape),
        D.poisson(gen, np.ones(shape)),
        R.bernoulli_each(gen, np.full(shape, 0.5)),
    ):
        assert out.shape == expected


def test_empty_draws_nothing() -> None:
    gen = Generator(0)
    before = gen.get_state()
    (
        R.uniform(gen, 0),
        R.normal(gen, (0, 3)),
        R.randint(gen, 0, 0, 5),
        permutation.randperm(gen, 0),
        permutation.randperm(gen, 1),
    )
    R.dropout_mask(gen, 0, 0.5), R.dropout_mask(gen, 9, 0.0), R.dropout_mask(gen, 9, 1.0)
    assert np.array_equal(gen.get_state(), before)


def test_a_transposed_array_is_filled_along_its_memory() -> None:
    out = np.empty((3, 4), np.float32).T
    R.write(out, R.uniform(Generator(3), 12))
    np.testing.assert_array_equal(out[0], np.float32([0.004263520240783691, 0.47161436080932617, 0.5944212079048157]))


def test_permutation_without_the_loop_is_the_loop() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 300, 70_000):
        forward = np.arange(n) + rng.integers(0, 1 << 60, n) % np.arange(n, 0, -1)
        backward = rng.integers(0, 1 << 60, n) % np.arange(1, n + 1)
        order, inside_out = list(range(n)), [0] * n
        for i, (f, b) in enumerate(zip(forward.tolist(), backward.tolist(), strict=True)):
            order[i], order[f] = order[f], order[i]
            inside_out[i] = inside_out[b]
            inside_out[b] = i
        assert permutation.swap_forward(forward).tolist() == order
        assert permutation.swap_backward(backward).tolist() == inside_out


def test_fused_multiply_add_rounds_once() -> None:
    from fractions import Fraction

    rng = np.random.default_rng(1)
    x = rng.random(300)
    for scale, shift in ((1.08, -0.37), (5.2, 0.1), (3e-3, -1e-3), (0.7, 1000.1), (1e-9, 1.0)):
        exact = [float(Fraction(v) * Fraction(scale) + Fraction(shift)) for v in x.tolist()]
        assert fma64(x, scale, shift).tolist() == exact
    # 1 + 2**-24 is half way between two floats; the lost 2**-54 decides.
    tiny = np.float32([1 + 2**-23, 1 - 2**-23])
    assert fma32(tiny, np.float32(2**-24), np.float32(1)).tolist() == [1 + 2**-23, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: R.random(g, 3, np.float32, 5, 5), RuntimeError,
         "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
        (lambda g: R.randint(g, 3, -129, 5, np.int8), RuntimeError, "from is out of bounds for signed char"),
        (lambda g: R.randint(g, 3, 0, 3, np.bool_), RuntimeError, "to - 1 is out of bounds for bool"),
        (lambda g: R.normal(g, 3, std=-1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
        (lambda g: R.normal(g, 3, np.int64), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
        (lambda g: R.bernoulli(g, 3, 2), RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=2"),
        (lambda g: R.bernoulli_each(g, np.array([2.0])), RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true"),
        (lambda g: R.dropout_mask(g, 3, 1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
        (lambda g: R.uniform(g, 3, np.float32, 1, 0), RuntimeError,
         "uniform_ expects to return a [from, to) range, but found from=1 > to=0"),
        (lambda g: R.uniform(g, 3, np.float32, -3e38, 3e38), RuntimeError, "uniform_ expects to-from <="),
        (lambda g: permutation.randperm(g, 300, np.int8), RuntimeError, "value cannot be converted to type int8_t"),
        (lambda g: permutation.randperm(g, 3000, np.float16), RuntimeError, "n cannot be greater than 2049 for Half type."),
        (lambda g: D.exponential(g, 3, rate=0), RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=0"),
        (lambda g: D.geometric(g, 3, 1), RuntimeError, "geometric_ expects p to be in (0, 1), but got p=1"),
        (lambda g: D.cauchy(g, 3, sigma=0), RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=0"),
        (lambda g: D.log_normal(g, 3, std=0), RuntimeError, "log_normal_ expects std > 0.0, but found std=0"),
        (lambda g: D.multinomial(g, np.array([1.0, -1.0]), 1), RuntimeError, "`inf`, `nan` or element < 0"),
        (lambda g: D.multinomial(g, np.array([0.0, 0.0]), 1), RuntimeError, "(sum of probabilities <= 0)"),
        (lambda g: D.poisson(g, np.array([-1.0])), RuntimeError, "invalid Poisson rate"),
    ],
)  # fmt: skip
def test_errors(call: Callable[[Generator], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(Generator(0))
    assert message in str(caught.value)


@pytest.mark.parametrize("n", [1, 8, 100, 3000, 200_001])
def test_bits_of_dropout_are_its_mask(n: int) -> None:
    packed, mask = (draw(Generator(3), n, 0.3) for draw in (R.dropout_bits, R.dropout_mask))
    assert packed.dtype == np.uint8
    assert packed.size >= n // 8 + 4  # whoever reads four bytes at a time reads beyond the last bit
    np.testing.assert_array_equal(np.unpackbits(packed, bitorder="little")[:n].astype(bool), mask)
