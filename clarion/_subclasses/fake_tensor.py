"""`torch._subclasses.fake_tensor`: tensors without data, for compilers; there are none."""

from __future__ import annotations

from typing import Any

from ..absent import refusing_class

FakeTensor = refusing_class("torch._subclasses.FakeTensor")
FakeTensorMode = refusing_class("torch._subclasses.FakeTensorMode")


def is_fake(x: Any) -> bool:
    """Is it one of them? None is."""
    return False
