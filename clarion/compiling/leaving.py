"""What a replay leaves behind, written out as one function: versions, gradients, results, and what was appended to lists."""

from __future__ import annotations

import functools
import itertools
import linecache
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core.node import FREED, Node
from ..core.tensor import new_tensor
from ..core.versions import INFERENCE, VersionCounter
from ..pytree import LeafSpec, TreeSpec, tree_unflatten
from .effects import Effects, Result, overlap
from .gradients import CompiledFunctionBackward
from .numbers import Number

_texts = 0
Owner = tuple[str, Any]  # whose memory a slot is: ("given", number), ("tensor", tensor), and their gradients


class Leaving:
    """Writes `leave(made, given, node)`: `made` are the new arrays, `given` the arguments, `node` the history of the results.

    It gives the result, and whether all numbers in it are finite.
    """

    def __init__(
        self,
        effects: Effects,
        owners: dict[int, Owner],
        made: list[int],
        saved: list[int],
        kinds: dict[int, str] | None = None,
    ) -> None:
        self.effects, self.owners, self.saved = effects, owners, saved
        self.kinds = (
            kinds or {}
        )  # slots whose value in `made` is a "tensor", with its writes counted, or a "number" already
        self.place = {slot: f"made[{i}]" for i, slot in enumerate(made)}
        self.scope: dict[str, Any] = {
            "new_tensor": new_tensor, "VersionCounter": VersionCounter, "INFERENCE": INFERENCE, "isfinite": math.isfinite,
            "tree_unflatten": tree_unflatten,
        }  # fmt: skip
        self.lines: list[str] = []
        self.finite: list[str] = []

    def constant(self, value: Any) -> str:
        """A value under a name."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def tensor(self, slot: int) -> str:
        """A tensor that was there before."""
        return self._owned(self.owners[slot])

    def _owned(self, owner: Owner) -> str:
        kind, what = owner
        place = f"given[{what}]" if kind.startswith("given") else self.constant(what)
        return f"{place}._grad" if kind.endswith("grad") else place

    def written(self) -> Any:
        """The function."""
        value, finite = self.body()
        return self.function("leave(made, given, node)", [*self.lines, f"return {value}, {finite}"])

    def body(self) -> tuple[str, str]:
        """Its `lines`; gives the result, and whether the numbers in it are finite."""
        effects, lines = self.effects, self.lines
        for slot, count in effects.writes:
            tensor = self.tensor(slot)
            lines.append(f"({tensor}._vc or {tensor}._counter()).n += {count}")
        for slot in effects.cleared:
            lines.append(f"{self.tensor(slot)}._grad = None")
        for leaf, slot, writes in effects.gradients:
            if self.kinds.get(slot) == "tensor":
                lines.append(f"{self.tensor(leaf)}._grad = {self.place[slot]}")
                continue
            lines.append(f"g = {self.tensor(leaf)}._grad = new_tensor({self.place[slot]})")
            lines += ["g._vc = VersionCounter()", f"g._vc.n = {writes}"] if writes else []
        names: dict[int, str] = {}
        for result in effects.results:
            if id(result) not in names:
                names[id(result)] = self._made(result, f"r{len(names)}")
        texts = iter([names[id(result)] for result in effects.results])
        value = self._value(effects.shape, texts)
        for target, shapes in effects.appended:
            lines += [f"{self.constant(target)}.append({self._value(shape, texts)})" for shape in shapes]
        for count, how in effects.printed:
            given = ", ".join(itertools.islice(texts, count))
            lines.append(
                f"{self.constant(print)}({given}, **{self.constant(how)})"
                if given
                else f"{self.constant(print)}(**{self.constant(how)})"
            )
        return value, " and ".join(self.finite) or "True"

    def reading(self, sources: list[Owner]) -> Any:
        """`read(given)`: the arrays that are read, as they are now."""
        arrays = [f"{self._owned(source)}._array" for source in sources]
        return self.function("read(given)", [f"return [{', '.join(arrays)}]"])

    def function(self, head: str, lines: list[str]) -> Any:
        """A function of these lines."""
        global _texts
        text = "\n    ".join([f"def {head}:", *lines]) + "\n"
        _texts += 1
        filename = f"<what a replay reads and leaves behind {_texts}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), self.scope)
        return self.scope[head.partition("(")[0]]

    def _value(self, shape: TreeSpec, texts: Iterator[str]) -> str:
        """The next leaves in their containers."""
        leaves = list(itertools.islice(texts, shape.num_leaves))
        spelled = _spelled(shape, iter(leaves), self.constant)
        return spelled or f"tree_unflatten([{', '.join(leaves)}], {self.constant(shape)})"

    def _read(self, slot: int, reading: str) -> str:
        """A value as a replay reads it."""
        return self.place[slot] if self.kinds.get(slot) == "number" else reading.format(self.place[slot])

    def _made(self, result: Result, name: str) -> str:
        """One leaf of the result, under a name or as it is."""
        if result.kind == "constant":
            return self.constant(result.value)
        if result.kind == "known":
            return self.tensor(result.slot)
        if result.kind == "read":
            self.lines.append(f"{name} = {result.value.text(self._read, self.constant)}")
            if type(result.value) is Number:
                self.finite.append(f"isfinite({name})")
            return name
        array = self.effects.recording.arrays[result.slot]
        place, lines = self.place[result.slot], self.lines
        ready = self.kinds.get(result.slot) == "tensor"
        if array.ndim == 0 and array.dtype.kind == "f":
            self.finite.append(f"isfinite({place}._array)" if ready else f"isfinite({place})")
        lines.append(f"{name} = {place}" if ready else f"{name} = new_tensor({place})")
        if result.inference:
            lines.append(f"{name}._vc = INFERENCE")
        elif result.writes and not ready:
            lines += [f"{name}._vc = VersionCounter()", f"{name}._vc.n = {result.writes}"]
        if result.number is not None:
            lines.append(f"{name}._edge, {name}._nr, {name}._rg = node, {result.number}, True")
            if any(overlap(array, self.effects.recording.arrays[slot]) for slot in self.saved):
                shape = self.constant(list(array.shape))
                lines.append(f"node.watched.append(({name}._counter(), {result.writes}, {shape}))")
        if result.used_up:
            lines.append(f"{name}._edge, {name}._rg = {self.constant(used_up())}, True")
        return name


def _spelled(shape: TreeSpec, texts: Iterator[str], constant: Callable[[Any], str]) -> str | None:
    """Tuples, lists and dictionaries as one writes them; None where something else is around the leaves."""
    if isinstance(shape, LeafSpec):
        return next(texts)
    parts = [_spelled(each, texts, constant) for each in shape.children_specs]
    if None in parts or shape.type not in (tuple, list, dict):
        return None
    if shape.type is dict:
        pairs = [f"{constant(key)}: {part}" for key, part in zip(shape.context, parts, strict=True)]
        return "{" + ", ".join(pairs) + "}"
    inside = "".join(f"{part}, " for part in parts)
    return f"({inside})" if shape.type is tuple else f"[{inside}]"


@functools.cache
def used_up() -> Node:
    """The history of a result whose graph was used up inside: a second backward pass is refused."""
    node = CompiledFunctionBackward()
    node.blank()
    node.saved = FREED
    return node
