"""`torch.cuda` where there is a GPU: devices, streams, events, memory."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import cupy

from ..core import devices
from ..core.tensor import new_tensor
from ..errors import EngineError
from ..errors import OutOfMemoryError as OutOfMemoryError
from ..kernels import captures as _captures
from ..kernels.cuda import waits as _waits
from ..kernels.cuda.memory import pool as _pool
from ..kernels.cuda.philox import default_generator as _generator
from .graphed import make_graphed_callables as make_graphed_callables
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import graph_pool_handle as graph_pool_handle

_runtime = cupy.cuda.runtime


def _number(device: Any) -> int:
    """The number of a device that is given as a number, a name, a device, or not at all."""
    if device is None:
        return int(_runtime.getDevice())
    if isinstance(device, int):
        return device
    index = devices.device(device).index
    return int(_runtime.getDevice()) if index is None else index


def init() -> None:
    """Nothing to do: the device is there."""


def current_device() -> int:
    """The number of the device that is used."""
    return int(_runtime.getDevice())


def set_device(device: Any) -> None:
    """Use another device from now on."""
    _runtime.setDevice(_number(device))


def synchronize(device: Any = None) -> None:
    """Wait until all work is done."""
    with cupy.cuda.Device(_number(device)):
        _runtime.deviceSynchronize()


class _CudaDeviceProperties(SimpleNamespace):
    """What is known of a device."""


def get_device_properties(device: Any = None) -> Any:
    """What the driver says of a device."""
    found = _runtime.getDeviceProperties(_number(device))
    return _CudaDeviceProperties(
        name=found["name"].decode(),
        major=found["major"],
        minor=found["minor"],
        total_memory=found["totalGlobalMem"],
        multi_processor_count=found["multiProcessorCount"],
        max_threads_per_multi_processor=found["maxThreadsPerMultiProcessor"],
        warp_size=found["warpSize"],
        L2_cache_size=found["l2CacheSize"],
    )


def get_device_name(device: Any = None) -> str:
    """What a device is called."""
    return str(get_device_properties(device).name)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The generation of a device."""
    found = get_device_properties(device)
    return found.major, found.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Can one device read the memory of another?"""
    return bool(_runtime.deviceCanAccessPeer(_number(device), _number(peer_device)))


# Streams and events ------------------------------------------------------------------------------------------


class Stream:
    """A queue of work: what is put into it is done in order."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        with cupy.cuda.Device(_number(device)):
            self._stream = cupy.cuda.Stream(non_blocking=True, priority=priority)

    @classmethod
    def _of(cls, stream: Any) -> Stream:
        made = object.__new__(cls)
        made._stream = stream
        return made

    @property
    def cuda_stream(self) -> int:
        """The address of the driver's stream."""
        return int(self._stream.ptr)

    @property
    def device(self) -> devices.device:
        """Whose queue it is."""
        number = self._stream.device_id
        return devices.device("cuda", current_device() if number < 0 else number)

    @property
    def priority(self) -> int:
        """Lower numbers come first."""
        return int(self._stream.priority)

    def synchronize(self) -> None:
        """Wait until all work in the queue is done."""
        self._stream.synchronize()

    def query(self) -> bool:
        """Is all work done?"""
        return bool(self._stream.done)

    def record_event(self, event: Event | None = None) -> Event:
        """Put a mark into the queue."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What comes later waits for a mark of another queue."""
        self._stream.wait_event(event._event)

    def wait_stream(self, stream: Stream) -> None:
        """What comes later waits for what another queue holds now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:{current_device()} cuda_stream={self.cuda_stream:#x}>"

    def __enter__(self) -> Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stream.__exit__(*error)


class Event:
    """A mark in a queue of work."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._event = cupy.cuda.Event(block=blocking, disable_timing=not enable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark into a queue."""
        self._event.record(stream._stream if stream is not None else cupy.cuda.get_current_stream())

    def wait(self, stream: Stream | None = None) -> None:
        """What comes later in a queue waits for the mark."""
        (stream._stream if stream is not None else cupy.cuda.get_current_stream()).wait_event(self._event)

    def query(self) -> bool:
        """Has the mark been reached?"""
        return bool(self._event.done)

    def synchronize(self) -> None:
        """Wait until it is."""
        self._event.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another."""
        return float(cupy.cuda.get_elapsed_time(self._event, end_event._event))


def current_stream(device: Any = None) -> Stream:
    """The queue that work goes into."""
    return Stream._of(cupy.cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The queue that work goes into unless another is chosen."""
    return Stream._of(cupy.cuda.Stream.null)


