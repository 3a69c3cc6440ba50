"""`torch.jit.annotations`: types as TorchScript writes them."""

from __future__ import annotations

import types
import typing
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401, UP035  (old programs import them from here)

from ..absent import rest

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list


def fits(value: Any, kind: Any) -> bool:
    """Is a value of a type, where the type may say what a container holds?"""
    if isinstance(kind, tuple | list):
        return any(fits(value, each) for each in kind)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if origin is None:
        return isinstance(value, kind)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if not isinstance(value, origin):
        return False
    if origin is dict:
        return all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis):
        return len(value) == len(inner) and all(map(fits, value, inner))
    return all(fits(each, inner[0]) for each in value)


__getattr__ = rest(__name__)
