"""Kernels that draw random numbers: the same for all samples, or different ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import EngineError
from .. import registry
from .array import Batched, aligned, deepest, is_of, levels_of, over, spread, varying, wrapped
from .levels import Level, open_levels, refuse_randomness
from .table import RULES, words

# What draws random numbers, and how many arrays it is given; the generator stands last.
DRAWN = {
    **dict.fromkeys(words("uniform normal random random_to random_range exponential geometric cauchy log_normal"), 1),
    **dict.fromkeys(
        words("poisson bernoulli bernoulli_float normal_mean normal_std standard_gamma sample_dirichlet"), 1
    ),
    **dict.fromkeys(words("bernoulli_tensor normal_both binomial"), 2),
    "weights_drawn": 1,
}
# Those that forget their first array: only its shape matters.
_FILLING = frozenset(
    words(
        "uniform normal random random_to random_range exponential geometric cauchy log_normal bernoulli_float bernoulli_tensor"
    )
)
_SAME_OF_MANY = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
_DIFFERENT_IN_ONE = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
    "necessary for your usage, please file an issue with functorch."
)


class Drawing:
    """A generator inside of levels: kernels that are given one draw for all samples, whatever their arrays are."""

    __slots__ = ("generator",)

    def __init__(self, generator: Any) -> None:
        self.generator = generator


def kernel_for(name: str) -> Callable[..., Any]:
    """The kernel of an operation that is given such a generator."""
    arrays = DRAWN.get(name)

    def call(*args: Any, out: Any = None) -> Any:
        given = [_shared(each, open_levels.levels) for each in args[:arrays]]
        result = RULES[name](*given, *args[arrays:-1], args[-1].generator)
        if out is None:
            return result
        refuse_shared(out)
        over(out, result, f"{name}_")
        return out

    return call


def refuse_shared(x: Any) -> None:
    """Different numbers for each sample have no place in what all samples share."""
    for level in open_levels.levels:
        refuse_randomness(level)
        if level.randomness == "different" and level not in levels_of((x,)):
            raise EngineError(_DIFFERENT_IN_ONE)


def _shared(x: Any, levels: tuple[Level, ...]) -> Any:
    """An array as one of these levels, too."""
    have = levels_of((x,))
    for level in levels:
        if level not in have:
            x = registry.bind("same_for_all")(x, level)
    return x


def _drawn(name: str, arrays: int) -> Callable[..., Any]:
    first = 1 if name == "bernoulli_tensor" else 0

    def run(*args: Any) -> Any:
        if type(args[-1]) is Drawing:
            return kernel_for(name)(*args)
        level = deepest(args)
        refuse_randomness(level)
        given, how = args[:arrays], args[arrays:]
        many = any(varying(each, level) for each in given)
        if level.randomness == "different":
            ndim = max([each.ndim for each in given])
            whole = [aligned(each, level, ndim) if varying(each, level) else spread(each, level) for each in given]
            return wrapped(registry.bind(name)(*whole, *how), level, True)
        if any(varying(each, level) for each in given[first:]) and (first or name not in _FILLING):
            raise EngineError(_SAME_OF_MANY)
        if many:  # what was there is forgotten: one sample says all
            sample = [
                each.data[0, ...].copy() if varying(each, level) else each.data if is_of(each, level) else each
                for each in given
            ]
            found = registry.bind(name)(*sample, *how)
            return Batched(spread(found, level).copy(), level, True)
        return wrapped(
            registry.bind(name)(*[each.data if is_of(each, level) else each for each in given], *how), level, False
        )

    return run


for _name, _arrays in DRAWN.items():
    RULES[_name] = _drawn(_name, _arrays)
