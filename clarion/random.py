"""`torch.random`: seeds and states of the default generator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .ops.random.generator import default_generator as default_generator
from .ops.random.generator import get_rng_state as get_rng_state
from .ops.random.generator import initial_seed as initial_seed
from .ops.random.generator import manual_seed as manual_seed
from .ops.random.generator import seed as seed
from .ops.random.generator import set_rng_state as set_rng_state

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Inside the block random numbers are drawn as usual; afterwards the generator is where it was."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
