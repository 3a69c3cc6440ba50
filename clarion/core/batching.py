"""Tensors of all samples at once, for `vmap`: their kind of device, the way in and out, and how they meet other tensors.

Inside a mapped function tensors hold batched arrays (kernels/batched), and the engine runs as ever: it sees one sample. A tensor from
outside that is recorded meets them as one that all samples share (`same_for_all`), so that its gradient is the sum over the
samples. That is put into the graph where they meet (`join`), for nobody knows beforehand what a function uses.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import EngineError
from ..forks import fork_safe
from ..kernels import registry
from ..kernels.batched import randomness
from ..kernels.batched.array import Batched, is_of, levels_of
from ..kernels.batched.levels import Level, open_levels, refuse_randomness, refuse_write
from ..kernels.batched.namespace import xp
from ..kernels.batched.randomness import Drawing
from ..kernels.batched.rules import kernel_for
from ..kernels.permutation import randperm
from ..kernels.random import default_generator, dropout_mask, normal, randint, uniform
from ..pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten
from . import devices, modes
from .devices import HOST, Kind, device
from .op import Op
from .recording import make_node
from .tensor import Tensor, new_tensor

batch_op = Op("batch", "x", "level dim", view=True)
unbatch_op = Op("unbatch", "x", "level dim", moves=True)
unbatch_view_op = Op("unbatch_view", "x", "level dim", view=True)
same_for_all_op = Op("same_for_all", "x", "level", moves=True)
sum_of_samples_op = Op("sum_of_samples", "x", "level")
common_op = Op("common_sample", "x", "level", moves=True)
batch_op.vjp(x=lambda g, level, dim, ops: ops.unbatch(g, level, dim)).jvp("each")
unbatch_op.vjp(x=lambda g, level, dim, ops: ops.batch(g, level, dim)).jvp("each")
unbatch_view_op.vjp(x=lambda g, level, dim, ops: ops.batch(g, level, dim)).jvp("each")
same_for_all_op.vjp(x=lambda g, level, ops: ops.sum_of_samples(g, level)).jvp("each")
common_op.vjp(x=lambda g, level, ops: ops.same_for_all(g * (1 / level.size), level)).jvp("each")
sum_of_samples_op.vjp(x=lambda g, level, ops: ops.same_for_all(g, level)).jvp("each")


# Levels -------------------------------------------------------------------------------------------------------


def new_level(size: int, randomness: str) -> Level:
    """A level. As long as anything refers to it, operations look whether tensors from outside meet its arrays."""
    _wake()
    level = Level(size, randomness)
    modes.count_batches(1)
    weakref.finalize(level, modes.count_batches, -1).atexit = False
    return level


_lock = fork_safe(threading.Lock())
_running = 0


@contextmanager
def inside(level: Level) -> Iterator[None]:
    """New random numbers in this block are the level's."""
    global _running
    before = open_levels.levels
    with _lock:
        _running += 1
        if _running == 1:
            _beside[0] = devices.KINDS["cpu"], devices._BY_ARRAY[HOST.array]
            devices.KINDS["cpu"] = devices.KINDS["mapped"] = devices._BY_ARRAY[HOST.array] = MAPPED_HOST
    devices._choose(
        [*devices._choice.devices, _Here()] if devices._choice.devices[-1] is None else devices._choice.devices
    )
    open_levels.levels = (*before, level)
    modes.state.transforms += 1
    try:
        yield
    finally:
        open_levels.levels = before
        modes.state.transforms -= 1
        if type(devices._choice.devices[-1]) is _Here and not before:
            devices._choose(devices._choice.devices[:-1])
        with _lock:
            _running -= 1
            if not _running:
                devices.KINDS["cpu"], devices._BY_ARRAY[HOST.array] = _beside[0]
                del devices.KINDS["mapped"]


_beside: list[Any] = [None]


class _Here(device):
    """The device of new tensors inside a mapped function: the host."""

    __slots__ = ()

    def __init__(self) -> None:
        self.type, self.index = "mapped", None


# Kinds of device -----------------------------------------------------------------------------------------------


