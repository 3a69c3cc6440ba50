"""`torch.cuda`, for programs that ask: there is no CUDA device here yet, and what needs one says so."""

from __future__ import annotations

from typing import Any, NoReturn

from ..ops.faces.options import NoCudaError
from . import amp as amp


def is_available() -> bool:
    """Is there a CUDA device? No."""
    return False


def is_initialized() -> bool:
    """Has a CUDA device been used? No."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Can a CUDA device compute in bfloat16? There is none."""
    return False


def device_count() -> int:
    """Number of CUDA devices."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds the generators of all CUDA devices: none."""


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all CUDA devices: none."""


def empty_cache() -> None:
    """Gives unused device memory back: there is none."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of device memory in use."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Most bytes of device memory ever in use."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes of device memory held."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """Most bytes of device memory ever held."""
    return 0


def _refuse(name: str) -> NoReturn:
    raise NoCudaError(
        f"Torch not compiled with CUDA enabled\ntorch.cuda.{name} needs a CUDA device, and clarion has none here. "
        "Ask torch.cuda.is_available() first."
    )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        _refuse(name)

    if name in _NEEDS_DEVICE:
        return refuse
    raise AttributeError(f"clarion does not have torch.cuda.{name} yet")


_NEEDS_DEVICE = frozenset(
    """
    synchronize current_device set_device get_device_name get_device_properties get_device_capability current_stream
    default_stream stream Stream Event
    memory_stats memory_summary mem_get_info reset_peak_memory_stats reset_max_memory_allocated init ipc_collect
    get_rng_state set_rng_state get_rng_state_all set_rng_state_all CUDAGraph graph
    """.split()  # noqa: SIM905
)
