"""Measurements side by side: a row for each statement, a column for each description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .measurement import Measurement, select_unit, trim_sigfig, unit_to_english


class Compare:
    """A table of measurements for each label."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = False

    def extend_results(self, results: Iterable[Any]) -> None:
        """More measurements."""
        results = list(results)
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show only the figures that can be trusted."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: tables have no colours here."""

    highlight_warnings = colorize

    def print(self) -> None:
        """Show the tables."""
        print(str(self))

    def __str__(self) -> str:
        labels: dict[Any, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            labels.setdefault(each.label, []).append(each)
        return "\n".join(self._table(label, group) for label, group in labels.items())

    def _table(self, label: str | None, group: list[Measurement]) -> str:
        unit, size = select_unit(min(each.median for each in group))
        columns = list(dict.fromkeys(each.description or "" for each in group))
        rows = list(dict.fromkeys((each.num_threads, each.env, each.as_row_name) for each in group))
        cells = {
            (each.num_threads, each.env, each.as_row_name, each.description or ""): self._cell(each, size)
            for each in group
        }
        names = [f"      {f'({env}) ' if env else ''}{name}" for _, env, name in rows]
        first = max(map(len, names))
        widths = [max(len(c), *(len(cells.get((*row, c), "")) for row in rows)) for c in columns]
        body = [" " * first + "".join(f"  |  {c.center(w)}" for c, w in zip(columns, widths, strict=True))]
        threads = None
        for row, name in zip(rows, names, strict=True):
            if row[0] != threads:
                threads = row[0]
                body.append(f"{threads} threads: ".ljust(len(body[0]), "-"))
            body.append(
                name.ljust(first)
                + "".join(f"  |  {cells.get((*row, c), '').rjust(w)}" for c, w in zip(columns, widths, strict=True))
            )
        title = f" {label} ".center(len(body[0]) - 2, "-") if label else "-" * (len(body[0]) - 2)
        return "\n".join([f"[{title}]", *body, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])

    def _cell(self, measurement: Measurement, size: float) -> str:
        value = measurement.median / size
        if self._trim:
            return f"{trim_sigfig(value, measurement.significant_figures):g}"
        return f"{value:.1f}"