def _draw(what: str, generator: Any, shape: tuple[int, ...], dtype: Any, low: float, high: float) -> Any:
    """Random numbers for the open levels of this thread."""
    levels = open_levels.levels
    for level in levels:
        refuse_randomness(level)
    own = [level for level in levels if level.randomness == "different"]
    whole = (*[level.size for level in own], *shape)
    gen = default_generator if generator is None else generator._source
    if what == "permutation":
        drawn = _permutations(gen, tuple(level.size for level in own), shape[0], dtype)
    else:
        drawn = _SAMPLERS[what](gen, whole, dtype, low, high)
    for level in levels:
        drawn = Batched(drawn, level, level.randomness == "different")
    return drawn


def _permutations(gen: Any, sizes: tuple[int, ...], count: int, dtype: Any) -> Any:
    if not sizes:
        return randperm(gen, count, dtype)
    return HOST.xp.stack([_permutations(gen, sizes[1:], count, dtype) for _ in range(sizes[0])])


_SAMPLERS: dict[str, Callable[..., Any]] = {
    "uniform": lambda gen, shape, dtype, low, high: uniform(gen, shape, dtype, low, high),
    "normal": lambda gen, shape, dtype, low, high: normal(gen, shape, dtype, low, high),
    "normal_apart": lambda gen, shape, dtype, low, high: normal(gen, shape, dtype, low, high, False),
    "integers": lambda gen, shape, dtype, low, high: randint(gen, shape, int(low), int(high), dtype),
    "randint_like": lambda gen, shape, dtype, low, high: randint(gen, shape, int(low), int(high), dtype),
    "kept": lambda gen, shape, dtype, low, high: dropout_mask(gen, shape, 1 - low).astype(dtype),
    "bernoulli": lambda gen, shape, dtype, low, high: dropout_mask(gen, shape, 1 - low).astype(dtype),
}


class _Mapped(Kind):
    """What both have in common: random numbers are those of the open levels."""

    mapped = True

    def draw(
        self, what: str, generator: Any, shape: tuple[int, ...], dtype: Any, low: float = 0.0, high: float = 1.0
    ) -> Any:
        if not open_levels.levels or what not in (*_SAMPLERS, "permutation"):
            return None
        return _draw(what, generator, shape, dtype, low, high)


class MappedHost(_Mapped):
    """The host while a mapped function runs. Other threads see the host as ever."""


class BatchedKind(_Mapped):
    """Where all samples are at once: on the host, though nobody can read them."""

    array = Batched
    xp = xp

    def device(self, array: Any = None) -> device:
        return HOST.device() if array is None else devices.kind_of(array.data).device(array.data)

    def one(self, array: Any) -> Any:
        """All samples begin with the same."""
        return _ones(array)

    def visible(self, array: Any) -> bool:
        return False

    def to_host(self, array: Any) -> Any:
        return array.tolist()  # refuses

    def address(self, array: Any) -> int:
        return int(array.tolist())  # refuses

    def offset(self, array: Any) -> int:
        return devices.kind_of(array.data).offset(array.data)


def _ones(array: Any) -> Any:
    if type(array) is not Batched:
        return HOST.xp.ones_like(array)
    if not array.varies:
        return array.like(_ones(array.data))
    data = array.data
    return Batched(
        _ones(data[0, ...]) if array.level.size else HOST.xp.ones(array.shape, array.dtype), array.level, False
    )


MAPPED_HOST = MappedHost()
devices._BY_ARRAY[Batched] = BatchedKind()
_known = False


def _wake() -> None:
    """From the first mapped function on kernels look for batched arrays."""
    global _known
    with _lock:
        if not _known:
            registry.know("batched", Batched, xp, otherwise=kernel_for)
            registry.know("drawing", Drawing, xp, otherwise=randomness.kernel_for)
            _known = True


# Where tensors meet ----------------------------------------------------------------------------------------------


def shared(x: Any, levels: tuple[Level, ...]) -> Any:
    """A tensor as one that all samples of these levels share."""
    have = levels_of((x._array,))
    for level in levels:
        if level not in have:
            x = same_for_all_op.call(x, level)
    return x


