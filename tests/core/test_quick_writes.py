"""Writes and draws that a compiled function does as a whole, beside those of the long way: kernels/llvm/writes.py."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.core import modes
from clarion.core.namespace import OPS
from clarion.core.provenance import file_line
from clarion.events import subscribe
from clarion.kernels import registry
from clarion.kernels.choosing import HEAT
from clarion.kernels.llvm import cards, machine

pytestmark = pytest.mark.skipif(
    not machine.installed() or not cards.available(), reason="kernels cannot be called directly here"
)


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    x, counter = torch.rand(4, 4), torch.tensor(0)
    x.add_(x)  # (where all is compiled, nothing is small, and this makes the kernel)
    for _ in range(HEAT):
        x.zero_(), torch.rand(2), x.masked_fill_(x > 0, 1.0), counter.add_(1)
        x.scatter_(0, NUMBERS, SOME), x.scatter_add_(0, NUMBERS, SOME), x.index_add_(0, NUMBERS[0], SOME)
    assert x.__class__ is torch.Tensor
    for name, given in {
        "zero": (),
        "copy": (torch.ones(4, 4),),
        "clamp": (0.0, None),
        "fill_scalar_into": (2,),
    }.items():
        assert OPS[name].quick_write(x, *given) is x, name
    assert OPS["add"].quick_write(counter, 2) is counter
    assert counter.item() == HEAT + 2
    assert OPS["add"].quick_write(x, 2) is None
    assert OPS["index_add"].quick_write(x, NUMBERS[0], SOME, -2) is x
    for name in ("scatter", "scatter_add"):
        assert OPS[name].quick_write(x, NUMBERS, SOME, 1) is x, name


def _values(*shape: int) -> Any:
    values = torch.linspace(-2, 2, int(np.prod(shape))).view(shape).clone()
    values.view(-1)[0], values.view(-1)[1], values.view(-1)[2] = float("nan"), float("inf"), -0.0
    return values


MASK = torch.tensor([[True, False, True, False]] * 4)
NUMBERS = torch.tensor([[0, 1, 2, 0], [3, 1, 0, 2]])
ROWS = torch.tensor([2, 0, 2])
SOME = torch.arange(8.0).view(2, 4).repeat(2, 1)[:4] / 3


def _like(x: Any, *shape: int) -> Any:
    """Numbers of the type of x."""
    return (torch.arange(float(np.prod(shape))).view(shape) / 3 + 1).to(x.dtype)


CALLS: dict[str, Callable[[Any], Any]] = {
    "zero": lambda x: x.zero_(),
    "fill": lambda x: x.fill_(0.1),
    "fill_whole": lambda x: x.fill_(-3),
    "fill_nan": lambda x: x.fill_(float("nan")),
    "fill_true": lambda x: x.fill_(True),
    "fill_tensor": lambda x: x.fill_(torch.tensor(2.5)),
    "fill_too_large": lambda x: x.fill_(1e300),
    "fill_whole_too_large": lambda x: x.fill_(2**80),
    "copy": lambda x: x.copy_(torch.arange(16.0).view(4, 4)),
    "copy_itself": lambda x: x.copy_(x),
    "copy_turned": lambda x: x.copy_(torch.arange(16.0).view(4, 4).t()),
    "copy_mask": lambda x: x.copy_(MASK),
    "copy_whole": lambda x: x.copy_(torch.arange(16).view(4, 4)),
    "copy_double": lambda x: x.copy_(torch.arange(16.0).double().view(4, 4) / 3),
    "copy_row": lambda x: x.copy_(torch.arange(4.0)),
    "copy_number": lambda x: x.copy_(0.5),
    "copy_wrong": lambda x: x.copy_(torch.arange(5.0)),
    "copy_recorded": lambda x: x.copy_(torch.ones(4, 4, requires_grad=True)),
    "copy_view": lambda x: x.copy_(torch.arange(32.0).view(2, 4, 4)[1]),
    "copy_view_of_recorded": lambda x: x.copy_(torch.ones(2, 4, 4, requires_grad=True)[1]),
    "masked_fill": lambda x: x.masked_fill_(MASK, 0.25),
    "masked_fill_row": lambda x: x.masked_fill_(MASK[0], -1),
    "clamp": lambda x: x.clamp_(-0.5, 0.5),
    "clamp_zero": lambda x: x.clamp_(0, 1),
    "clamp_low": lambda x: x.clamp_(min=-0.25),
    "clamp_high": lambda x: x.clamp_(max=0.25),
    "clamp_crossed": lambda x: x.clamp_(1.0, -1.0),
    "clamp_nan": lambda x: x.clamp_(float("nan"), 1.0),
    "clamp_nothing": lambda x: x.clamp_(),
    "clip_out_of_place": lambda x: x.clip(-1, 1),
    "uniform": lambda x: x.uniform_(-1, 3),
    "uniform_plain": lambda x: x.uniform_(),
    "uniform_wrong": lambda x: x.uniform_(3, 1),
    "normal": lambda x: x.normal_(1, 2.5),
    "normal_wrong": lambda x: x.normal_(0, -1),
    "count": lambda x: x.add_(1),
    "count_by_operator": lambda x: operator.iadd(x, 3),
    "count_down": lambda x: x.add_(-7),
    "count_far": lambda x: x.add_(2**52),
    "count_too_far": lambda x: x.add_(2**70),
    "count_by_half": lambda x: x.add_(0.5),
    "count_true": lambda x: x.add_(True),
    "count_scaled": lambda x: x.add_(1, alpha=3),
    "count_scaled_by_true": lambda x: x.add_(1, alpha=True),
    "scatter": lambda x: x.scatter_(0, NUMBERS, _like(x, 2, 4)),
    "scatter_last": lambda x: x.scatter_(-1, NUMBERS, _like(x, 2, 4)),
    "scatter_named": lambda x: x.scatter_(dim=1, index=NUMBERS, src=_like(x, 2, 4)),
    "scatter_corner": lambda x: x.scatter_(0, NUMBERS[:, :3], _like(x, 4, 4)),
    "scatter_number": lambda x: x.scatter_(0, NUMBERS, 2.0),
    "scatter_other_type": lambda x: x.scatter_(0, NUMBERS, SOME[:2].half()),
    "scatter_short": lambda x: x.scatter_(0, NUMBERS.int(), _like(x, 2, 4)),
    "scatter_outside_wrong": lambda x: x.scatter_(0, NUMBERS + 1, _like(x, 2, 4)),
    "scatter_negative_wrong": lambda x: x.scatter_(0, NUMBERS - 1, _like(x, 2, 4)),
    "scatter_dim_wrong": lambda x: x.scatter_(2, NUMBERS, _like(x, 2, 4)),
    "scatter_itself_wrong": lambda x: x.scatter_(0, NUMBERS, x),
    "scatter_row_of_itself_wrong": lambda x: x.scatter_(0, NUMBERS[:1, :4], x[1:2].detach()),
    "scatter_turned": lambda x: x.scatter_(0, NUMBERS, _like(x, 4, 2).t()),
    "scatter_recorded": lambda x: x.scatter_(0, NUMBERS, torch.ones(2, 4, dtype=torch.float32, requires_grad=True)),
    "scatter_add": lambda x: x.scatter_add_(0, NUMBERS, _like(x, 2, 4)),
    "scatter_add_last": lambda x: x.scatter_add_(1, NUMBERS, _like(x, 4, 4)),
    "scatter_add_view": lambda x: x.scatter_add_(0, NUMBERS, _like(x, 2, 2, 4)[1]),
    "scatter_add_of_recorded": lambda x: x.scatter_add_(0, NUMBERS, torch.ones(2, 2, 4, requires_grad=True)[1]),
    "scatter_add_shape_wrong": lambda x: x.scatter_add_(0, NUMBERS[0], _like(x, 4)),
    "index_add": lambda x: x.index_add_(0, ROWS, _like(x, 3, 4)),
    "index_add_last": lambda x: x.index_add_(-1, ROWS, _like(x, 4, 3)),
    "index_add_scaled": lambda x: x.index_add_(0, ROWS, _like(x, 3, 4), alpha=2),
    "index_add_number": lambda x: x.index_add_(0, ROWS[0], _like(x, 4)),
    "index_add_matrix_wrong": lambda x: x.index_add_(0, NUMBERS, _like(x, 2, 4)),
    "index_add_outside_wrong": lambda x: x.index_add_(0, ROWS + 2, _like(x, 3, 4)),
    "index_add_short_wrong": lambda x: x.index_add_(0, ROWS, _like(x, 2, 4)),
    "index_add_itself_wrong": lambda x: x.index_add_(0, torch.arange(4), x),
    "index_add_none": lambda x: x.index_add_(0, ROWS[:0], _like(x, 0, 4)),
}


@pytest.mark.parametrize(
    "kind", ["plain", "double", "whole", "leaf", "recorded", "view", "turned", "saved", "aliased", "data", "no_grad"]
)
@pytest.mark.parametrize("name", CALLS)
def test_writes_are_those_of_the_long_way(name: str, kind: str) -> None:
    call = CALLS[name]

    def run() -> list[object]:
        torch.manual_seed(0)
        x = _values(4, 4)
        other = x
        if kind in ("double", "whole"):
            x = x.double() if kind == "double" else torch.arange(16).view(4, 4).clone()
        elif kind == "leaf":
            x.requires_grad_()
        elif kind == "recorded":
            x = x * torch.ones(4, 4, requires_grad=True)
        elif kind in ("view", "turned"):
            x = _values(2, 4, 4)[1] if kind == "view" else x.t()
        elif kind == "saved":
            other = torch.ones(4, 4, requires_grad=True) * x
        elif kind in ("aliased", "data"):
            other, x = x, x.detach() if kind == "aliased" else x.data
        found: list[object] = []
        try:
            with torch.set_grad_enabled(kind != "no_grad"):
                for _ in range(2):
                    result = call(x)
                    found += [result is x, result.requires_grad]
        except (RuntimeError, TypeError, ValueError, IndexError, OverflowError) as error:
            found.append(str(error).splitlines()[0])
        found += [
            np.asarray(x.detach().numpy()).tobytes(),
            x._version,
            other._version,
            x.dtype,
            type(x.grad_fn).__name__,
        ]
        if x._vc is not None and x._vc.n and "wrong" not in name:
            found.append(file_line(x._vc.place))
            assert x._vc.place is None or file_line(x._vc.place)[0] == __file__  # type: ignore[index]
        return found

    quick = run()
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        long = run()
    finally:
        registry.surround(None)
    assert quick == long


def test_who_listens_hears_of_writes() -> None:
    heard: list[str] = []
    x = torch.rand(2, 3)
    stop = [
        subscribe("will_write", lambda t: heard.append("will")),
        subscribe("wrote", lambda t, how: heard.append(how)),
    ]
    try:
        x.zero_()
    finally:
        for each in stop:
            each()
    assert heard == ["will", "inplace"]


def test_a_saved_value_that_is_overwritten_is_noticed() -> None:
    x, w = torch.rand(4), torch.rand(4, requires_grad=True)
    loss = (x * w).sum()
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


DRAWS: dict[str, Callable[[], Any]] = {
    "rand": lambda: torch.rand(8, 8),
    "rand_tuple": lambda: torch.rand((3, 5)),
    "rand_one": lambda: torch.rand(()),
    "rand_none": lambda: torch.rand(0, 3),
    "rand_double": lambda: torch.rand(4, dtype=torch.float64),
    "randn": lambda: torch.randn(2, 16),
    "randn_odd": lambda: torch.randn(17),
    "randn_few": lambda: torch.randn(3),
    "rand_like": lambda: torch.rand_like(torch.empty(5, 7)),
    "randn_like": lambda: torch.randn_like(torch.empty(4, 8)),
    "randint_like": lambda: torch.randint_like(torch.empty(4, 8), 10),
    "randint": lambda: torch.randint(10, (4, 8)),
    "randint_from": lambda: torch.randint(-5, 3, (7,)),
    "randint_one": lambda: torch.randint(0, 2, (1,)),
    "randint_number": lambda: torch.randint(0, 2**20, ()),
    "randint_none": lambda: torch.randint(0, 2, (0, 3)),
    "randint_wide": lambda: torch.randint(0, 2**40, (5,)),
    "randint_nearly_wide": lambda: torch.randint(0, 2**28, (5,)),
    "randint_below_wide": lambda: torch.randint(-(2**50), 2**28 - 1 - 2**50, (5,)),
    "randint_far": lambda: torch.randint(2**60, 2**60 + 9, (5,)),
    "randint_many": lambda: torch.randint(0, 9, (600,)),
    "randint_short": lambda: torch.randint(0, 9, (6,), dtype=torch.int32),
    "randint_to": lambda: torch.empty(6, dtype=torch.int64).random_(2, 9),
    "bernoulli": lambda: torch.bernoulli(torch.full((3, 5), 0.3)),
    "bernoulli_": lambda: torch.empty(3, 5).bernoulli_(0.3),
    "bernoulli_double": lambda: torch.empty(3, 5, dtype=torch.float64).bernoulli_(0.7),
    "bernoulli_turned": lambda: torch.empty(3, 5).t().bernoulli_(0.7),
    "bernoulli_whole": lambda: torch.empty(3, 5, dtype=torch.int64).bernoulli_(0.7),
    "bernoulli_all": lambda: torch.empty(3, 5).bernoulli_(1.0),
    "uniform": lambda: torch.empty(9, 9).uniform_(2, 3),
    "normal": lambda: torch.empty(32).normal_(2, 3),
    "leaf": lambda: torch.rand(4, 4, requires_grad=True),
    "large": lambda: torch.rand(700),
}


def test_draws_are_those_of_the_long_way_in_any_order() -> None:
    def run() -> list[Any]:
        torch.manual_seed(7)
        order = np.random.default_rng(0).choice(list(DRAWS), 600)
        found: list[Any] = []
        for each in order:
            drawn = DRAWS[each]()
            found.append(
                (each, drawn.detach().numpy().tobytes(), drawn.shape, drawn.dtype, drawn.requires_grad, drawn._version)
            )
        return [*found, torch.get_rng_state().tolist()]

    quick = run()
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        assert OPS["uniform"].quick_draw(torch.default_generator._source, (2,)) is None
        assert run() == quick
    finally:
        registry.surround(None)


def test_drawing_threads_share_one_sequence() -> None:
    import threading

    torch.manual_seed(1)
    wanted = torch.rand(40 * 64).reshape(40, 64).tolist()
    torch.manual_seed(1)
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.extend(torch.rand(64).tolist() for _ in range(10))) for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == sorted(wanted)


_PARTS = [
    0, -1, 3, slice(1, None), slice(None, None, 2), slice(None, None, -1), (0, 1), (0, -5), (0, 0, 0), (slice(None), 1), (), True, None, ...,
    torch.tensor([0, 2]), torch.tensor([-1]), torch.tensor([3]), torch.tensor([[0, 1], [1, 2]]), torch.arange(12).reshape(3, 4) % 2 == 0,
]  # fmt: skip
_VALUES = [
    1.5,
    2,
    True,
    float("nan"),
    1e39,
    1 << 63,
    torch.tensor(3.0),
    torch.ones(4),
    torch.ones(1, 4),
    torch.ones(4, dtype=torch.float64),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool])
def test_assignments_by_plain_indices_are_those_of_the_long_way(dtype: torch.dtype) -> None:
    def assigned(index: object, value: object) -> list[object]:
        x = torch.arange(12).reshape(3, 4).to(dtype).clone()
        try:
            x[index] = value
        except Exception as error:
            return [type(error), str(error), x.tolist(), x._version]
        return [str(x), x._version, x._vc.place is not None]

    for index in _PARTS:
        for value in _VALUES:
            quick = assigned(index, value)
            modes.watch(True, "a test")
            try:
                assert assigned(index, value) == quick, (index, value)
            finally:
                modes.watch(False, "a test")


def test_an_assignment_through_data_is_told_by_its_part() -> None:
    x = torch.arange(12.0).reshape(3, 4).clone()
    shared = x.data
    shared[0] = 1.0
    assert (x._version, x[0].tolist()) == (0, [1.0] * 4)
    assert x._vc.silent == 1
