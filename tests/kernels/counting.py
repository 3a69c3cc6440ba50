"""A device written as a test: strict arrays on "privateuseone" (PyTorch's name for devices from elsewhere), whose kernels count.

Nothing outside this file knows of it. Kernels are the portable ones over the strict arrays' namespace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from clarion.core import devices
from clarion.kernels import registry

from .strict import StrictArray, xp

calls: Counter[str] = Counter()


class Counting(devices.Kind):
    """A device like any other."""

    name = "privateuseone"
    array = StrictArray
    xp = xp

    def device(self, array: Any = None) -> devices.device:
        return devices.device("privateuseone", 0)

    def receive(self, array: Any) -> Any:
        return array if isinstance(array, StrictArray) else StrictArray(np.array(array))

    def to_host(self, array: Any) -> Any:
        return array.get()

    def address(self, array: Any) -> int:
        return array._inner.__array_interface__["data"][0]  # type: ignore[no-any-return]

    def offset(self, array: Any) -> int:
        inner = array._inner
        root = inner
        while isinstance(root.base, np.ndarray):
            root = root.base
        return inner.__array_interface__["data"][0] - root.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _counted(name: str) -> Callable[..., Any]:
    kernel = registry.portable(name, xp)

    def call(*args: Any, **out: Any) -> Any:
        calls[name] += 1
        return kernel(*args, **out)

    return call


@contextmanager
def known() -> Iterator[Counter[str]]:
    """The device is there meanwhile."""
    calls.clear()
    StrictArray.answers = True
    devices.register(Counting())
    registry.know("counting", StrictArray, xp, (), _counted)
    try:
        yield calls
    finally:
        StrictArray.answers = False
        registry.forget("counting")
        del devices.KINDS["privateuseone"], devices._BY_ARRAY[StrictArray]
