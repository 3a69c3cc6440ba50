"""Drawings for the report: a curve over steps, a map of layers over steps. Plain SVG, no script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 1000, 220, 64, 24, 10, 12
_CELL, _COLUMNS = 15, 120


def curve(points: Sequence[tuple[int, float]], found: Sequence[int] = (), log: bool = False) -> str:
    """Values over steps; values that are not finite are marked at the top, steps with a finding by a vertical line."""
    good = [(x, math.log10(y) if log else y) for x, y in points if math.isfinite(y) and (y > 0.0 or not log)]
    bad = [x for x, y in points if not math.isfinite(y)]
    if not good and not bad:
        return ""
    first, last = points[0][0], max(points[-1][0], points[0][0] + 1)
    low, high = _range([y for _, y in good])
    inner_width, inner_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x_of(step: float) -> float:
        return LEFT + inner_width * (step - first) / (last - first)

    def y_of(value: float) -> float:
        return TOP + inner_height * (high - value) / (high - low)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for value in _ticks(low, high):
        label = f"{10**value:.2g}" if log else f"{value:.6g}"
        y = y_of(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for step in _ticks(first, last):
        if step == int(step):
            parts.append(f'<text x="{x_of(step):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{step:.0f}</text>')
    for step in found:
        if first <= step <= last:
            x = x_of(step)
            parts.append(f'<line class="found" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in good)
    parts.append(f'<polyline class="curve" points="{path}"/>')
    if len(good) <= 60:
        parts += [f'<circle class="point" cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="2.4"/>' for x, y in good]
    parts += [
        f'<circle class="bad" cx="{x_of(x):.1f}" cy="{TOP + 4}" r="3.5"><title>step {x}: not finite</title></circle>'
        for x in bad[:200]
    ]
    return "".join(parts) + "</svg>"


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers between two."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _range(values: list[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    margin = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def heat_map(rows: Sequence[tuple[str, Sequence[float | None]]], steps: Sequence[int]) -> str:
    """Norms of layers over steps: dark is large, white is small; grey means exactly zero, red not finite, blank no gradient."""
    stride = max(1, math.ceil(len(steps) / _COLUMNS))
    columns = list(range(0, len(steps), stride))
    finite = [v for _, values in rows for v in values if v is not None and 0.0 < v < math.inf]
    low, high = (math.log10(min(finite)), math.log10(max(finite))) if finite else (0.0, 1.0)
    high = max(high, low + 1e-9)
    label = min(300, 20 + 7 * max((len(name) for name, _ in rows), default=0))
    width = (WIDTH - label - RIGHT) / max(1, len(columns))
    height = len(rows) * _CELL
    parts = [f'<svg viewBox="0 0 {WIDTH} {height + 46}" role="img">']
    for r, (name, values) in enumerate(rows):
        y = r * _CELL
        shown = name if len(name) <= 40 else "…" + name[-39:]
        parts.append(f'<text x="{label - 8}" y="{y + 11}" text-anchor="end">{escape(shown)}</text>')
        for c, i in enumerate(columns):
            value = values[i]
            if value is not None:
                parts.append(
                    f'<rect x="{label + c * width:.1f}" y="{y}" width="{width + 0.4:.1f}" height="{_CELL - 1}" '
                    f'fill="{_colour(value, low, high)}"><title>{escape(name)}, step {steps[i]}: {value:.3g}</title></rect>'
                )
    for i in range(6):
        c = round((len(columns) - 1) * i / 5)
        x = label + (c + 0.5) * width
        parts.append(f'<text x="{x:.1f}" y="{height + 14}" text-anchor="middle">{steps[columns[c]]}</text>')
    for i in range(60):
        value = 10 ** (low + (high - low) * i / 59)
        parts.append(
            f'<rect x="{label + i * 4}" y="{height + 24}" width="4.3" height="9" fill="{_colour(value, low, high)}"/>'
        )
    parts.append(f'<text x="{label}" y="{height + 44}">{10**low:.2g}</text>')
    parts.append(f'<text x="{label + 240}" y="{height + 44}" text-anchor="end">{10**high:.2g}</text>')
    return "".join(parts) + "</svg>"


# Anchors of a scale that is even to the eye and survives black and white: pale yellow, teal, deep violet.
_SCALE = ((253, 246, 200), (180, 222, 157), (65, 171, 146), (43, 108, 142), (59, 38, 107))


def _colour(value: float, low: float, high: float) -> str:
    if not math.isfinite(value):
        return "#d92d2d"
    if value <= 0.0:
        return "#8b929b"
    at = min(1.0, max(0.0, (math.log10(value) - low) / (high - low))) * (len(_SCALE) - 1)
    i = min(int(at), len(_SCALE) - 2)
    mixed = [round(a + (b - a) * (at - i)) for a, b in zip(_SCALE[i], _SCALE[i + 1], strict=True)]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"
