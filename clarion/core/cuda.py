"""The CUDA device: arrays are CuPy's, memory is its pool's. Imported when somebody asks for the device first."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

from ..errors import EngineError
from . import devices
from .devices import Absent, Kind, device
from .messages import made_where
from .tensor import new_tensor

_INSTALL = "pip install 'clarion[cuda13]' (for CUDA 12: 'clarion[cuda12]')"


class NoCuda(Absent):
    """CUDA where something is missing for it: says exactly what, and how to get it."""

    def __init__(self, reason: str) -> None:
        super().__init__("cuda")
        self.reason = reason

    def why(self) -> str:
        """What is missing, exactly, and the remedy."""
        return f"{self.reason} Or let the program choose: device = 'cuda' if torch.cuda.is_available() else 'cpu'."


def _missing() -> str:
    """What is missing for a CUDA device; empty if nothing is."""
    if importlib.util.find_spec("cupy") is None:
        return f"CuPy is not installed: {_INSTALL}."
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy says in many ways that driver or libraries are not there
        return f"CuPy is installed, and finds no GPU ({type(error).__name__}: {error}). Is there an NVIDIA driver?"
    return "" if count else "There is no NVIDIA GPU on this machine."


class _Pinning(Kind):
    """A device that reads page-locked memory of the host by itself."""

    def receive_soon(self, array: Any) -> Any:
        from ..kernels.cuda import pinned

        return pinned.sent(array) if pinned.can_be_sent(array) else self.receive(array)

    def pinned(self, tensor: Any) -> Any:
        from ..kernels.cuda import pinned

        return tensor if pinned.is_pinned(tensor._array) else new_tensor(pinned.pinned(tensor._array))

    def is_pinned(self, array: Any) -> bool:
        from ..kernels.cuda import pinned

        return pinned.is_pinned(array)


class _Sharing(_Pinning):
    """And shares its memory: with streams, with other libraries, with the host a little later."""

    def letter(self, array: Any, sizes: list[int] | None = None) -> Any:
        from ..kernels.cuda import mail

        return mail.Letter(array, sizes)

    def used_on(self, array: Any, stream: Any) -> None:
        from ..kernels.cuda import memory

        memory.used_on(array, stream._stream)

    def from_dlpack(self, other: Any) -> Any:
        """An array on the memory of another library's, or of a bare capsule."""
        if hasattr(other, "__dlpack__"):
            return self.xp.from_dlpack(other)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # (CuPy would rather not take capsules any more)
            return self.xp.fromDlpack(other)


class _Making(_Sharing):
    """And makes small arrays by itself, and does work again that was captured once."""

    def capture(self) -> Any:
        from ..kernels.cuda.capture import Capture

        return Capture()

    def counted(self, start: int, step: int, count: int, dtype: Any) -> Any:
        from ..kernels.cuda import namespace

        return namespace.counted(start, step, count, dtype)

    def one(self, array: Any) -> Any:
        from ..kernels.cuda import namespace

        return namespace.one(array)


def _make() -> Kind:
    import cupy

    from ..kernels import mt19937
    from ..kernels.choosing import Strangers
    from ..kernels.cuda import capture, draws, memory, namespace, philox, waits

    class Cuda(_Making):
        """NVIDIA GPUs."""

        name = "cuda"
        half = True
        array = cupy.ndarray
        xp = namespace.xp

        def count(self) -> int:
            return int(cupy.cuda.runtime.getDeviceCount())

        def device(self, array: Any = None) -> device:
            """Where an array lives; without one, the device that is used unless another is named."""
            number: int = array.device.id if array is not None else cupy.cuda.runtime.getDevice()
            return _PLACES[number]

        def receive(self, array: Any) -> Any:
            return capture.received(array)

        def to_host(self, array: Any) -> Any:
            if waits.mode:
                waits.noticed()
            return array.get()

        def address(self, array: Any) -> int:
            return int(array.data.ptr)

        def synchronize(self) -> None:
            cupy.cuda.Device().synchronize()

        def memory_stats(self) -> dict[str, int]:
            return memory.pool.stats()

        def generator(self) -> Any:
            return philox.Generator()

        def draw(
            self, what: str, generator: Any, shape: tuple[int, ...], dtype: Any, low: float = 0.0, high: float = 1.0
        ) -> Any:
            """Random numbers, made on the device; None: the host makes them."""
            chosen = philox.default_generator if generator is None else generator._source
            if not isinstance(chosen, philox.Generator):
                raise EngineError("Expected a 'cuda' device type for generator but found 'cpu'")
            return draws.drawn(chosen, what, shape, dtype, low, high)

        def manual_seed(self, seed: int) -> None:
            philox.default_generator.manual_seed(seed)

    _PLACES: list[device] = [device("cuda", i) for i in range(cupy.cuda.runtime.getDeviceCount())]
    namespace.make_known()
    Strangers.made_where = staticmethod(made_where)
    devices.TAKES_ANY.update(namespace.TAKES_ANY)
    philox.default_generator.manual_seed(mt19937.default_generator.initial_seed())
    return Cuda()


_why = _missing()
devices.register(NoCuda(_why) if _why else _make())
