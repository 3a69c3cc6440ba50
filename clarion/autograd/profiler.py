"""`torch.autograd.profiler`: how long operations take.

NOTE [Frames]: every operation has a call of its own, with code of its own (core/call_texts.py), and so has its gradient. While
a profiler is on, Python tells of every function that is entered and left in this thread (`sys.setprofile`), and those that
are operations are timed. Nothing has to be built into the hot path; operations are slower meanwhile, as under any profiler.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NoReturn

from ..core import function, inplace, modes, op_node, provenance
from ..core.node import Node
from ..core.overriding import CALL, own_form
from ..core.tensor import Tensor
from ..errors import EngineError, NotSupportedError
from ..ops.faces.api import FUNCTIONS
from .profiler_util import EventList as EventList
from .profiler_util import FunctionEvent as FunctionEvent
from .profiler_util import FunctionEventAvg as FunctionEventAvg
from .profiler_util import Interval as Interval

__all__ = ["EventList", "emit_itt", "emit_nvtx", "profile", "record_function"]

_CORE = os.path.dirname(os.path.abspath(op_node.__file__)) + os.sep
_OPTIM = os.path.join(os.path.dirname(os.path.dirname(_CORE)), "optim") + os.sep
_FACTORIES = (
    "clarion.ops.creation.factories",
    "clarion.ops.creation.spaced",
    "clarion.ops.creation.from_data",
    "clarion.ops.random.draws",
)
_running: Recorder | None = None


def is_running() -> bool:
    """Is anything being measured?"""
    return _running is not None


# id of a code -> what it is called; or a function that says so of a frame; or None: nothing that is measured.
_names: dict[int, Any] = {}
_layers: set[str] = set()  # operations with a text that hands on what it is not for (core/layer_text.py)
_kept: list[CodeType] = []  # so that ids stay theirs; copies of a code are equal, so they cannot be keys themselves


class Recorder:
    """Measures what runs between `start` and `stop`, in this thread."""

    def __init__(self, shapes: bool = False, stack: bool = False) -> None:
        self.events = EventList()
        self._shapes, self._stack = shapes, stack
        self._open: list[list[Any]] = []  # frame or None, name, begin, events of what it called, shapes, stack

    def start(self) -> None:
        """Begin to listen."""
        global _running
        if _running is not None:
            raise EngineError("Profiler is already enabled on this thread")
        if not _names:
            for code, name in _fixed_names():
                _names[id(code)] = name
                _kept.append(code)
        _running = self
        modes.watch(True, "profiler")  # (what compiled functions do as a whole has no frames)
        self._before = sys.getprofile()
        sys.setprofile(self._told)

    def stop(self) -> None:
        """Stop listening; what is still open ends here."""
        global _running
        if _running is self:
            sys.setprofile(self._before)
            modes.watch(False, "profiler")
            _running = None
        while self._open:
            self.leave()
        self.events.sort(key=lambda event: event.time_range.start)

    def enter(self, name: str, frame: FrameType | None = None) -> None:
        """Something of this name begins."""
        shapes = _shapes_in(frame) if self._shapes and frame is not None else []
        stack = [provenance.text(provenance.here())] if self._stack else []
        self._open.append([frame, name, time.perf_counter_ns(), [], shapes, stack])

    def leave(self) -> None:
        """What began last has ended."""
        now = time.perf_counter_ns()
        _, name, begin, called, shapes, stack = self._open.pop()
        thread, number = threading.get_native_id(), len(self.events)
        event = FunctionEvent(number, name, thread, begin / 1e3, now / 1e3, input_shapes=shapes, stack=stack)
        for child in called:
            event.append_cpu_child(child)
        if self._open:
            self._open[-1][3].append(event)
        self.events.append(event)

    def _told(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = id(frame.f_code)
            name = _names[code] if code in _names else _identify(frame)
            if name is not None:
                if self._open and self._open[-1][1] in _layers and name in _layers:
                    self._open.pop()  # a layer that hands its arguments on: the operation is what is called now
                self.enter(name if type(name) is str else name(frame), frame)
        elif event == "return":
            if self._open and self._open[-1][0] is frame:
                self.leave()


# Which frames are operations --------------------------------------------------------------------------------


def _identify(frame: FrameType) -> Any:
    """What a function is called that is met for the first time."""
    code = frame.f_code
    file, name = code.co_filename, code.co_name
    found: Any = None
    if file == CALL:  # that looks who takes the call over; the operation comes after it
        found = None
    elif file.startswith("<call of ") and name == "call" and "op" in frame.f_globals:
        found = f"aten::{frame.f_globals['op'].name}"
        if ", the layer" in file:
            _layers.add(found)
    elif file.startswith("<gradient of ") and name == "apply":
        found = _name_of_node
    elif file.startswith(_CORE) and name == "call" and "op" in code.co_freevars:
        found = f"aten::{frame.f_locals['op'].name}"
    elif file.startswith(_OPTIM) and name in ("step", "zero_grad") and code.co_varnames[:1] == ("self",):
        found = _name_of_update
    _names[id(code)] = found
    _kept.append(code)
    return found


def _fixed_names() -> Iterator[tuple[CodeType, Any]]:
    """Functions that serve all operations, and those that make tensors of nothing."""
    yield own_form(inplace.inplace).__code__, lambda frame: f"aten::{frame.f_locals['op'].name}_"
    yield function.Function.apply.__func__.__code__, lambda frame: frame.f_locals["cls"].__name__  # type: ignore[attr-defined]
    for kind in (op_node.OpNode, *Node.__subclasses__()):
        for method in ("apply_raw", "apply_tensors"):
            code = getattr(kind.__dict__.get(method), "__code__", None)
            if code is not None:
                yield code, _name_of_node
    for name, fn in FUNCTIONS.items():
        if fn.__module__ in _FACTORIES:
            yield inspect.unwrap(fn).__code__, f"aten::{name}"


def _name_of_node(frame: FrameType) -> str:
    values = frame.f_locals
    return f"autograd::engine::evaluate_function: {type(values[frame.f_code.co_varnames[0]]).__name__}"


def _name_of_update(frame: FrameType) -> str:
    kind, name = type(frame.f_locals["self"]).__name__, frame.f_code.co_name
    return f"Optimizer.{name}#{kind}.{name}"


def _shapes_in(frame: FrameType) -> list[list[int]]:
    """The shapes of the tensors that a function was given."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & 4)]  # 4: it takes *args
    given = [each for name in names for each in _flat(values.get(name))]
    return [list(value._array.shape) for value in given if isinstance(value, Tensor)]