def set_stream(stream: Stream) -> None:
    """Put work into another queue from now on."""
    stream._stream.use()


class StreamContext:
    """What `stream(…)` gives in PyTorch: work goes into another queue inside the block."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self.stream is not None:
            self.stream.__exit__(*error)


stream = StreamContext


class device:
    """Another device inside the block; None or a negative number leaves it as it is."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _number(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = current_device()
        if self.idx >= 0:
            _runtime.setDevice(self.idx)

    def __exit__(self, *error: Any) -> None:
        _runtime.setDevice(self.prev_idx)


class device_of(device):
    """The device of a tensor inside the block; one of the host leaves it as it is."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


def get_sync_debug_mode() -> int:
    """What happens when the host waits for a value: 0 nothing, 1 a warning, 2 an error."""
    return _waits.mode


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Have it said ("warn") or refused ("error") when the host waits for a value of the GPU."""
    if isinstance(debug_mode, str):
        if debug_mode not in _waits.NAMES:
            raise EngineError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        debug_mode = _waits.NAMES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise EngineError("invalid value of debug_mode, expected one of 0, 1, 2")
    _waits.mode = debug_mode


def is_current_stream_capturing() -> bool:
    """Is work being captured?"""
    return _captures.current() is not None


def get_rng_state(device: Any = "cuda") -> Any:
    """Seed and offset of the GPU's generator, as bytes."""
    return new_tensor(_generator.get_state())


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Go on from a state."""
    _generator.set_state(new_state._array)


def initial_seed() -> int:
    """The seed of the GPU's generator."""
    return _generator.initial_seed()


# Memory ------------------------------------------------------------------------------------------------------


def empty_cache() -> None:
    """Give memory that no tensor uses back to the driver."""
    _pool.release()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Peaks begin anew."""
    _pool.reset_peak()


reset_max_memory_allocated = reset_peak_memory_stats


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes, as the driver counts them."""
    free, total = _runtime.memGetInfo()
    return int(free), int(total)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The books as a table."""
    free, total = mem_get_info(device)
    lines = {
        "in use by tensors": _pool.used,
        "in use at the peak": _pool.peak,
        "held for the next ones": _pool.held - _pool.used,
        "free": free,
        "total": total,
    }
    rows = [f"| {name:24} | {size / 2**20:12.1f} MiB |" for name, size in lines.items()]
    rule = "|" + "-" * (len(rows[0]) - 2) + "|"
    return "\n".join([rule, f"| {'GPU memory':24} | {get_device_name(device)[:16]:16} |", rule, *rows, rule])


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Counts begin anew."""
    _pool.count = 0


def memory_snapshot(mempool_id: Any = None) -> list[dict[str, Any]]:
    """The blocks that the driver has given, by size: how many there are, and how many of them wait for the next tensor."""
    return _pool.snapshot()


def get_allocator_backend() -> str:
    """Who lends memory: blocks of one size each, on shelves (kernels/cuda/memory.py)."""
    return "native"


def ipc_collect() -> None:
    """Nothing to do: clarion shares no GPU memory between processes."""


def is_initialized() -> bool:
    """Is the device in use by this process? (It is not after a fork.)"""
    return os.getpid() == _process


_process = os.getpid()
