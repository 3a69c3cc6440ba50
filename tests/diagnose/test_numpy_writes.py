"""The line that writes into an array from `.numpy()` is found in the program's text."""

from __future__ import annotations

import linecache
import sys

import numpy as np
import pytest

from clarion.core.provenance import Place
from clarion.diagnose.source.numpy_writes import find_write
from clarion.diagnose.source.places import file_line

PROGRAMS = {
    "on the spot": "x.numpy()[0] = 1.0  # HERE",
    "by name": "a = x.numpy()\nb = a.copy()\nb[0] = 2\na[0] = 1.0  # HERE",
    "augmented": "a = x.numpy()\na *= 2  # HERE",
    "through a view": "a = x.numpy()\nrow = a.reshape(-1)\nrow[0] = 3  # HERE",
    "out=": "a = x.numpy()\nnp.clip(a, 0, 1, out=a)  # HERE",
    "a method": "a = x.numpy()\na.fill(0)  # HERE",
    "in a function": "def zero(values):\n    values[:] = 0  # HERE\na = x.numpy()\nzero(a)",
    "in a loop": "for row in [0]:\n    a = x.numpy()\n    for r in a:\n        r += 1  # HERE",
    "nowhere to be seen": "a = x.numpy()  # HERE\nb = a + 1",
}


class Memory:
    """Stands for a tensor: notes the line that calls `.numpy()`."""

    place: Place | None = None

    def numpy(self) -> np.ndarray:
        frame = sys._getframe(1)
        Memory.place = (frame.f_code, frame.f_lasti)
        return np.zeros((2, 2))


@pytest.mark.parametrize("case", PROGRAMS)
def test_the_line_is_found(case: str) -> None:
    text, name = PROGRAMS[case], f"<numpy write {case}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), {"x": Memory(), "np": np})
    expected = 1 + next(i for i, line in enumerate(text.splitlines()) if "HERE" in line)
    assert file_line(find_write(Memory.place)) == (name, expected)