def _flat(value: Any) -> Any:
    return value if isinstance(value, (tuple, list)) else (value,)


# What programs use ------------------------------------------------------------------------------------------


class record_function(contextlib.ContextDecorator):
    """Name a region: it appears in the profile under this name."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._recorder: Recorder | None = None

    def __enter__(self) -> record_function:
        self._recorder = _running
        if self._recorder is not None:
            self._recorder.enter(self.name)
        return self

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None and self._recorder is _running:
            self._recorder.leave()


class profile:
    """Measure what runs inside: `with profile() as p: …`, then `print(p.key_averages().table())`."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        **others: Any,
    ) -> None:
        self.enabled = enabled
        self._recorder = Recorder(record_shapes, with_stack)
        self.entered = False

    def __enter__(self) -> profile:
        if self.enabled:
            if self.entered:
                raise EngineError("Profiler context manager is not reentrant")
            self.entered = True
            self._recorder.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.enabled:
            self._recorder.stop()

    @property
    def function_events(self) -> EventList:
        """All that was measured, in the order in which it began."""
        if not self.entered:
            raise EngineError("Profiler didn't finish running")
        return self._recorder.events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **others: Any) -> EventList:
        """One entry for each name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """All of it as one."""
        return self.function_events.total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **others: Any) -> str:
        """A table of all events."""
        return self.function_events.table(sort_by, row_limit, **others)

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events for chrome://tracing or Perfetto."""
        self.function_events.export_chrome_trace(path)

    def __str__(self) -> str:
        return self.table() if self.entered else "<unfinished torch.autograd.profile>"

    __repr__ = __str__

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all operations."""
        return self.function_events.self_cpu_time_total


def _refuse(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotSupportedError(
            f"clarion does not have torch.autograd.profiler.{name}: it computes on the CPU, in Python"
        )

    return functools.update_wrapper(function, _refuse)


emit_nvtx, emit_itt, load_nvprof = map(_refuse, ("emit_nvtx", "emit_itt", "load_nvprof"))
