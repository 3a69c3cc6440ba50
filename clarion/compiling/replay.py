"""Steps as one function: what was recorded, written out in a row and called with the arrays as they are now."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from ..kernels import registry
from .recording import Ref, Step, draws, reads, slots_in

_texts = 0


class Unfit(Exception):
    """A replay cannot be done for the values of this call; nothing has been done yet."""


def needed(steps: list[Step], results: list[int]) -> list[Step]:
    """The steps that something comes of: writes, results, and what they need."""
    wanted, kept = set(results), []
    for step in reversed(steps):
        outs = slots_in(step.outs)
        if not outs or wanted.intersection(outs) or not _only_computes(step):
            wanted.update(reads(step))
            kept.append(step)
    return kept[::-1]


def only_computes(step: Step) -> bool:
    """Does a step neither write to an array nor draw random numbers?"""
    return bool(slots_in(step.outs)) and not draws(step)


def _only_computes(step: Step) -> bool:
    """Is a step one of NumPy's functions, or a kernel without a generator of random numbers?"""
    known = isinstance(step.function, (str, np.ufunc)) or (
        getattr(step.function, "__module__", "") or "numpy"
    ).startswith("numpy")
    return known and all(_is_plain(each) for each in (*step.args, *step.options.values()))


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and not isinstance(value, Ref):
        return all(_is_plain(each) for each in value)
    return isinstance(
        value,
        (
            Ref,
            bool,
            int,
            float,
            str,
            complex,
            type(None),
            np.ndarray,
            np.generic,
            np.dtype,
            slice,
            type(Ellipsis),
            type,
        ),
    )


class Text:
    """A function being written out."""

    def __init__(self, scalars: set[int]) -> None:
        self.scope: dict[str, Any] = {}
        self.scalars = scalars
        self.lines: list[str] = []

    def _constant(self, value: Any) -> str:
        if value is None or value is True or value is False or type(value) in (int, str):
            return repr(value)
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def value(self, value: Any) -> str:
        """An argument as text."""
        if isinstance(value, Ref):
            return f"v{value.slot}"
        if type(value) is list:
            return f"[{', '.join(self.value(each) for each in value)}]"
        if type(value) is tuple:
            return f"({''.join(self.value(each) + ', ' for each in value)})"
        return self._constant(value)

    def step(self, step: Step) -> None:
        """One line, or two."""
        function = registry.bind(step.function) if isinstance(step.function, str) else step.function
        arguments = [self.value(each) for each in step.args]
        arguments += [f"{name}={self.value(each)}" for name, each in step.options.items()]
        call = f"{self._constant(function)}({', '.join(arguments)})"
        if isinstance(step.outs, Ref):
            self.lines.append(f"v{step.outs.slot} = {call}" + ("[...]" if step.outs.slot in self.scalars else ""))
        elif step.outs:
            names = [f"v{each.slot}" if each is not None else "_" for each in step.outs]
            self.lines.append(f"({', '.join(names)},) = {call}")
            self.lines += [f"v{s} = v{s}[...]" for s in slots_in(step.outs) if s in self.scalars]
        else:
            self.lines.append(call)


def written(steps: list[Step], inputs: list[int], results: list[int], scalars: set[int]) -> Any:
    """`replay(*arrays)`: runs the steps on arrays for the slots `inputs`, and gives those of `results`."""
    global _texts
    text = Text(scalars)
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for slot in reads(step) + slots_in(step.outs):
            last[slot] = number
    ends: dict[int, list[int]] = {}
    for slot, number in last.items():
        if slot not in results:
            ends.setdefault(number, []).append(slot)
    for number, step in enumerate(steps):
        text.step(step)
        if number in ends:  # its memory is free from here on
            text.lines.append(f"del {', '.join(f'v{slot}' for slot in ends[number])}")
    head = f"def replay({', '.join(f'v{slot}' for slot in inputs)}):"
    text.lines.append(f"return [{', '.join(f'v{slot}' for slot in results)}]")
    lines = "\n    ".join([head, *text.lines]) + "\n"
    _texts += 1
    filename = f"<replay {_texts}>"
    linecache.cache[filename] = (len(lines), None, lines.splitlines(keepends=True), filename)
    exec(compile(lines, filename, "exec"), text.scope)
    return text.scope["replay"]


def prepared(steps: list[Step], inputs: list[int], results: list[int], recording: Any, fixed: Any = ()) -> Any:
    """The steps as a native program, where one can be made of them; else as a function of Python's. `fixed`: inputs that stay."""
    from ..kernels.trace.graph import Untraceable
    from .native.build import Native, Unbuildable
    from .native.groups import Conflict

    try:
        return Native(steps, inputs, results, recording, fixed)
    except (Unbuildable, Untraceable, Conflict):
        return written(steps, inputs, results, recording.scalars)
