"""PyTorch's engine, as the diagnoses see it: the answers to the questions of `diagnose/engine.py`."""

from __future__ import annotations

import contextlib
import gc
import random
import sys
import weakref
from collections.abc import Iterable, Iterator
from threading import get_ident
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch._C import TensorBase

from ..events import Hub, hub
from . import fills, lines, values
from .memory import arrays_of
from .nodes import View, held, held_by, is_known, is_of_twin, node, view_of
from .nodes import output_number as _output_number
from .recognition import recognise
from .vocabulary import traits

__all__ = ["traits"]

# Tensors -------------------------------------------------------------------------------------------

_Tensor = torch.Tensor
_Parameter = torch.nn.Parameter
_grad = TensorBase.grad.__get__  # past the properties of `watching.py`
_requires_grad = TensorBase.requires_grad.__get__


def is_tensor(x: Any) -> bool:
    return isinstance(x, _Tensor)


def is_node(x: Any) -> bool:
    return type(x) is View


def node_of(root: Any) -> Any:
    if isinstance(root, _Tensor):
        return node(root)
    if type(root) is View:
        return root
    fn = getattr(root, "node", None)  # a GradientEdge
    return None if fn is None or hasattr(fn, "variable") else view_of(fn)


output_number = _output_number


def requires_grad(t: Any) -> bool:
    found: bool = _requires_grad(t)
    return found


def grad(t: Any) -> Any:
    return _grad(t) if t.is_leaf and not fills.has(t) else None


def is_parameter(t: Any) -> bool:
    return isinstance(t, _Parameter)


def shape(t: Any) -> tuple[int, ...]:
    return tuple(t.shape)


def size(t: Any) -> int:
    return int(t.numel())


def kind(t: Any) -> str:
    found = t.dtype
    if found.is_floating_point:
        return "f"
    if found.is_complex:
        return "c"
    return "b" if found is torch.bool else "u" if found is torch.uint8 else "i"


def nbytes(t: Any) -> int:
    return int(t.numel() * t.element_size())


def eps(t: Any) -> float:
    return float(torch.finfo(t.dtype).eps)


array = values.array
some = values.some
samples_soon = values.samples_soon
number = values.number
late = values.late
squares = values.squares
all_finite = values.all_finite
finite_soon = values.finite_soon
letter = values.letter


def memory(t: Any) -> Any:
    return values.address(t), t.shape


def version(t: Any) -> tuple[Any, int]:
    return values.address(t), writes(t)


def writes(t: Any) -> int:
    try:
        return int(t._version) - fills.writes(t)
    except RuntimeError:  # made in inference mode
        return 0


def is_inference(t: Any) -> bool:
    return bool(t.is_inference())


# Stories lie beside the tensors: an attribute of a Parameter would travel into files.
_stories: dict[int, tuple[weakref.ref[Any], Any]] = {}
_others: dict[int, tuple[weakref.ref[Any], int]] = {}  # leaves of other threads, and whose (0: of several)


def story(t: Any) -> Any:
    known = _stories.get(id(t))
    return known[1] if known is not None and known[0]() is t else None


def set_story(t: Any, found: Any) -> None:
    key = id(t)
    _stories[key] = weakref.ref(t, lambda _: _stories.pop(key, None)), found


def leaves() -> list[Any]:
    """All leaves that have a story."""
    found = [leaf for reference, _ in list(_stories.values()) if (leaf := reference()) is not None]
    return [leaf for leaf in found if id(leaf) not in _others] if _others else found


def is_others(leaf: Any) -> bool:
    """Is it a leaf of another thread?"""
    return id(leaf) in _others


def leave_alone(found: Iterable[Any]) -> None:
    """Some leaves are another thread's: `leaves` does not give them any more."""
    this = get_ident()
    for leaf in found:
        key = id(leaf)
        if key not in _others:
            _others[key] = weakref.ref(leaf, lambda _, key=key: _others.pop(key, None)), this  # type: ignore[misc]
        elif _others[key][1] != this:
            _others[key] = _others[key][0], 0


def take_back() -> None:
    """This thread is diagnosed from now on: the leaves that were its own are looked at again."""
    for key, (_, thread) in list(_others.items()):
        if thread == get_ident():
            _others.pop(key, None)


def forget() -> None:
    """A new session begins: nothing is known of any tensor."""
    _stories.clear()
    _others.clear()
    given_up.clear()
    fills.forget()


# Nodes ---------------------------------------------------------------------------------------------


def op(of: Any) -> Any:
    return of.op if type(of) is View else None


def operation(of: Any) -> str:
    found = of.op if type(of) is View else None
    return "" if found is None else found.name


def title(of: Any) -> str:
    return str(of.title)


operands = values.operands
kept = values.kept
compute = values.compute
saved_values = values.saved_values
saved_memory = values.saved_memory
is_freed = values.is_freed
firing = values.firing
unfold: Any = None  # twins.py
unframed: Any = None
missed: Any = None
dimension = values.dimension


borrowed = arrays_of


rest_after = 192
knows_all_nodes = False  # views are made while listening closely, or when somebody asks


def live() -> tuple[list[Any], list[Any]]:
    nodes: list[Any] = []
    tensors: list[Any] = []
    unknown: list[Any] = []
    for found in gc.get_objects():
        which = type(found)  # isinstance would ask proxies for their class, and wake them up
        if which is View:
            if not found.replaced:
                nodes.append(found)
        elif issubclass(which, _Tensor):
            with contextlib.suppress(Exception):
                fn = found.grad_fn
                if fn is not None and not is_of_twin(fn):
                    (tensors if is_known(fn) else unknown).append(found)
    if any(view.twin for view in nodes):  # what was compiled holds all of them; who holds a part of it, that part alone
        reached = held_by(tensors)
        nodes = [view for view in nodes if not view.twin or view in reached]
    recognised = recognise(unknown, tensors)
    return [*nodes, *(view_of(t.grad_fn) for t in recognised)], [*tensors, *recognised]


