"""What a profiler measured: events, their averages, tables of them, and traces for Chrome. All times in microseconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..errors import NotSupportedError


def _format_time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class _OnNoDevice:
    """There is only the CPU: what other devices did is nothing."""

    device_time = device_time_total = self_device_time_total = cuda_time = cuda_time_total = self_cuda_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = flops = 0
    is_async = is_remote = False
    use_device = None


@dataclass
class Interval:
    """From when to when."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long."""
        return self.end - self.start


class FunctionEvent(_OnNoDevice):
    """One operation, backward node, or region of `record_function`."""

    count = 1

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        input_shapes: list[list[int]] | None = None,
        stack: list[str] | None = None,
        node_id: int = -1,
        sequence_nr: int = -1,
        **others: Any,
    ) -> None:
        self.id, self.name, self.thread, self.node_id = id, name, thread, node_id
        self.time_range = Interval(start_us, end_us)
        self.input_shapes, self.stack = input_shapes or [], stack or []
        self.sequence_nr = sequence_nr
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """What it called."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """With all that it called."""
        return self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """Without what it called."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={_format_time(self.cpu_time)} "
            f"thread={self.thread} input_shapes={self.input_shapes}>"
        )


@dataclass
class FunctionEventAvg(_OnNoDevice):
    """All events of one name."""

    key: str | None = None
    input_shapes: Any = ""
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    def add(self, other: Any) -> FunctionEventAvg:
        """Count another event in."""
        if self.key is None:
            self.key = other.key
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        return self

    @property
    def cpu_time(self) -> float:
        """The mean of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """The mean of one call, to be read."""
        return _format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time with all that was called, to be read."""
        return _format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time without what was called, to be read."""
        return _format_time(self.self_cpu_time_total)

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"input_shapes={self.input_shapes}>"
        )


class EventList(list[Any]):
    """Events, or averages of them."""

    def _populate_cpu_children(self) -> None:
        """Whoever begins and ends within another of its thread was called by it: the smallest such one."""
        open_now: dict[Any, list[Any]] = {}
        for event in sorted(self, key=lambda event: (event.time_range.start, -event.time_range.end)):
            callers = open_now.setdefault((event.thread, event.node_id), [])
            while callers and callers[-1].time_range.end < event.time_range.end:
                callers.pop()
            while callers and callers[-1].time_range.end <= event.time_range.start:
                callers.pop()
            if callers:
                callers[-1].append_cpu_child(event)
            callers.append(event)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all of them."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **others: Any) -> EventList:
        """One entry for each name (and the shapes of the inputs, and the lines that called)."""
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shape else ""
            key = (event.key, shapes, tuple(event.stack[:group_by_stack_n]))
            if key not in found:
                found[key] = FunctionEventAvg(event.key, event.input_shapes if group_by_input_shape else "")
            found[key].add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """All of them as one."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        **others: Any,
    ) -> str:
        """A table to be read, the largest first if `sort_by` says by what."""
        outermost = [event for event in self if getattr(event, "cpu_parent", None) is None]
        rows = outermost if top_level_events_only else list(self)
        if sort_by is not None:
            rows.sort(key=lambda event: -getattr(event, sort_by))
        whole = self.self_cpu_time_total or 1.0
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        cells = [
            [
                _cut(event.key, max_name_column_width),
                f"{100 * event.self_cpu_time_total / whole:.2f}%",
                _format_time(event.self_cpu_time_total),
                f"{100 * event.cpu_time_total / whole:.2f}%",
                _format_time(event.cpu_time_total),
                _format_time(event.cpu_time_total / event.count),
                str(event.count),
            ]
            for event in rows[: row_limit if row_limit >= 0 else None]
        ]
        if any(event.input_shapes for event in rows):
            titles.append("Input Shapes")
            for row, event in zip(cells, rows, strict=False):
                row.append(_cut(str(event.input_shapes), max_shapes_column_width))
        widths = [max(12, *(len(row[i]) for row in [titles, *cells])) for i in range(len(titles))]
        line = "  ".join("-" * width for width in widths)
        body = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [titles, *cells]
        ]
        lines = [*([header] if header else []), line, body[0], line, *body[1:], line]
        return "\n".join(lines) + f"\nSelf CPU time total: {_format_time(self.self_cpu_time_total)}\n"

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: Any) -> None:
        """Write the events for chrome://tracing or Perfetto."""
        events = [
            {
                "name": event.name,
                "ph": "X",
                "cat": "cpu_op",
                "ts": event.time_range.start,
                "dur": event.cpu_time_total,
                "tid": event.thread,
                "pid": "CPU functions",
                "args": {"Input Dims": event.input_shapes} if event.input_shapes else {},
            }
            for event in self
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)

    def export_stacks(self, path: str, metric: str) -> None:
        """Not there."""
        raise NotSupportedError(
            "clarion does not have export_stacks: use export_chrome_trace, or Python's cProfile for whole stacks"
        )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."
