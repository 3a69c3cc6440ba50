"""`torch.profiler`: how long operations take, for some steps of a training or for all that runs inside.

with profile(record_shapes=True) as prof:
    with record_function("forward"):
        model(x)
print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
"""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ..autograd.profiler import Recorder
from ..autograd.profiler import record_function as record_function
from ..autograd.profiler_util import EventList
from ..errors import NotSupportedError
from . import itt as itt

__path__: list[str] = []  # PyTorch has modules below it (see elsewhere.py)

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """What to measure; there is only the CPU."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4


class ProfilerAction(Enum):
    """What to do at a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Is PyTorch's own tracer there? No."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A plan for the steps: leave out, wait, warm up, measure, and so again."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", UserWarning, stacklevel=2)
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:  # the first round does not wait
            step += wait
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        step %= cycle
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _default_schedule_fn(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """A handler for `on_trace_ready` that writes each trace into a folder."""

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json" + ".gz" * use_gzip))

    return handler


class profile:
    """Measure the operations that run inside; with a `schedule`, those of the steps that it names (`step()` ends a step)."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **others: Any,
    ) -> None:
        chosen = set(activities) if activities is not None else supported_activities()
        if not chosen:
            raise AssertionError("No valid profiler activities found")
        for missing in sorted(chosen - supported_activities(), key=str):
            warnings.warn(f"{missing.name} is not available, disabling {missing.name} profiling", stacklevel=2)
        for asked, what in ((profile_memory, "memory"), (with_flops, "floating-point operations")):
            if asked:
                warnings.warn(f"torch.profiler: clarion measures time, not {what}", UserWarning, stacklevel=2)
        self.schedule = schedule or _default_schedule_fn
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.with_stack = record_shapes, with_stack
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self._recorder: Recorder | None = None
        self._step: record_function | None = None
        self._planned = schedule is not None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with step 0."""
        self._turn_to(self.schedule(self.step_num))

    def stop(self) -> None:
        """End, and hand over what was measured."""
        recorded = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        self._end()
        self.current_action = ProfilerAction.NONE
        if recorded:
            self._hand_over()

    def step(self) -> None:
        """A step of the training ends, the next one begins."""
        before = self.current_action
        self.step_num += 1
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            self._hand_over()
            self.current_action = ProfilerAction.NONE
        self._turn_to(self.schedule(self.step_num))

    def _turn_to(self, action: ProfilerAction) -> None:
        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self._step is not None:
            self._step.__exit__()
            self._step = None
        if action in records and self.current_action not in records:
            self._recorder = Recorder(self.record_shapes, self.with_stack)
            self._recorder.start()
        elif action not in records and self.current_action in records:
            self._end()
        self.current_action = action
        if action in records and self._planned:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None
        if self._recorder is not None:
            self._recorder.stop()

    def _hand_over(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # What was measured -----------------------------------------------------------------------------

    def events(self) -> EventList:
        """All that was measured, in the order in which it ended."""
        if self._recorder is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        return self._recorder.events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **others: Any) -> EventList:
        """One entry for each name (and the shapes of the inputs, and the line that called)."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events for chrome://tracing or Perfetto; compressed if the name ends with .gz."""
        name = os.fspath(path)
        if not name.endswith(".gz"):
            return self.events().export_chrome_trace(name)
        import gzip

        plain = name.removesuffix(".gz") + ".part"
        self.events().export_chrome_trace(plain)
        with open(plain, "rb") as source, gzip.open(name, "wb") as target:
            target.write(source.read())
        return os.remove(plain)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Not there."""
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Not there."""
        raise NotSupportedError("clarion does not measure memory here: see `clarion run --report`")

    def add_metadata(self, key: str, value: str) -> None:
        """Accepted: traces have no place for it."""

    add_metadata_json = preset_metadata_json = add_metadata
