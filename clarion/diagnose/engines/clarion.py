"""clarion's own engine, as the diagnoses see it: the answers to the questions of `diagnose/engine.py`."""

from __future__ import annotations

import contextlib
import functools
import gc
import random
import sys
import weakref
from collections.abc import Iterator
from operator import attrgetter
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core import engine as _engine
from ...core import modes, provenance
from ...core.devices import HALVES
from ...core.function import Function
from ...core.namespace import OPS
from ...core.node import FREED, Node, sequence
from ...core.op import Op
from ...core.passes import running
from ...core.saved import watch_borrowed
from ...core.tensor import Tensor, new_tensor
from ...core.versions import INFERENCE
from ...events import Hub, hub, unheard
from ...kernels import captures
from ...kernels import quiet as _warnings
from ..engine import LOST
from ..graph.traits import having
from ..signals import of_the_program
from ..source.installed import is_installed
from .custom import custom_call as custom_call
from .custom import random_state as random_state
from .values import all_finite as all_finite
from .values import array as array
from .values import finite_soon as finite_soon
from .values import late as late
from .values import letter as letter
from .values import number as number
from .values import samples_soon as samples_soon
from .values import seen, whole
from .values import some as some
from .values import squares as squares

# Tensors -------------------------------------------------------------------------------------------

node = attrgetter("_edge")
output_number = attrgetter("_nr")
requires_grad = attrgetter("_rg")
grad = attrgetter("_grad")
is_parameter = attrgetter("_is_parameter")
story = attrgetter("_story")
shape = attrgetter("_array.shape")
size = attrgetter("_array.size")
nbytes = attrgetter("_array.nbytes")


def is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def is_node(x: Any) -> bool:
    return isinstance(x, Node)


def set_story(t: Any, found: Any) -> None:
    t._story = found


def kind(t: Any) -> str:
    found: str = t._array.dtype.kind
    return "f" if found == "V" else found  # bfloat16


def eps(t: Any) -> float:
    return _eps_of(t.dtype)


@functools.lru_cache
def _eps_of(dtype: Any) -> float:
    from ...ops.creation.questions import finfo

    return float(finfo(dtype).eps)


def memory(t: Any) -> int:
    return id(t._array)


def version(t: Any) -> tuple[int, int, int]:
    counter = t._vc
    return (id(t._array), counter.n, counter.silent) if counter is not None else (id(t._array), 0, 0)


def writes(t: Any) -> int:
    return int(t._counter().n)


def is_inference(t: Any) -> bool:
    return t._vc is INFERENCE


# Nodes ---------------------------------------------------------------------------------------------

_BOUNDED_BELOW = having("", also="clamp clamp_min threshold hardtanh")  # their bound follows the input
# Inputs that mostly are not there; a frozen one, which was not kept, hardly matters to what is finite.
_OPTIONAL = frozenset(["b", "bias", "weight", "pos_weight"])


def traits(name: str) -> frozenset[str]:
    return OPS[name].traits if name in OPS else frozenset()


def op(of: Any) -> Op | None:
    found = getattr(type(of), "op", None)
    return found if isinstance(found, Op) else None


def operation(of: Any) -> str:
    found = getattr(type(of), "op", None)
    return found.name if isinstance(found, Op) else ""


def title(of: Any) -> str:
    return type(of).__name__


def node_of(root: Any) -> Any:
    return root if isinstance(root, Node) else root._edge if isinstance(root, Tensor) else root.node


def operands(of: Any) -> list[Any]:
    saved = of.saved or ()
    found: list[Any] = []
    for i, edge in enumerate(of.edges):
        value = saved[i] if i < len(saved) else None
        if isinstance(value, Tensor):
            found.append(seen(value._array))
        elif isinstance(edge, Tensor):
            found.append(seen(edge._array))
        elif not isinstance(edge, Node) and isinstance(value, (np.ndarray, np.generic, int, float, complex)):
            found.append(value)
        else:
            found.append(LOST)
    return found


