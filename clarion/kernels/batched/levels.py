"""Levels: the calls of mapped functions that are under way, and how they draw random numbers."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from ...errors import EngineError


class Mapped:
    """An array of all samples (array.py): what asks whether it meets one need not load what computes with them."""

    __slots__ = ()


def all_samples(array: Any) -> Any:
    """The values of all samples behind an array; any other as it is."""
    while isinstance(array, Mapped):
        array = array.data  # type: ignore[attr-defined]
    return array


class Level:
    """One call of a mapped function: how many samples, and how random numbers are drawn. A level that began later lies inside."""

    __slots__ = ("__weakref__", "randomness", "serial", "size")

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness
        self.serial = next(_serials)

    def __repr__(self) -> str:
        return f"<level {self.serial} of {self.size} samples>"


_serials = itertools.count(1)


class _Fallback:
    """May what has no rule be run for one sample after the other? (`torch._C._functorch._set_vmap_fallback_enabled`)"""

    enabled = True


fallback = _Fallback()


class _Open(threading.local):
    levels: tuple[Level, ...] = ()  # of this thread, the innermost last


open_levels = _Open()

RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def refuse_randomness(level: Level) -> None:
    """Random numbers of a level have to be asked for: the same for all samples, or different ones."""
    if level.randomness == "error":
        raise EngineError(RANDOM)


_ARITHMETIC = frozenset(
    ["add_", "clamp_max_", "clamp_min_", "copy_", "div_", "logical_and_", "logical_or_", "logical_xor_", "mul_", "sub_"]
)


def refuse_write(name: str) -> None:
    """What differs from sample to sample has no place where all samples share one."""
    what = "inplace arithmetic" if name in _ARITHMETIC else f"aten::{name}"
    raise EngineError(
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
        "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please "
        f"try to use out-of-place operators instead of {what}. If said operator is being called inside the PyTorch framework, "
        "please file a bug report instead."
    )


def refuse_dynamic(name: str) -> None:
    """Results of samples have one shape: what decides on it by values is refused, whatever the values are."""
    raise EngineError(
        f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over {name}. Please file an "
        "issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )


def refuse_rule(name: str, out: bool = False) -> None:
    """What has no meaning for all samples at once."""
    why = "; the fallback path doesn't work on out= or view ops." if out else ". We could not generate a fallback."
    raise EngineError(f"Batching rule not implemented for aten::{name}{why}")


def refuse_layout(array: Any) -> None:
    """Formats of memory are not asked for inside of `vmap`."""
    if isinstance(array, Mapped):
        raise EngineError(
            "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format"
        )


_RANDOM_OUT = frozenset(["rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"])


def refuse_random_out(name: str) -> None:
    """Random numbers are not written to `out=` inside of `vmap`."""
    if name in _RANDOM_OUT and open_levels.levels:
        raise EngineError(
            "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out variants as a "
            "workaround"
        )
