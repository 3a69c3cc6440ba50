"""Operations whose derivative may break, found before a backward pass while nobody listens closely.

PyTorch tells of no floating-point error. So the graph is walked, and of those operations that have an infinite slope somewhere
the saved values are looked at: a root, a logarithm or a fractional power of 0, a division by it, an arc cosine of 1; and of
products, whether a factor is NaN or infinite. What such a node gives is then looked at in the pass itself, and nothing else is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch._C import DisableTorchFunction

from . import nodes, values
from .nodes import View, view_of

_NODES = 5_000  # of a graph that are looked at
_LARGE = 1 << 18  # elements of a saved value that are not looked at

_Test = Callable[[Any], bool]


def _saved(fn: Any, name: str) -> Any:
    """A saved value, if it can be read in no time."""
    value = getattr(fn, f"_saved_{name}", None)
    if isinstance(value, torch.Tensor):
        plain = value.is_cpu and value.dtype.is_floating_point and value.numel() <= _LARGE and values.is_plain(value)
        return value.detach() if plain else None
    return None


def _not_positive(name: str) -> _Test:
    def test(fn: Any) -> bool:
        value = _saved(fn, name)
        return value is not None and not bool((value > 0).all())

    return test


def _zero(name: str) -> _Test:
    def test(fn: Any) -> bool:
        value = _saved(fn, name)
        return value is not None and bool((value == 0).any())

    return test


def _at_the_end(fn: Any) -> bool:
    value = _saved(fn, "self")
    return value is not None and not bool((value.abs() < 1).all())


def _not_finite(*names: str) -> _Test:
    def test(fn: Any) -> bool:
        found = [value for name in names if (value := _saved(fn, name)) is not None]
        return any(not math.isfinite(value.sum().item()) for value in found)

    return test


_infinite = _not_finite("result")
_spoilt = _not_finite("self")


def _steep_power(fn: Any) -> bool:
    exponent = getattr(fn, "_saved_exponent", 2)
    if isinstance(exponent, torch.Tensor):
        exponent = float(exponent.min()) if _saved(fn, "exponent") is not None and exponent.numel() else 2
    steep = isinstance(exponent, (int, float)) and exponent < 1 and _not_positive("self")(fn)
    return steep or _spoilt(fn)


_TESTS: dict[str, _Test] = {
    "SqrtBackward0": _not_positive("result"),
    "RsqrtBackward0": _infinite,
    "ReciprocalBackward0": _infinite,
    "StdBackward0": _not_positive("result"),
    "LogBackward0": _not_positive("self"),
    "Log2Backward0": _not_positive("self"),
    "Log10Backward0": _not_positive("self"),
    "DivBackward0": _zero("other"),
    "PowBackward0": _steep_power,
    "PowBackward1": _steep_power,
    "AcosBackward0": _at_the_end,
    "AsinBackward0": _at_the_end,
    "AtanhBackward0": _at_the_end,
    "ExpBackward0": _infinite,
    "MulBackward0": _not_finite("self", "other"),
    "MseLossBackward0": _not_finite("target"),
    "SmoothL1LossBackward0": _not_finite("target"),
    "HuberLossBackward0": _not_finite("target"),
}


def found_in(roots: Any) -> list[View]:
    """The nodes behind these tensors that may break."""
    if nodes.hooks.seen:  # reading a saved value may run code of the user's: NOTE [Packed]
        return []
    stack = [root.grad_fn for root in roots if isinstance(root, torch.Tensor) and root.grad_fn is not None]
    seen = set(stack)
    found: list[View] = []
    with DisableTorchFunction(), torch.no_grad():
        while stack and len(seen) < _NODES:
            fn = stack.pop()
            test = _TESTS.get(fn.name())
            if test is not None and _passes(test, fn):
                found.append(view_of(fn))
            for behind, _ in fn.next_functions:
                if behind is not None and behind not in seen:
                    seen.add(behind)
                    stack.append(behind)
    return found


def _passes(test: _Test, fn: Any) -> bool:
    try:
        return test(fn)
    except RuntimeError:  # freed, or overwritten since
        return False