def kept(of: Any) -> Iterator[tuple[tuple[Any, int], Any]]:
    declared, saved = op(of), of.saved
    if declared is None or not saved or captures.current() is not None:
        return
    for i, edge in enumerate(of.edges):
        if isinstance(edge, Node) and i < len(saved) and isinstance(saved[i], Tensor):
            yield (edge, 0 if of.nrs is None else of.nrs[i]), seen(saved[i]._array)
    more = len(of.edges) - len(declared.inputs)
    for position, nr in declared.out_positions:
        found = saved[position + more] if position + more < len(saved) else None
        if isinstance(found, np.ndarray) or type(found) in HALVES:
            yield (of, nr), seen(found)


def compute(of: Any, values: list[Any]) -> list[Any] | None:
    declared, saved = op(of), of.saved
    if declared is None or "gen" in declared.params or (declared.params and not saved):
        return None
    values = [
        None if v is LOST and edge is None and not declared.variadic and declared.inputs[i] in _OPTIONAL else v
        for i, (v, edge) in enumerate(zip(values, of.edges, strict=True))
    ]
    if any(value is LOST for value in values):
        return None
    params = tuple(saved[len(values) : len(values) + len(declared.params)]) if declared.params else ()
    try:
        arrays, _ = declared.raw_operands([new_tensor(v) if isinstance(v, np.ndarray) else v for v in values])
        result = declared.kernel(arrays, *params) if declared.variadic else declared.kernel(*arrays, *params)
    except Exception as error:
        if of_the_program(error):
            raise
        return None  # unknown, then
    return [np.asarray(whole(out)) for out in (result if isinstance(result, (tuple, list)) else (result,))]


def saved_values(of: Any) -> Iterator[tuple[str, Any]]:
    declared = op(of)
    if declared is not None:
        for name, value in zip(declared.layout, of.saved or (), strict=False):
            if name not in declared.params:
                found = seen(value._array if isinstance(value, Tensor) else value)
                yield ("input" if name in declared.inputs else "output"), found


def saved_memory(of: Any) -> Iterator[tuple[int, int, bool]]:
    for value in of.saved or ():
        values = whole(value._array if isinstance(value, Tensor) else value)
        if isinstance(values, np.ndarray):
            memory = values.base if isinstance(values.base, np.ndarray) else values
            # A leaf or an input lives anyway.
            yield id(memory), memory.nbytes, not isinstance(value, Tensor) or value._edge is not None


def is_freed(of: Any) -> bool:
    return of.saved is FREED


# Every operation has its node and is told, and every module has its frame.
unfold = unframed = missed = lambda *_, **__: ()


def firing(of: Any) -> Any:
    saved, name = of.saved, operation(of)
    if not saved:
        return None
    if name == "relu":
        found = saved[-1]
    elif name in _BOUNDED_BELOW and _is_zero(saved[1]):
        found = saved[0]
    elif name == "maximum" and any(_is_zeros(value) for value in saved[:2]):
        found = next((value for value in saved[:2] if not _is_zeros(value)), None)
    else:
        return None
    found = whole(found._array if isinstance(found, Tensor) else found)
    return found if isinstance(found, np.ndarray) and found.ndim else None


def _is_zero(bound: Any) -> bool:
    return bound is not None and not isinstance(bound, Tensor) and np.ndim(bound) == 0 and float(bound) == 0.0


def _is_zeros(value: Any) -> bool:
    return isinstance(value, Tensor) and not value._rg and not whole(value._array).any()


def dimension(of: Any) -> Any:
    return of.saved[1]


def borrowed(of: Any) -> list[Any]:
    saved = [value for value in of.saved if getattr(value, "_vc", None) is not None]
    return [tensor._array for tensor in saved if tensor._vc.exported]


knows_all_nodes = True
rest_after = 96  # a step of 10 µs pays for each that is heard; much is known at rest, too


def live() -> tuple[list[Any], list[Any]]:
    nodes: list[Any] = []
    tensors: list[Any] = []
    for found in gc.get_objects():
        which = type(found)  # isinstance would ask proxies for their class, and wake them up
        if issubclass(which, Node):
            if hasattr(found, "edges"):
                nodes.append(found)
        elif issubclass(which, Tensor) and getattr(found, "_edge", None) is not None:
            tensors.append(found)
    return nodes, tensors


