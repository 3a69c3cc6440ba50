"""Blocks of `torch.cuda` where there is no device: what asks for none of them leaves everything as it is."""

from __future__ import annotations

from typing import Any

from ..core import devices
from ..errors import EngineError


class device:
    """Another device inside the block; None or a negative number leaves it as it is, and all others are not there."""

    def __init__(self, device: Any) -> None:
        number = getattr(device, "index", None) if not isinstance(device, int) else device
        self.idx = -1 if number is None else number
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise EngineError(f"PyTorch was compiled without CUDA support\n{devices.kind_named('cuda').missing()}")

    def __exit__(self, *error: Any) -> None:
        pass


class device_of(device):
    """The device of a tensor inside the block; one of the host leaves it as it is."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


class StreamContext:
    """Work goes into another queue inside the block; None leaves it as it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


stream = StreamContext


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """The state of a generator, for when its device is there."""


for _class in (device, device_of, StreamContext):
    _class.__module__ = "torch.cuda"
