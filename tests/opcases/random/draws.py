"""Rows of the random draws: seeded, so that their values can be compared with PyTorch's.

Their gradient is zero by definition, which no finite difference of a seeded draw can confirm
(`grad=()`); tests/test_random_api.py looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..row import Row

UNIT = (0.05, 0.95)
HALF = ("float16", "bfloat16")
EDGES = (((0,),), ((),), ((20,),))


def seeded(draw: Callable[..., Any]) -> Callable[..., Any]:
    """`draw(t, *tensors)` with the default generator seeded first."""

    def call(t: Any, *tensors: Any) -> Any:
        t.manual_seed(5)
        return draw(t, *tensors)

    call.draws = True  # type: ignore[attr-defined]
    return call


def in_place(op: str, label: str, draw: Callable[..., Any], dtypes: tuple[str, ...] = HALF) -> Row:
    """A draw that exists as `x.draw_()` only."""
    return Row(
        op,
        seeded(lambda t, x: draw(x.clone())),
        ((3, 7),),
        label=label,
        grad=(),
        second=False,
        inplace=seeded(lambda t, x: draw(x)),
        dtypes=dtypes,
        edge_shapes=EDGES,
    )


def drawn(op: str, draw: Callable[..., Any], shapes: Any, domain: Any = UNIT) -> Row:
    """A draw with parameters from tensors."""
    return Row(op, seeded(draw), shapes, domain=domain, grad=(), second=False, dtypes=HALF)


ROWS = [
    Row("zeros_like", lambda t, x: t.zeros_like(x), ((3, 4),), ref=lambda x: x * 0, grad=(), edge_shapes=EDGES[:2]),
    drawn("multinomial", lambda t, x: t.multinomial(x, 3), ((4, 7),)),
    in_place("uniform", "", lambda x: x.uniform_(-1, 3)),
    in_place("normal", "", lambda x: x.normal_(1, 2)),
    in_place("random", "", lambda x: x.random_(), ("int64", "int32", "uint8")),
    in_place("random_to", "", lambda x: x.random_(10), ("int64", "int32", "uint8")),
    in_place("random_range", "", lambda x: x.random_(5, 10), ("int64", "int32", "uint8")),
    in_place("exponential", "", lambda x: x.exponential_(1.5)),
    in_place("geometric", "", lambda x: x.geometric_(0.3), ("int64",)),
    in_place("cauchy", "", lambda x: x.cauchy_(0.5, 2)),
    in_place("log_normal", "", lambda x: x.log_normal_(0.1, 0.2)),
    in_place("bernoulli_float", "", lambda x: x.bernoulli_(0.3), ("int64", "bool")),
    drawn("bernoulli", lambda t, p: t.bernoulli(p), ((3, 7),)),
    drawn("bernoulli_tensor", lambda t, x, p: x.clone().bernoulli_(p), ((3, 7), (3, 7))),
    drawn("poisson", lambda t, rate: t.poisson(rate), ((3, 7),), (0.0, 20.0)),
    drawn("normal_mean", lambda t, mean: t.normal(mean, 2.0), ((3, 7),)),
    drawn("normal_std", lambda t, std: t.normal(0.5, std), ((3, 7),)),
    drawn("normal_both", lambda t, mean, std: t.normal(mean, std), ((3, 7), (3, 7))),
]