# The moment ----------------------------------------------------------------------------------------

recording = modes.recording
here = provenance.here
is_library = provenance.is_inside


def hears_looks(file: str) -> bool:
    """Always."""
    return True


def by_library() -> bool:
    frame: Any = sys._getframe(1)
    first = False
    while frame is not None:
        file = frame.f_code.co_filename
        if not provenance.is_inside(file) and not file.startswith("<"):
            if not is_installed(file):
                return first
            first = True
        frame = frame.f_back
    return False  # a program that is itself installed


mode_files = frozenset([modes.__file__])

decorates = attrgetter("decorates")
_RUN = _engine.run.__code__


def passes_untold() -> int:
    """This one: others are counted in `events.unheard`, which the books read."""
    return 1


def expect_losses(limit: float) -> None:
    unheard.limit = limit


leave_untold, expect_widths, width = unheard.allow, unheard.expect, unheard.last


def glance(alike: Any, pause: int) -> None:
    unheard.glance, unheard.pause, unheard.due = alike, pause, 0


_SKETCHED = 12  # nodes


def sketch(root: Any) -> tuple[Any, list[Any]]:
    drawn: list[Any] = []
    nodes = [root]
    for each in nodes:
        drawn.append(type(each))
        for edge in each.edges:
            if isinstance(edge, Node) and len(nodes) < _SKETCHED:
                nodes.append(edge)
            else:
                drawn.append(edge is None)
    return tuple(drawn), [weakref.ref(each) for each in nodes]


def expect_retained(usual: bool) -> None:
    unheard.retains = usual


def count_steps() -> None:
    """Every step is told, or counted by the ledger."""


def expect_step(steps: int) -> None:
    """The same."""


def inference() -> bool:
    return modes.state.inference


def switched() -> bool:
    return modes.special > modes.watched  # watching is one of the switches


def mark() -> int:
    return next(sequence)


def count_nodes() -> str:
    return repr(sequence)


def roots_running() -> list[Any] | None:
    this = running.this
    return None if this is None else [target for target, _ in this.roots]


def node_running() -> Any:
    """Found in the engine's frame."""
    frame = sys._getframe(1) if running.this is not None else None
    while frame is not None:
        if frame.f_code is _RUN:
            return frame.f_locals.get("node")
        frame = frame.f_back
    return None


def operand_running() -> Any:
    """The array that an operation on one tensor is working on, found in the frame of its call (core/hot.py)."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<call of "):
            known = frame.f_locals
            return None if "b" in known else known.get("a")
        frame = frame.f_back
    return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    token = _warnings.silence()
    try:
        yield
    finally:
        _warnings.restore(token)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    from ...ops.random.generator import set_rng_state

    listening = {name: getattr(hub, name) for name in Hub.__slots__}
    own, python, numpy = random_state(), random.getstate(), np.random.get_state()
    for name in listening:
        setattr(hub, name, None)
    try:
        yield
    finally:
        for name, handler in listening.items():
            setattr(hub, name, handler)
        set_rng_state(own)
        random.setstate(python)
        np.random.set_state(numpy)


def watch(on: bool, resting: bool = False) -> None:
    if on is not modes.watched:
        modes.watch(on)
        watch_borrowed(on)


@functools.cache
def layers() -> SimpleNamespace:
    from ... import nn
    from ...nn.modules.batchnorm import _NormBase
    from ...nn.modules.dropout import _DropoutNd
    from ...nn.modules.rnn import RNNBase

    return SimpleNamespace(
        Module=nn.Module,
        Dropout=_DropoutNd,
        Norm=_NormBase,
        Recurrent=RNNBase,
        Attention=nn.MultiheadAttention,
        RReLU=nn.RReLU,
        Function=Function,
    )


def cost_of_recording() -> float:
    begin = perf_counter()
    for _ in range(200):
        Node().blank()
    return (perf_counter() - begin) / 200
