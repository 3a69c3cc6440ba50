"""Factories, conversions and random draws give what PyTorch gives, bit for bit where that is possible."""

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

BOTH = (torch, clarion)
FLOATS = ("float32", "float64", "float16")


def bits(tensor):
    array = tensor.detach().numpy()
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


def same(make, exact=True):
    want, got = (make(lib) for lib in BOTH)
    assert str(want.dtype) == str(got.dtype)
    assert tuple(want.shape) == tuple(got.shape)
    assert want.numel() == 0 or want.stride() == got.stride()
    assert want.requires_grad == got.requires_grad
    if exact:
        np.testing.assert_array_equal(bits(want), bits(got))
    else:
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=3e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("args", [(0, 10, 0.1), (0.3, 40, 0.1), (-5, 5, 0.37), (1, 100), (5, -5, -1), (10, 0, -0.3)])
def test_arange(dtype, args):
    same(lambda lib: lib.arange(*args, dtype=getattr(lib, dtype)))


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "int32", "uint8"])
@pytest.mark.parametrize("steps", [1, 2, 5, 10, 37, 100])
@pytest.mark.parametrize("ends", [(0, 1), (0.7, 100), (200, 3.5)])
def test_linspace(dtype, steps, ends):
    same(lambda lib: lib.linspace(*ends, steps, dtype=getattr(lib, dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_logspace(dtype):
    same(lambda lib: lib.logspace(-0.7, 2.3, 37, dtype=getattr(lib, dtype)), exact=dtype == "int64")


DATA = [
    1, 2.5, True, 1j, [], [[1, 2], [3, 4.5]], [True, 2], [np.float32(1), 2.5], [np.int16(1), True], np.ones((2, 3)).T,
    [np.float64(1), 1j], (1, (2)), range(4), [[[]]], 1e40, -0.0, float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("data", DATA, ids=repr)
@pytest.mark.parametrize("dtype", [None, "float32", "float16", "complex64", "int64", "bool", "uint8"])
def test_tensor(data, dtype):
    def make(lib):
        return lib.tensor(data, dtype=dtype and getattr(lib, dtype))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of arrays cast with loss
        try:
            make(torch)
        except (TypeError, ValueError, RuntimeError) as error:
            base = next(kind for kind in (TypeError, ValueError, RuntimeError) if isinstance(error, kind))
            with pytest.raises(base):
                make(clarion)
        else:
            same(make)


RANDOM = {
    "rand": lambda lib: lib.rand(3, 40),
    "rand double": lambda lib: lib.rand(5, dtype=lib.float64),
    "rand complex": lambda lib: lib.rand(5, dtype=lib.complex64),
    "randint": lambda lib: lib.randint(-5, 50, (100,)),
    "randint float": lambda lib: lib.randint(10, (5,), dtype=lib.float32),
    "randperm": lambda lib: lib.randperm(1000),
    "bernoulli": lambda lib: lib.bernoulli(lib.linspace(0, 1, 50)),
    "bernoulli_": lambda lib: lib.empty(50).bernoulli_(0.3),
    "bernoulli_ tensor": lambda lib: lib.empty(50).bernoulli_(lib.linspace(0, 1, 50)),
    "random_": lambda lib: lib.empty(9, dtype=lib.int32).random_(),
    "random_ to": lambda lib: lib.empty(9).random_(77),
    "multinomial": lambda lib: lib.multinomial(lib.linspace(0, 1, 9), 4),
    "multinomial again": lambda lib: lib.multinomial(lib.linspace(0, 1, 9), 20, replacement=True),
    "uniform_ transposed": lambda lib: lib.empty(3, 4).t().uniform_(-1, 2),
    "rand_like transposed": lambda lib: lib.rand_like(lib.ones(3, 4).t()),
    "rand_like expanded": lambda lib: lib.rand_like(lib.ones(3).expand(2, 3)),
    "poisson": lambda lib: lib.poisson(lib.linspace(0, 30, 50)),
    "geometric_": lambda lib: lib.empty(50).geometric_(0.2),
}
CLOSE = {
    "randn": lambda lib: lib.randn(100),
    "randn few": lambda lib: lib.randn(7),
    "randn half": lambda lib: lib.randn(40, dtype=lib.float16),
    "normal": lambda lib: lib.normal(lib.arange(20.0), lib.linspace(0, 1, 20)),
    "normal numbers": lambda lib: lib.normal(2, 3, (17,)),
    "normal_ strided": lambda lib: lib.empty(6, 6).t().normal_(1, 2),
    "exponential_": lambda lib: lib.empty(50).exponential_(2),
    "cauchy_": lambda lib: lib.empty(50).cauchy_(1, 2),
    "log_normal_": lambda lib: lib.empty(50).log_normal_(0.1, 0.2),
}


@pytest.mark.parametrize("name", [*RANDOM, *CLOSE])
def test_random_numbers(name):
    make = {**RANDOM, **CLOSE}[name]

    def seeded(lib):
        lib.manual_seed(11)
        made = make(lib)
        seeded.after[lib] = lib.rand(2).tolist()
        return made

    seeded.after = {}
    same(seeded, exact=name in RANDOM)
    assert seeded.after[torch] == seeded.after[clarion]


def test_states_are_exchanged():
    torch.manual_seed(3)
    torch.randn(5)
    state = torch.get_rng_state().numpy()
    clarion.set_rng_state(clarion.from_numpy(state.copy()))
    assert torch.rand(5).tolist() == clarion.rand(5).tolist()
    assert np.array_equal(torch.get_rng_state().numpy(), clarion.get_rng_state().numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_finfo(dtype):
    want, got = (lib.finfo(getattr(lib, dtype)) for lib in BOTH)
    assert repr(want) == repr(got)
    for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(want, name) == getattr(got, name)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_iinfo(dtype):
    assert repr(torch.iinfo(getattr(torch, dtype))) == repr(clarion.iinfo(getattr(clarion, dtype)))


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.tensor([1.0, 2.0], requires_grad=True),
        lambda lib: lib.tensor([1.0, 2.0], requires_grad=True) * 3,
        lambda lib: lib.zeros(2, 0, 3),
        lambda lib: lib.tensor([[1.5, 2], [3, 4e5]], dtype=lib.float64),
        lambda lib: lib.tensor(3),
    ],
)
def test_text(make):
    assert repr(make(torch)) == repr(make(clarion))
    assert f"{make(torch)}" == f"{make(clarion)}"


def test_deepcopied_views_share():
    results = []
    for lib in BOTH:
        base = lib.zeros(2, 3)
        view, whole = copy.deepcopy([base.t()[1:], base])
        whole.numpy()[0, 1] = 7
        results.append((view.tolist(), view.stride(), view.storage_offset()))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "pair",
    [
        lambda lib: (lib.ones(2, 3), lib.ones(2, 3) * 2),
        lambda lib: (lib.tensor([1, 2]), lib.tensor([1, 3])),
        lambda lib: (lib.ones(2), lib.ones(2, dtype=lib.float64)),
        lambda lib: (lib.ones(2), lib.ones(3)),
        lambda lib: (1, 2),
        lambda lib: ([lib.ones(2)], [lib.zeros(2)]),
        lambda lib: ({"a": lib.ones(2)}, {"a": lib.zeros(2)}),
        lambda lib: (lib.tensor(1.0), lib.tensor(2.0)),
    ],
)
def test_assert_close_says_the_same(pair):
    texts = []
    for lib in BOTH:
        with pytest.raises(AssertionError) as caught:
            lib.testing.assert_close(*pair(lib))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.filterwarnings("ignore:.*assert_allclose:FutureWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("expected", [[1.0, 2.0], [1.00005, 2.0], [1.0009, 2.0], [1.1, 2.0], [float("nan"), 2.0]])
@pytest.mark.parametrize("options", [{}, {"rtol": 0.2, "atol": 0.0}])
def test_assert_allclose_agrees(dtype, expected, options):
    texts = []
    for lib in BOTH:
        try:
            lib.testing.assert_allclose(lib.tensor([1, 2], dtype=getattr(lib, dtype)), lib.tensor(expected), **options)
            lib.testing.assert_allclose([1.0, float("nan")], [1.0, float("nan")])
        except AssertionError as error:
            texts.append(str(error))
        else:
            texts.append("")
    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"])
def test_old_names_of_casts(kind):
    same(lambda lib: getattr(lib, f"_cast_{kind}")(lib.tensor([1.75, 3.0])))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_make_tensor(dtype):
    def make(lib):
        lib.manual_seed(2)
        return lib.testing.make_tensor((3, 4), dtype=getattr(lib, dtype), device="cpu")

    same(make, exact=dtype not in ("float32", "float64", "complex64"))
