"""A picture of the figures that are kept: `python -m benchmarks.picture` writes docs/benchmarks.svg."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .stored import load
from .table import SHOWN, mean, ratios

FILE = Path(__file__).parent.parent / "docs" / "benchmarks.svg"
_LEFT, _ROW, _WIDTH, _BAR = 290, 24, 760, 360
_MOST = 16.0  # times as fast: the right end of the scale


def _x(ratio: float) -> float:
    """The place of a ratio: each doubling takes as much room, and 1 is a quarter in from the left."""
    return _LEFT + _BAR * (math.log2(min(max(ratio, 0.5), _MOST)) + 1) / (math.log2(_MOST) + 1)


def picture(figures: dict[str, Any]) -> str:
    """Bars of how many times as fast as PyTorch, as SVG."""
    found = ratios(figures)
    rows = [(SHOWN[name], ratio) for name, ratio in found.items()] + [("geometric mean", mean(list(found.values())))]
    height = 60 + _ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-weight="bold">times as fast as PyTorch 2.13 (wall clock)</text>',
    ]
    for mark in (0.5, 1, 2, 4, 8, 16):
        x = _x(mark)
        colour = "#444" if mark == 1 else "#ddd"
        parts.append(f'<line x1="{x:.1f}" y1="30" x2="{x:.1f}" y2="{height - 22}" stroke="{colour}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle" fill="#666">{mark:g}</text>')
    for k, (title, ratio) in enumerate(rows):
        y, (x0, x1) = 34 + _ROW * k, sorted((_x(1), _x(ratio)))
        colour = "#2b7a78" if ratio >= 1 else "#c0504d"
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 14}" text-anchor="end">{title}</text>')
        parts.append(
            f'<rect x="{x0:.1f}" y="{y + 2}" width="{max(x1 - x0, 1):.1f}" height="{_ROW - 8}" fill="{colour}"/>'
        )
        parts.append(f'<text x="{x1 + 6:.1f}" y="{y + 14}">{ratio:.2f}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Write the picture."""
    FILE.write_text(picture(load()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