# The moment ----------------------------------------------------------------------------------------

here = lines.here
is_library = lines.is_library
by_library = lines.by_library


def hears_looks(file: str) -> bool:
    """Not where Dynamo has given up some of the code that it was to compile."""
    return file not in given_up


given_up: set[str] = set()  # files
mode_files: frozenset[str] = frozenset()  # set when listening begins


def recording() -> bool:
    return torch.is_grad_enabled()


inference = torch.is_inference_mode_enabled


def switched() -> bool:
    return not torch.is_grad_enabled()


def mark() -> float:
    return 0.5 - torch.autograd._get_sequence_nr()


def count_nodes() -> int:
    return int(torch.autograd._get_sequence_nr())


def roots_running() -> list[Any] | None:
    if not held.running:
        return None
    return [found for root in held.running[-1] if (found := node_of(root)) is not None]


def node_running() -> Any:
    return held.node


def operand_running() -> Any:
    return held.operand


def passes_untold() -> int:
    """Replaced by `resting`."""
    return 1


def expect_losses(limit: float) -> None:
    """Replaced by `resting`."""


def expect_widths(known: Any, settled: int = 0) -> None:
    """Replaced by `resting`."""


def width() -> tuple[int | None, int]:
    """Replaced by `resting`."""
    return 0, 0


def count_steps() -> None:
    """Replaced by `resting`."""


def expect_step(steps: int) -> None:
    """Replaced by `resting`."""


def leave_untold(passes: int) -> None:
    """`backward` chooses itself."""


def glance(alike: Any, pause: int) -> None:
    """Replaced by `resting`."""


def expect_retained(usual: bool) -> None:
    """The session wakes often enough."""


_SKETCHED = 12  # nodes


class _Alive:
    """Lies in the `metadata` of some nodes, and goes with the last of them."""

    __slots__ = ("__weakref__",)


def sketch(root: Any) -> tuple[Any, list[Any]]:
    alive, drawn = _Alive(), []
    nodes = [root]
    for each in nodes:
        drawn.append(each.name())
        each.metadata["clarion's glance"] = alive
        for edge, _ in each.next_functions:
            if edge is None or hasattr(edge, "variable") or len(nodes) >= _SKETCHED:
                drawn.append(edge is None)
            else:
                nodes.append(edge)
    return tuple(drawn), [weakref.ref(alive)]


def decorates(mode: Any) -> Any:
    """The function above which the mode stands, found in the frame of the wrapper that PyTorch put around it."""
    frame: Any = sys._getframe(1)
    while frame is not None and lines.is_library(frame.f_code.co_filename):
        if frame.f_code.co_name in ("decorate_context", "generator_context") and "func" in frame.f_locals:
            return frame.f_locals["func"]
        frame = frame.f_back
    return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    listening = {name: getattr(hub, name) for name in Hub.__slots__}
    own, python, numpy = torch.get_rng_state(), random.getstate(), np.random.get_state()
    for name in listening:
        setattr(hub, name, None)
    try:
        with torch.enable_grad():
            yield
    finally:
        for name, handler in listening.items():
            setattr(hub, name, handler)
        torch.set_rng_state(own)
        random.setstate(python)
        np.random.set_state(numpy)


def watch(on: bool, resting: bool = False) -> None:
    """Replaced when listening begins."""


random_state = torch.get_rng_state


def custom_call(function: Any, given: list[Any], checked: list[int], state: Any) -> tuple[list[Any], Any]:
    torch.set_rng_state(state)
    arguments: list[Any] = []
    leaves: dict[int, Any] = {}
    for i, value in enumerate(given):
        if isinstance(value, np.ndarray):
            value = torch.from_numpy(value.copy())
            if i in checked:
                leaves[i] = value.requires_grad_()
                value = value.clone()  # forward may write into it, and into a leaf it may not
        arguments.append(value)
    output = function.apply(*arguments)
    every = output if isinstance(output, (tuple, list)) else (output,)
    outs = [o for o in every if isinstance(o, _Tensor) and o.grad_fn is not None]

    def gradients(weights: list[Any]) -> dict[int, Any]:
        seeds = [torch.from_numpy(np.asarray(w)).to(o.dtype) for w, o in zip(weights, outs, strict=True)]
        found = torch.autograd.grad(outs, list(leaves.values()), seeds, allow_unused=True)
        arrays = [None if g is None else g.detach().numpy() for g in found]
        return {**dict.fromkeys(range(len(given))), **dict(zip(leaves, arrays, strict=True))}

    return [o.detach().double().numpy() if o.is_floating_point() else o.detach().numpy() for o in outs], gradients


def layers() -> SimpleNamespace:
    return _layers


_layers = SimpleNamespace(
    Module=torch.nn.Module,
    Dropout=torch.nn.modules.dropout._DropoutNd,
    Norm=torch.nn.modules.batchnorm._NormBase,
    Recurrent=torch.nn.modules.rnn.RNNBase,
    Attention=torch.nn.MultiheadAttention,
    RReLU=torch.nn.RReLU,
    Function=torch.autograd.Function,
    telling_train=[],  # code that tells of `train()`, beside that of Module
    passing_on=set(),  # code around the call of a module that was compiled
)


def cost_of_recording() -> float:
    x = torch.zeros((), requires_grad=True)
    with torch.enable_grad():
        begin = perf_counter()
        for _ in range(200):
            x.neg()
        middle = perf_counter()
        with torch.no_grad():
            for _ in range(200):
                x.neg()
    return max(2 * middle - begin - perf_counter(), 0.0) / 200
