"""What a Timer measured, and how numbers of it are shown."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

_SUGGESTIVE, _STRONG = 0.1, 0.25  # shares of the median: a spread that may come from outside, and one that does
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


def select_unit(t: float) -> tuple[str, float]:
    """The unit that fits a time in seconds, and its size."""
    power = math.floor(math.log10(t) / 3) if t > 0 else 0
    unit = {-1: "ms", -2: "us", -3: "ns"}.get(power, "s")
    return unit, _UNITS[unit]


def unit_to_english(u: str) -> str:
    """The name of a unit."""
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number with `n` significant figures."""
    if x == 0:
        return 0.0
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


@dataclass(frozen=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """One line that says what it is, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        rest = f"({self.sub_label})\n" if self.sub_label else ""
        return f"stmt:{rest}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """What ran before, if anything did."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup."""
        sections = [self.title, self.description or "", self.setup_str()]
        return "\n".join(f"{each}\n" if "\n" in each else each for each in sections if each)


@dataclass(repr=False)
class Measurement:
    """Times of one statement, in seconds; each of `raw_times` is that of `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds for one run."""
        return [t / self.number_per_run for t in self.raw_times]

    def _quantile(self, q: float) -> float:
        return float(np.quantile(self.times, q))

    @property
    def median(self) -> float:
        """The middle one of the times."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return float(np.mean(self.times))

    @property
    def iqr(self) -> float:
        """How far apart the middle half of the times is."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many figures can be trusted, roughly."""
        times = sorted(self.times)
        middle = np.array(times[len(times) // 4 : math.ceil(3 * len(times) / 4)])
        interval = max(1.645 * float(middle.std()) / math.sqrt(len(middle)), 25e-9)
        return min(max(math.floor(math.log10(self.median / interval)), 1), 4)

    def meets_confidence(self, threshold: float = _SUGGESTIVE) -> bool:
        """Is the spread less than this share of the median?"""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Is the spread suspicious?"""
        return not self.meets_confidence()

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """What was measured, for a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements: Any) -> list[Measurement]:
        """Measurements of the same statement put together."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        merged = []
        for spec, group in groups.items():
            merged.append(Measurement(1, [t for each in group for t in each.times], spec))
        return merged

    def __repr__(self) -> str:
        lines = [object.__repr__(self).replace("clarion.", "torch."), self.task_spec.summarize()]
        unit, size = select_unit(self.median)
        count, threads = len(self.raw_times), f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        if count == 1:
            lines += [f"  {self.median / size:.2f} {unit}", f"  1 measurement, {self.number_per_run} runs , {threads}"]
            return "\n".join(lines)
        low, high = self._quantile(0.25) / size, self._quantile(0.75) / size
        lines.append(f"  Median: {self.median / size:.2f} {unit}")
        if count >= 4:
            lines.append(f"  IQR:    {self.iqr / size:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {count} measurements, {self.number_per_run} runs per measurement, {threads}")
        if self.has_warnings:
            strong = not self.meets_confidence(_STRONG)
            why = (
                "This suggests significant environmental influence."
                if strong
                else "This could indicate system fluctuation."
            )
            share = 100 * self.iqr / self.median
            lines.append(f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.\n           {why}")
        return "\n".join(lines)
