"""The `meta` device: tensors with shape, strides and type, and no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels.meta import rules  # makes the arrays known to the table of kernels
from ..kernels.meta.array import MetaArray, alike, fresh
from ..kernels.meta.namespace import xp
from .devices import Kind, device, register

META = device("meta")


class Meta(Kind):
    """Whatever is written there is gone, and nothing can be read."""

    name = "meta"
    array = MetaArray
    xp = xp
    draws = False

    def missing(self) -> str:
        rules.wake()
        return ""

    def rest(self) -> None:
        rules.rest()

    def device(self, array: Any = None) -> device:
        return META

    def receive(self, array: Any) -> Any:
        return array if isinstance(array, MetaArray) else alike(array.shape, array.dtype, [array])

    def to_host(self, array: Any) -> Any:
        return array.tolist()  # refuses

    def computed(self, shape: tuple[int, ...], dtype: Any, compute: Callable[[], Any]) -> Any:
        return fresh(shape, dtype)

    def offset(self, array: Any) -> int:
        return int(array.offset())

    def address(self, array: Any) -> int:
        return 0


register(Meta())
