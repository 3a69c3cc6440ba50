"""Devices: what one is, and the one door that every `device=` argument goes through.

A kind of device (`Kind`) is a type of arrays, the namespace `xp` that makes them and computes with them, the way to
and from the host, and what may be asked of its memory. A tensor knows where it lives by the type of its array, so there
is nothing to keep in step.

NOTE [A new device]: write a `Kind` in a module of its own and name the module in `_MODULES`: it is imported when somebody
asks for the device first. Its arrays' type goes to `kernels.registry`, and operations find their kernels there. A kind
that cannot be used says in `missing()` what is not there and how to get it; every entry point raises that.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import threading
from collections.abc import Callable
from typing import Any

import numpy

from ..errors import ArgumentTypeError, EngineError, NoDeviceError, NotSupportedError
from ..forks import fork_safe
from ..kernels import mt19937
from ..kernels.batched.levels import Mapped
from ..kernels.layout import memory_root

ndarray = numpy.ndarray  # the host's arrays

# PyTorch's device types, in the order of its message.
TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip

ACCELERATORS = ("cuda", "xpu", "mps")
NO_ACCELERATOR = "Cannot access accelerator device when none is available."


class device:
    """Where a tensor lives: `device('cpu')`, `device('cuda:0')`, `device('cuda', 0)`.

    As a context manager it is where new tensors are made: `with torch.device('meta'): …`.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = "cpu", index: int | None = None, *, device: Any = None) -> None:
        type = type if device is None else device
        if isinstance(type, globals()["device"]):
            type, index = type.type, type.index
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = accelerator().name, type
        if not isinstance(type, str):
            raise ArgumentTypeError(
                f"device() received an invalid combination of arguments - got ({type.__class__.__name__}), but expected one "
                "of:\n * (torch.device device)\n * (str type, int index = -1)"
            )
        name, colon, number = type.partition(":")
        if name and name not in TYPES and name.replace("_", "").isalnum():
            raise EngineError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {name}")
        if name not in TYPES or (colon and not (number.isdigit() and (number == "0" or number[0] != "0"))):
            raise EngineError(f"Invalid device string: '{type}'")
        if colon and index is not None:
            raise EngineError(f"type (string) must not include an index because index was passed explicitly: {type}")
        if index is not None and index < 0:
            raise EngineError("Device index must not be negative")
        self.type = name
        self.index = int(number) if colon else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type + (f":{self.index}" if self.index is not None else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        _choose([*_choice.devices, self])
        return self

    def __exit__(self, *_: object) -> None:
        if len(_choice.devices) > 1:
            _choose(_choice.devices[:-1])


# Kinds of device -------------------------------------------------------------------------------------


class Kind:
    """A kind of device. What stands here is right for the host; others say what differs."""

    name: str = "cpu"
    array: type = numpy.ndarray
    xp: Any = numpy
    draws = True  # are random numbers drawn, or is there nothing to fill with them?
    mapped = False  # does it stand for the host inside `vmap`? See batching.py
    half = False  # do its kernels take half precision as it is, or is it widened for them?

    def missing(self) -> str:
        """What is not there and how to get it; empty if the device can be used."""
        return ""

    def count(self) -> int:
        """How many such devices there are."""
        return 1

    def device(self, array: Any = None) -> device:
        """Where an array lives; without one, the device that is used unless another is named."""
        return CPU

    def receive(self, array: Any) -> Any:
        """A host array on this device (the array itself where that is the host)."""
        return array

    def receive_soon(self, array: Any) -> Any:
        """The same without waiting, where that is possible: nobody may write to the host's array until it has happened."""
        return self.receive(array)

    def letter(self, array: Any, sizes: list[int] | None = None) -> Any:
        """Values that are sent to the host now, to be read later: as a list, or as an array for each of the sizes."""
        raise NotSupportedError(f"nothing is sent from the device {self.name!r}")

    def used_on(self, array: Any, stream: Any) -> None:
        """A stream other than the one that its memory belongs to works with an array."""
        raise NotSupportedError(
            f"Could not run 'aten::record_stream' with arguments from the '{self.name.upper()}' backend."
        )

    def visible(self, array: Any) -> bool:
        """May the values of an array be looked at? (Nobody asks for NumPy's own.)"""
        return False

    def to_host(self, array: Any) -> Any:
        """An array of this device as NumPy's."""
        return array

    def computed(self, shape: tuple[int, ...], dtype: Any, compute: Callable[[], Any]) -> Any:
        """An array whose values the host computes (ranges, random numbers), on this device."""
        return self.receive(compute())

    def counted(self, start: int, step: int, count: int, dtype: Any) -> Any:
        """start, start + step, …: integers made on the device; None: the host makes them."""
        return None

    def one(self, array: Any) -> Any:
        """Ones like an array, which nobody writes to: where a gradient begins."""
        return _one(array.dtype).copy() if type(array) is numpy.ndarray and not array.ndim else self.xp.ones_like(array)

    def capture(self) -> Any:
        """Work that is noted once and done again in one launch (kernels/cuda/capture.py)."""
        raise NotSupportedError(f"nothing is captured on the device {self.name!r}")

    def address(self, array: Any) -> int:
        """Where the first element lies in memory."""
        place: int = array.__array_interface__["data"][0]
        return place

    def pinned(self, tensor: Any) -> Any:
        """A host tensor in memory that this device reads without a copy."""
        return tensor

    def is_pinned(self, array: Any) -> bool:
        """Does a host array lie in such memory?"""
        return False

    def offset(self, array: Any) -> int:
        """Bytes from the beginning of the memory that an array is a part of."""
        return self.address(array) - self.address(memory_root(array))

    def rest(self) -> None:
        """A training begins: step out of its way if no array of this kind is left."""

    def synchronize(self) -> None:
        """Wait until all work is done. On the host it is done when a call returns."""

    def memory_stats(self) -> dict[str, int]:
        """What is known of its memory: nothing, where the operating system keeps the books."""
        return {}

    def generator(self) -> Any:
        """A new random generator."""
        return mt19937.Generator()

    def draw(
        self, what: str, generator: Any, shape: tuple[int, ...], dtype: Any, low: float = 0.0, high: float = 1.0
    ) -> Any:
        """Random numbers ("uniform", "normal", "integers"; "kept" by dropout, or "bernoulli", with probability `low`) made on the
        device; None: the host makes them."""
        return None

    def manual_seed(self, seed: int) -> None:
        """Restart the device's own generator, where it has one."""


@functools.cache
def _one(dtype: Any) -> Any:
    return numpy.ones((), dtype)


class Absent(Kind):
    """A kind of device that PyTorch knows and clarion cannot use here: every question for it ends in `NoDeviceError`."""

    draws = False

    def __init__(self, name: str) -> None:
        self.name = name

    def count(self) -> int:
        return 0

    def missing(self) -> str:
        if self.name in ("cuda", "xpu", "mtia"):
            phrase = f"Torch not compiled with {self.name.upper()} enabled"
        else:
            phrase = f"PyTorch is not linked with support for {self.name} devices"
        return f"{phrase}\n{self.why()}"

    def why(self) -> str:
        """What is missing, exactly, and the remedy."""
        return f"clarion has no {self.name!r} device: it computes on 'cpu'. Choose the device by what is available."


# Kinds in modules of their own: see NOTE [A new device].
_MODULES = {"cuda": "clarion.core.cuda", "meta": "clarion.core.meta"}

CPU = device("cpu")
HOST = Kind()
KINDS: dict[str, Kind] = {"cpu": HOST}
_BY_ARRAY: dict[type, Kind] = {numpy.ndarray: HOST}
HALVES: set[type] = set()  # types of arrays whose kernels take half precision as it is
# Operations whose gradient rules on such arrays take gradients of any floating type, and for which of their nodes.
TAKES_ANY: dict[str, Callable[[Any], bool]] = {}


def register(kind: Kind) -> Kind:
    """Make a kind of device known by its name and by the type of its arrays."""
    KINDS[kind.name] = kind
    if not isinstance(kind, Absent):
        _BY_ARRAY[kind.array] = kind
        if kind.half:
            HALVES.add(kind.array)
    return kind


def kind_named(name: str) -> Kind:
    """The kind of device of that name, there or not."""
    found = KINDS.get(name)
    if found is None:
        if name in _MODULES:
            importlib.import_module(_MODULES[name])
            return KINDS[name]
        found = register(Absent(name))
    return found


def is_available(name: str) -> bool:
    """Can this kind of device be used?"""
    return not kind_named(name).missing()


def find(where: Any) -> Kind:
    """The kind of device that a `device=` argument names; refused where it cannot be used."""
    name = where.type if isinstance(where, device) else device(where).type
    kind = KINDS.get(name) or kind_named(name)
    if kind is not HOST and (why := kind.missing()):
        raise NoDeviceError(why)
    return kind


def tidy() -> None:
    """A training begins: kinds of device that were used on the way (`meta`, to build the model) and are not any more rest."""
    for kind in KINDS.values():
        kind.rest()


def kind_of(array: Any) -> Kind:
    """The kind of device an array lives on."""
    return _BY_ARRAY.get(type(array)) or HOST  # subclasses of NumPy's array


def as_array(value: Any) -> Any:
    """An array as it is; a number (NumPy hands out 0-dim results as such) as an array of the host."""
    return value if type(value) in _BY_ARRAY else numpy.asarray(value)


def xp_of(array: Any) -> Any:
    """The namespace that computes with an array."""
    return (_BY_ARRAY.get(type(array)) or HOST).xp


def visible(array: Any) -> bool:
    """May its values be looked at? Elsewhere than on the host there may be none, or looking means waiting."""
    return type(array) is ndarray or kind_of(array).visible(array)


def to_host(array: Any) -> Any:
    """The values of an array as NumPy's, wherever it lives."""
    return (_BY_ARRAY.get(type(array)) or HOST).to_host(array)


def wraps(array: Any) -> bool:
    """Does it stand for a tensor of a class that computes for itself? (core/wrapped.py is loaded with the first of them.)"""
    return type(array) is not ndarray and hasattr(array, "owner")


def writable(array: Any) -> bool:
    """May an array be written to? (Only NumPy's can be locked.)"""
    return bool(getattr(array.flags, "writeable", True))


def write(target: Any, values: Any) -> None:
    """Put values into an array, converted to its type; those of another device are brought there first."""
    kind = kind_of(target)
    if isinstance(values, Mapped):  # what `vmap` computed for all samples is refused where they share one place
        xp_of(values).copyto(target, values)
        return
    if type(values) is not type(target) and (other := _BY_ARRAY.get(type(values))) is not None:
        values = kind.receive(values if other is HOST else other.to_host(values))
    kind.xp.copyto(target, values, casting="unsafe")


def accelerator() -> Kind:
    """The device beside the host that computes; refused where there is none."""
    for name in ACCELERATORS:
        if is_available(name):
            return kind_named(name)
    raise EngineError(
        f"{NO_ACCELERATOR}\nclarion computes on the CPU here; ask torch.accelerator.is_available() first."
    )


# Where new tensors are made --------------------------------------------------------------------------


class _Choice(threading.local):
    """The device of new tensors: what `set_default_device` said first, then each `with device(…)`. One per thread."""

    def __init__(self) -> None:
        self.devices: list[device | None] = [None]


_choice = _Choice()
elsewhere = 0  # how many choices there are in all threads: while it is 0, nobody reads a thread-local
_lock = fork_safe(threading.Lock())


def _choose(devices: list[device | None]) -> None:
    global elsewhere
    with _lock:
        elsewhere += sum(each is not None for each in devices) - sum(each is not None for each in _choice.devices)
    _choice.devices = devices


def home() -> Kind:
    """The kind of device on which new tensors are made."""
    chosen = _choice.devices[-1] if elsewhere else None
    return HOST if chosen is None else find(chosen)


def set_default_device(where: Any) -> None:
    """Make the new tensors of this thread on a device; None: on the CPU again."""
    chosen = where if where is None or isinstance(where, device) else device(where)
    inner = _choice.devices[1:]
    _choose([chosen, *inner[:-1], *([chosen] if inner else [])])
