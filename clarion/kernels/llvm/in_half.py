"""Compiled kernels and gradient rules on arrays of half precision: the same programs, read from and written to 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..halved import KERNELS, Rules
from ..quiet import quietly
from . import machine
from .kernel import MOST, Compiled, Fused, Rows
from .rounding import BF16, BITS, F16, F32, half_of

ndarray = np.ndarray


class InHalf:
    """A compiled kernel for half precision. What it gives is of the type of the first argument that is so."""

    def __init__(self, kernel: Compiled) -> None:
        self.kernel = kernel
        self.known: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        kernel = self.kernel
        if isinstance(kernel, Rows):
            arranged = kernel.arranged(args) if args[0].ndim > 1 and args[0].flags.c_contiguous else None
            if arranged is None:
                return NotImplemented
            args = tuple([a.astype(F32) if i in kernel.per_row else a for i, a in enumerate(arranged)])
        key = tuple([a.dtype.char if type(a) is ndarray else a for a in args])
        try:
            function = self.known[key]
        except KeyError:
            function = self.known[key] = self._made(args) if len(self.known) < MOST else None
        except TypeError:  # a parameter that cannot be told from others
            return NotImplemented
        if type(function) is int:
            return args[function]
        return NotImplemented if function is None else _run(function, [a for a in args if type(a) is ndarray])

    def _made(self, args: tuple[Any, ...]) -> Any:
        from . import build

        half = next((half_of(a.dtype) for a in args if type(a) is ndarray and half_of(a.dtype)), None)
        if half is F16 and "f16c" not in machine.processor()[0].split():  # LLVM would call a function for each number
            return None
        return None if half is None else build.in_half(self.kernel, args, half)


@quietly
def _run(function: Any, arrays: list[Any]) -> Any:
    results = function(*[a.view(BITS) if a.dtype == BF16 else a for a in arrays])
    if type(results) is tuple:
        return tuple([_shown(r) for r in results])
    return _shown(results)


def _shown(result: Any) -> Any:
    """(No kernel gives whole numbers of 16 bits.)"""
    return result.view(BF16) if result.dtype == BITS else result


def _of_rule(name: str, rule: Any, names: tuple[str, ...]) -> InHalf:
    return InHalf(Fused(name, rule, names))


def make(kernels: dict[str, Compiled]) -> None:
    """Kernels in half precision, by the names of their operations."""
    KERNELS.update({name: InHalf(kernel) for name, kernel in kernels.items()})
    Rules.make = _of_rule
