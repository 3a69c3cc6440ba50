"""`torch._subclasses.fake_tensor`: tensors without data, for compilers; there are none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..absent import refusing_class

FakeTensor = refusing_class("torch._subclasses.FakeTensor")
FakeTensorMode = refusing_class("torch._subclasses.FakeTensorMode")


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """A block outside of the mode that makes them: there is none to leave."""
    yield


def is_fake(x: Any) -> bool:
    """Is it one of them? None is."""
    return False
