"""Writes clarion/doctor/operations.txt: what clarion's operations are, by the names that PyTorch gives its nodes.

python -m tests.doctor.write_vocabulary      # after operations or traits were changed; a test says when
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import clarion
import clarion.core.batching  # (loaded with the first `vmap`)
from clarion.core.namespace import OPS

TABLE = Path(clarion.__file__).parent / "doctor" / "operations.txt"
# Where several operations share a node's name: the one that people know by it.
_USUAL = {
    "PowBackward0": "pow_scalar",
    "UnsafeViewBackward0": "reshape",
    "ViewBackward0": "view",
    "AddmmBackward0": "addmm",
    "MmBackward0": "mm",
    "BmmBackward0": "bmm",
    "ConvolutionBackward0": "convolution",
    "NllLossBackward0": "nll_loss",
    "IndexBackward0": "index1",
    "ScatterAddBackward0": "scatter_add",
}

_HEAD = """\
# Made by tests/doctor/write_vocabulary.py: what PyTorch calls the node (-: nothing of its own), the operation, its kind
# (m: moves, v: view, e: elementwise, b: broadcasts), its traits."""


def _own() -> list[tuple[str, Any]]:
    """clarion's operations, without those that a program has made of functions of its own."""
    return [(name, op) for name, op in OPS.items() if not name.startswith("pointwise_")]


def text() -> str:
    """The table."""
    titles: dict[str, str] = {}
    for name, op in _own():
        titles.setdefault(op.node_class.__name__, name)
    titles.update(_USUAL)
    rows = []
    for title, name in sorted(titles.items()):
        if title != "NotImplemented":
            rows.append(f"{title} {_row(name)}")
    rows += [f"- {_row(name)}" for name, _ in sorted(_own(), key=lambda each: each[0]) if name not in titles.values()]
    return "\n".join([_HEAD, *rows, ""])


def _row(name: str) -> str:
    op = OPS[name]
    kind = "".join(c for c, on in zip("mveb", (op.moves, op.view, op.elementwise, op.broadcast), strict=True) if on)
    return " ".join([name, kind or "-", *sorted(op.traits)])


if __name__ == "__main__":
    TABLE.write_text(text())
