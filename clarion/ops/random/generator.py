"""`torch.Generator`, and the functions that seed and save the default one."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from ...core import devices, modes
from ...core.devices import CPU, device, kind_named
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, EngineError
from ...kernels import mt19937
from ...kernels.batched.levels import open_levels
from ...kernels.batched.randomness import Drawing
from ..faces.api import FUNCTIONS, public

# How PyTorch refuses a generator of a device that is not there.
_REFUSALS = {
    "cuda": "Cannot get CUDA generator without ATen_cuda library.",
    "xpu": "Cannot get XPU generator without ATen_xpu library.",
    "mps": "Cannot execute getNewGenerator() without MPS backend.",
}


generators: WeakSet[Generator] = WeakSet()  # all that are alive, also the one that draws where none is given


class Generator:
    """A source of random numbers with a state of its own: the same numbers as PyTorch's on the CPU."""

    __slots__ = ("__weakref__", "_source")

    _source: mt19937.Generator

    def __init__(self, device: Any = "cpu") -> None:
        kind = kind_named(devices.device(device).type)
        if why := kind.missing() or ("" if kind.draws else "There is nothing to fill with random numbers."):
            raise EngineError(
                f"{_REFUSALS.get(kind.name, f'{kind.name.upper()} device type not an accelerator.')}\n{why}"
            )
        self._source = kind.generator()
        generators.add(self)

    @property
    def device(self) -> device:
        """Where it draws."""
        return CPU if isinstance(self._source, mt19937.Generator) else kind_named("cuda").device()

    def manual_seed(self, seed: int) -> Generator:
        """Restart from `seed`."""
        self._source.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Restart from a seed the operating system picks, and return it."""
        return self._source.seed()

    def initial_seed(self) -> int:
        """The seed it was started from."""
        return self._source.initial_seed()

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, the same bytes as PyTorch's."""
        return new_tensor(self._source.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a saved state."""
        array = new_state._array if isinstance(new_state, Tensor) else None
        if array is None or array.dtype.name != "uint8":
            raise ArgumentTypeError("RNG state must be a torch.ByteTensor")
        self._source.set_state(array)
        return self

    def clone_state(self) -> Generator:
        """A second generator that will draw the same numbers."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> Any:
        return _restore, (self._source.get_state(),)


def _restore(state: Any) -> Generator:
    return Generator().set_state(new_tensor(state))


default_generator = Generator()
default_generator._source = mt19937.default_generator
FUNCTIONS["Generator"] = Generator
FUNCTIONS["default_generator"] = default_generator  # type: ignore[assignment]


def drawn_by(name: str, generator: Any) -> Any:
    """The same for operations that draw: inside `vmap` one that draws for all samples."""
    found = source(name, generator)
    return found if not modes.batches or not open_levels.levels else Drawing(found)


def source(name: str, generator: Any) -> mt19937.Generator:
    """The raw generator behind a `generator=` argument; None means the default one."""
    if generator is None:
        return mt19937.default_generator
    if not isinstance(generator, Generator):
        raise ArgumentTypeError(
            f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}"
        )
    return generator._source


@public(method=False)
def manual_seed(seed: Any) -> Generator:
    """Seed the default generator; returns it."""
    for kind in devices.KINDS.values():
        kind.manual_seed(int(seed))
    return default_generator.manual_seed(int(seed))


@public(method=False)
def seed() -> int:
    """Seed the default generator from the operating system, and return the seed."""
    return default_generator.seed()


@public(method=False)
def initial_seed() -> int:
    """The seed the default generator was started from."""
    return default_generator.initial_seed()


@public(method=False)
def get_rng_state() -> Tensor:
    """The state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


@public(method=False)
def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from a saved state."""
    default_generator.set_state(new_state)
