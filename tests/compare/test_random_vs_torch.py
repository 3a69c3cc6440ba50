"""The random draws against the PyTorch that is installed: numbers, dtype, and the state after each call."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")

import clarion
from clarion.kernels import distributions as D
from clarion.kernels import permutation
from clarion.kernels import random as R

FLOATS = {
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
}
INTEGERS = {
    torch.int64: np.int64,
    torch.int32: np.int32,
    torch.int16: np.int16,
    torch.int8: np.int8,
    torch.uint8: np.uint8,
    torch.bool: np.bool_,
}
SIZES = [*range(40), 63, 64, 65, 100, 623, 624, 625, 1000, 2000, 65_537, 100_000]


class Both:
    """The two generators side by side."""

    def __init__(self, seed: int) -> None:
        self.gen = R.Generator(seed)
        torch.manual_seed(seed)

    def same(self, mine: np.ndarray, tensor: torch.Tensor, ulp: int = 0, near: float = 0.0) -> None:
        theirs = to_numpy(tensor)
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        assert np.array_equal(self.gen.get_state(), torch.get_rng_state().numpy())
        if ulp:
            a, b = mine.view(mine.real.dtype), theirs.view(theirs.real.dtype)
            finite = np.isfinite(b)
            assert np.array_equal(a[~finite], b[~finite])
            assert np.all(np.abs(a - b)[finite] <= ulp * np.spacing(np.abs(b[finite])) + near)
        else:
            assert mine.tobytes() == theirs.tobytes()


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    tensor = tensor.contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


@pytest.fixture
def both() -> Both:
    return Both(0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform(both: Both, dtype: torch.dtype) -> None:
    mine = FLOATS[dtype]
    for n in SIZES:
        both.same(R.uniform(both.gen, n, mine), torch.rand(n, dtype=dtype))
        for low, high in ((-0.37, 0.71), (0.0, 2.3), (1.0, 2.0), (1000.1, 1000.7), (-1.0, 1.0)):
            both.same(R.uniform(both.gen, n, mine, low, high), torch.empty(n, dtype=dtype).uniform_(low, high))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normal(both: Both, dtype: torch.dtype) -> None:
    mine = FLOATS[dtype]
    ulp = 2 if dtype == torch.float64 else 0
    for n in SIZES:
        both.same(R.normal(both.gen, n, mine), torch.randn(n, dtype=dtype), ulp)
        scaled = R.normal(both.gen, n, mine, 0.3, 1.7)
        both.same(scaled, torch.empty(n, dtype=dtype).normal_(0.3, 1.7), ulp, near=1e-15)


def test_many_normals(both: Both) -> None:
    for n in (R._EXACT_NORMALS, R._EXACT_NORMALS + 1, 500_003):
        exact = n <= R._EXACT_NORMALS
        both.same(R.normal(both.gen, n), torch.randn(n), 0 if exact else 3)


def test_complex(both: Both) -> None:
    for n in (0, 1, 5, 7, 8, 9, 100, 1000):
        both.same(R.normal(both.gen, n, np.complex64), torch.randn(n, dtype=torch.complex64))
        both.same(R.normal(both.gen, n, np.complex128), torch.randn(n, dtype=torch.complex128), 2)
        both.same(R.uniform(both.gen, n, np.complex64), torch.rand(n, dtype=torch.complex64))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
def test_integers(both: Both, dtype: torch.dtype) -> None:
    mine = (INTEGERS | FLOATS)[dtype]
    high = 2 if dtype == torch.bool else 100
    for n in SIZES:
        both.same(R.random(both.gen, n, mine), torch.empty(n, dtype=dtype).random_())
        both.same(R.random(both.gen, n, mine, 0, high), torch.empty(n, dtype=dtype).random_(high))
        both.same(R.random(both.gen, n, mine, 1, None), torch.empty(n, dtype=dtype).random_(1, None))
    if dtype in (torch.int64, torch.float32, torch.float64):
        for low, high in ((-5, 7), (0, 2**28 - 1), (0, 2**28), (-(2**40), 2**50), (0, 2**32), (-(2**62), 2**62 + 5)):
            both.same(R.random(both.gen, 99, mine, low, high), torch.empty(99, dtype=dtype).random_(low, high))
        low = -(2**63)
        both.same(R.random(both.gen, 99, mine, low, None), torch.empty(99, dtype=dtype).random_(low, None))


@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
def test_integers_at_the_edge_of_a_float(both: Both) -> None:
    for dtype, low, high in (
        (torch.float16, 0, 65504),
        (torch.float16, -65504, 65504),
        (torch.float16, -4097, 4099),
        (torch.bfloat16, 0, 4000),
        (torch.bfloat16, -1001, 513),
        (torch.float32, 0, 2**24 + 3),
        (torch.float32, -(2**30) - 1, 2**40 + 1),
    ):
        both.same(R.random(both.gen, 50, FLOATS[dtype], low, high), torch.empty(50, dtype=dtype).random_(low, high))


def test_randperm(both: Both) -> None:
    for n in [*SIZES, 65_536, 300_000]:
        both.same(permutation.randperm(both.gen, n), torch.randperm(n))
    both.same(permutation.randperm(both.gen, 100, np.int8), torch.randperm(100, dtype=torch.int8))
    both.same(permutation.randperm(both.gen, 100, np.float32), torch.randperm(100, dtype=torch.float32))


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.1, 0.5, 0.9999999, 1.0])
def test_bernoulli_and_dropout(both: Both, p: float) -> None:
    for n in SIZES:
        both.same(R.bernoulli(both.gen, n, p), torch.empty(n).bernoulli_(p))
        both.same(R.bernoulli(both.gen, n, p, np.bool_), torch.empty(n, dtype=torch.bool).bernoulli_(p))
        both.same(R.dropout_mask(both.gen, n, p), torch.nn.functional.dropout(torch.ones(n), p) != 0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_bernoulli_each(both: Both, dtype: torch.dtype) -> None:
    for n in SIZES:
        p = torch.rand(n, dtype=dtype)
        mine = R.uniform(both.gen, n, FLOATS[dtype])
        both.same(R.bernoulli_each(both.gen, mine), torch.bernoulli(p))
        both.same(R.bernoulli_each(both.gen, mine, np.int32), torch.empty(n, dtype=torch.int32).bernoulli_(p))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_other_distributions(both: Both, dtype: torch.dtype) -> None:
    mine, gen = FLOATS[dtype], both.gen
    ulp = 3 if dtype == torch.float64 else 0
    for n in (0, 1, 2, 15, 16, 17, 100, 625, 2000):
        empty = torch.empty(n, dtype=dtype)
        both.same(D.exponential(gen, n, mine, 0.7), empty.exponential_(0.7), ulp)
        both.same(D.geometric(gen, n, 0.3, mine), empty.geometric_(0.3))
        both.same(D.log_normal(gen, n, mine, 0.3, 0.7), empty.log_normal_(0.3, 0.7), ulp)
        both.same(D.cauchy(gen, n, mine, 0.3, 1.7), empty.cauchy_(0.3, 1.7), ulp, near=1e-14 if ulp else 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_multinomial(both: Both, dtype: torch.dtype) -> None:
    for shape in ((5,), (100,), (3, 7), (4, 1000)):
        theirs = torch.rand(shape, dtype=dtype)
        mine = R.uniform(both.gen, shape, FLOATS[dtype])
        for n, replacement in ((1, False), (1, True), (4, False), (50, True)):
            both.same(D.multinomial(both.gen, mine, n, replacement), torch.multinomial(theirs, n, replacement))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_poisson(both: Both, dtype: torch.dtype) -> None:
    for largest in (1.0, 12.0, 300.0):
        theirs = torch.rand(700, dtype=dtype) * largest
        mine = R.uniform(both.gen, 700, FLOATS[dtype]) * FLOATS[dtype](largest)
        both.same(D.poisson(both.gen, mine), torch.poisson(theirs))


def test_not_contiguous(both: Both) -> None:
    theirs = torch.empty(40, 30).t()
    mine = np.empty((40, 30), np.float32).T
    theirs.normal_()
    R.write(mine, R.normal(both.gen, mine.size, contiguous=False))
    both.same(mine, theirs)
    theirs.random_(0, 50)
    both.same(R.write(mine, R.random(both.gen, mine.size, np.float32, 0, 50)), theirs)


@pytest.mark.parametrize("drawn", [0, 1, 3, 15, 623, 624, 2000])
def test_states_are_exchanged_both_ways(drawn: int) -> None:
    torch.manual_seed(5)
    torch.rand(drawn), torch.randn(3)
    gen = R.Generator(0).set_state(torch.get_rng_state().numpy())
    assert np.array_equal(R.normal(gen, 7), torch.randn(7).numpy())
    torch.manual_seed(0)
    torch.set_rng_state(torch.from_numpy(gen.get_state()))
    assert np.array_equal(R.normal(gen, 7), torch.randn(7).numpy())
    assert np.array_equal(R.uniform(gen, 1000), torch.rand(1000).numpy())


def test_a_random_walk_through_all_draws(both: Both) -> None:
    pick = np.random.default_rng(0)
    gen = both.gen
    for _ in range(500):
        n = int(pick.integers(0, 60))
        match pick.integers(0, 8):
            case 0:
                both.same(R.uniform(gen, n), torch.rand(n))
            case 1:
                both.same(R.normal(gen, n), torch.randn(n))
            case 2:
                both.same(R.normal(gen, n, np.float64), torch.randn(n, dtype=torch.float64), 2)
            case 3:
                both.same(permutation.randperm(gen, n), torch.randperm(n))
            case 4:
                both.same(R.dropout_mask(gen, n, 0.3), torch.nn.functional.dropout(torch.ones(n), 0.3) != 0)
            case 5:
                both.same(R.randint(gen, n, 0, 1 << 40), torch.randint(0, 1 << 40, (n,)))
            case 6:
                both.same(D.log_normal(gen, n), torch.empty(n).log_normal_(), 2)
            case 7:
                seed = int(pick.integers(0, 1 << 62))
                gen.manual_seed(seed)
                torch.manual_seed(seed)


@pytest.mark.parametrize("draw", ["randn_like", "rand_like", "normal_", "bernoulli_", "exponential_"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_in_another_order_is_filled_along_itself(draw, dtype):
    def drawn(library):
        library.manual_seed(3)
        turned = library.zeros(3, 5, 4, dtype=getattr(library, dtype)).transpose(0, 2)
        values = getattr(library, draw)(turned) if draw.endswith("_like") else getattr(turned, draw)()
        return values.stride(), values.flatten().tolist(), library.rand(1).item()

    (strides, ours, after), (their_strides, theirs, theirs_after) = drawn(clarion), drawn(torch)
    assert (strides, after) == (their_strides, theirs_after)
    assert ours == pytest.approx(theirs, rel=1e-6)
