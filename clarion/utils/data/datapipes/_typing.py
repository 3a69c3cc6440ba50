"""The classes of pipes' classes. (PyTorch has switched the checking of pipes' types off.)"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from ._hook_iterator import hook_iterator, hook_reset


class GenericMeta(ABCMeta):
    """A class of which there may be `Class[type]`."""


class _DataPipeMeta(GenericMeta):
    """Of all pipes."""


class _IterDataPipeMeta(_DataPipeMeta):
    """Of pipes that are iterated: `__iter__` and `reset` do more than is written in them."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        if "reset" in namespace:
            hook_reset(namespace)
        if "__iter__" in namespace:
            hook_iterator(namespace)
        return super().__new__(cls, name, bases, namespace, **kwargs)