def custom_function(cls: Any, args: tuple[Any, ...]) -> Any:
    """A custom Function with batched arguments: its own rule, or None where it is run as it is written.

    Recorded arguments from outside are shared by all samples: (the Function's result or None, the arguments).
    """
    levels = levels_of([x._array for x in args if isinstance(x, Tensor)])
    if not levels:
        return None, args
    level = levels[-1]
    if level in open_levels.levels:
        if not cls.generate_vmap_rule and cls.vmap is _no_rule():
            raise EngineError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
                "staticmethod or set generate_vmap_rule=True. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        if cls.vmap is not _no_rule():
            if cls.generate_vmap_rule:
                raise EngineError(
                    f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
                    "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
                    "ambiguity. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
                )
            return _by_its_rule(cls, args, level), args
    return None, tuple([shared(x, levels) if isinstance(x, Tensor) and x._rg else x for x in args])


def _no_rule() -> Any:
    from .function import Function

    return Function.vmap


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told."""

    batch_size: int
    randomness: str


def _by_its_rule(cls: Any, args: tuple[Any, ...], level: Level) -> Any:
    """The Function's own rule, on all samples' tensors; its results as those of samples again. The level is left meanwhile."""
    values, spec = tree_flatten(args)
    given, dims = [], []
    for x in values:
        mapped = isinstance(x, Tensor) and is_of(x._array, level) and x._array.varies
        own = isinstance(x, Tensor) and is_of(x._array, level)
        place = x._array.place if mapped else None
        given.append(unbatch_op.call(x, level, place) if mapped else common_op.call(x, level) if own else x)
        dims.append(place)
    before, open_levels.levels = open_levels.levels, tuple(each for each in open_levels.levels if each is not level)
    try:
        results = cls.vmap(
            VmapInfo(level.size, level.randomness), tree_unflatten(dims, spec), *tree_unflatten(given, spec)
        )
    finally:
        open_levels.levels = before
    if not (isinstance(results, tuple) and len(results) == 2):
        raise EngineError(
            f"Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the "
            f"output. Got a {type(results)} instead."
        )
    output, out_dims = results
    flat, out_spec = tree_flatten(output)
    places = _broadcast_to_and_flatten(out_dims, out_spec)
    if places is None:
        raise EngineError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure {tree_structure(out_dims)} "
            f"but output has structure {out_spec}. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )
    wrapped = [
        x if d is None or not isinstance(x, Tensor) else batch_op.call(x, level, d % x.ndim)
        for x, d in zip(flat, places, strict=True)
    ]
    return tree_unflatten(wrapped, out_spec)


def join(inputs: tuple[Any, ...], out: Tensor, node: Any) -> None:
    """Put into the graph of an operation that its recorded inputs from outside are shared by all samples."""
    if type(out._array) is not Batched or node is None:
        return
    levels = levels_of((out._array,))
    edges, nrs = list(node.edges), list(node.nrs or (0,) * len(node.edges))
    met = False
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or i >= len(edges) or edges[i] is None:
            continue
        have = levels_of((x._array,)) if type(x._array) is Batched else ()
        for level in levels:
            if level not in have:
                edges[i], nrs[i] = _sharing(x, edges[i], nrs[i], level, node), 0
                met = True
    if met:
        node.edges, node.nrs = tuple(edges), tuple(nrs) if any(nrs) else None


def _sharing(x: Tensor, edge: Any, nr: int, level: Level, node: Any) -> Any:
    """The node of `same_for_all` between an operation and what it was given: older than the one, younger than the other."""
    stand_in = new_tensor(x._array)
    link = make_node(same_for_all_op, (stand_in,), (level,), (stand_in,), 1)
    link.edges, link.nrs = (edge,), (nr,) if nr else None
    link.seq, node.seq = node.seq, link.seq
    return link


def refuse_unbatched_write(name: str, x: Tensor, args: tuple[Any, ...]) -> None:
    """What differs from sample to sample is not written into what all samples share."""
    drawn = name in randomness.DRAWN
    if drawn and not any(level.randomness == "different" for level in open_levels.levels):
        return  # (whether it may be drawn is for the kernel to say)
    have = None
    for value in args:
        array = getattr(value, "_array", None)
        if type(array) is Batched:
            have = _varying_levels(x._array) if have is None else have
            if any(level not in have for level in _varying_levels(array)):
                refuse_write(f"{name}_")
    if drawn and args and type(args[-1]) is Drawing:
        randomness.refuse_shared(x._array)


def _varying_levels(array: Any) -> list[Level]:
    found = []
    while type(array) is Batched:
        if array.varies:
            found.append(array.level)
        array = array.data
    return found
