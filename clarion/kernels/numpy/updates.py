"""Expressions over arrays, written out as NumPy calls into given memory.

A rule of `updates` is an expression; evaluated as it stands, NumPy would allocate an array for every operator. Here it is
traced once with symbols, and the steps become a function whose calls all say where their result goes: into the memory
of an operand that nobody needs any more, into that of the parameter or state it is the new value of, or into a scratch
array. Long arrays are walked through in pieces, which threads share (NOTE [Crew]).
"""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..blas import WORTH, add_multiple, multiply_and_add
from ..crew import PIECE, share
from ..flat import kept_number
from ..portable.updates.orthogonal import LARGE, multiply_add, orthogonal
from ..registry import offer
from ..threads import one_in_blas
from ..updates import RULES

ALONE = 1 << 16  # elements up to which nobody else is asked

_room = threading.local()


def in_place(name: str, rule: Callable[..., Any]) -> Callable[..., None]:
    """The kernel `name` that overwrites `p` and `kept` with what the rule makes of them (see `updates`)."""
    forms: dict[Any, tuple[Callable[..., None], int]] = {}

    def run(p: Any, g: Any, kept: tuple[Any, ...], numbers: tuple[float, ...], how: tuple[str, ...]) -> None:
        kind = p.dtype
        large = p.size > ALONE
        form = forms.get((how, kind.char, large))
        if form is None:
            form = forms[how, kind.char, large] = _written(name, rule, len(kept), len(numbers), how, kind, large)
        write, count = form
        if not large:
            write(p, g, *kept, *_numbers(numbers, kind), *_scratch(count, p.size, kind))
            return
        scalars = [np.asarray(number, kind) for number in numbers]

        def piece(begin: int, end: int) -> None:
            cut = slice(begin, end)
            write(p[cut], g[cut], *[each[cut] for each in kept], *scalars, *_scratch(count, end - begin, kind))

        share(piece, p.size, may_wait=True)

    run.__name__ = name
    return run


def _numbers(values: tuple[float, ...], kind: Any) -> list[Any]:
    """Numbers as 0-dim arrays of the type, which NumPy is twice as fast with; always the same arrays."""
    key = (kind, len(values))
    found = _room.__dict__.get(key)
    if found is None:
        found = _room.__dict__[key] = [np.empty((), kind) for _ in values]
    for array, value in zip(found, values, strict=True):
        array[()] = value
    return found  # type: ignore[no-any-return]


def _scratch(count: int, size: int, kind: Any) -> list[Any]:
    """Arrays to compute in, each thread's own."""
    key = (kind, count, size)
    found = _room.__dict__.get(key)
    if found is None:
        whole = _room.__dict__.setdefault(kind, [])
        while len(whole) < count:
            whole.append(np.empty(PIECE, kind))
        if len(_room.__dict__) > 100:  # windows of sizes long gone
            _room.__dict__.clear()
            _room.__dict__[kind] = whole
        found = _room.__dict__[key] = [each[:size] for each in whole[:count]]
    return found  # type: ignore[no-any-return]


# Tracing -----------------------------------------------------------------------------------------------


class Value:
    """A symbol for an array or a number; operators note what they would compute."""

    __array_ufunc__ = None

    def __init__(self, trace: Trace, small: bool) -> None:
        self.trace = trace
        self.small = small  # a number or a mask: NumPy makes it afresh

    def __neg__(self) -> Value:
        return self.trace.note("negative", self)

    def __lt__(self, other: Any) -> Value:
        return self.trace.note("less", self, other)


def _operator(name: str, turned: bool) -> Callable[[Value, Any], Value]:
    def note(self: Value, other: Any) -> Value:
        return self.trace.note(name, other, self) if turned else self.trace.note(name, self, other)

    return note


for _symbol, _name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"}.items():
    setattr(Value, f"__{_symbol}__", _operator(_name, False))
    setattr(Value, f"__r{_symbol}__", _operator(_name, True))


class Trace:
    """The namespace `xp` of symbols: it notes (function, operands, result) in order."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Any, ...], Value]] = []

    def note(self, function: str, *operands: Any) -> Value:
        """One step more; what is computed of numbers alone is a number."""
        numbers = all(not isinstance(each, Value) or each.small for each in operands)
        result = Value(self, numbers or function == "less")
        self.steps.append((function, operands, result))
        return result

    def __getattr__(self, function: str) -> Callable[..., Value]:
        if function not in ("sqrt", "abs", "sign", "maximum", "minimum"):
            raise AttributeError(f"an update cannot be written with {function!r} yet")
        return lambda *operands: self.note(function, *operands)

    def copy(self, x: Value) -> Value:
        """The same elements in memory of their own."""
        return self.note("positive", x)

    def clip(self, x: Value, least: Any, most: Any) -> Value:
        """Not below the least and not above the most."""
        found = x if least is None else self.note("maximum", x, least)
        return found if most is None else self.note("minimum", found, most)

    def where(self, mask: Value, x: int, y: Value) -> Value:
        """0 where the mask holds."""
        if x != 0:
            raise NotImplementedError("an update cannot be written with this where() yet")
        return self.note("cleared", y, mask)


def cleared(x: Any, mask: Any, out: Any) -> None:
    """0 where the mask holds, `x` elsewhere: its bits are cleared, which is ten times faster than to branch."""
    whole = np.int32 if x.itemsize == 4 else np.int64
    bits = mask.astype(whole)
    np.subtract(bits, 1, bits)
    np.bitwise_and(bits, x.view(whole), out.view(whole))


def grown(x: Any, factor: Any, y: Any) -> None:
    """x = x * factor + y, where BLAS can in one pass."""
    if not multiply_and_add(x, factor.item(), y):
        np.add(np.multiply(x, factor, x), y, x)


# Writing -----------------------------------------------------------------------------------------------


def _written(
    name: str, rule: Any, kept: int, numbers: int, how: tuple[str, ...], kind: Any, large: bool
) -> tuple[Callable[..., None], int]:
    """The function for one form of the rule, one type, small or large arrays, and how many scratch arrays it needs."""
    trace = Trace()
    p, g, *state = (Value(trace, False) for _ in range(2 + kept))
    scalars = [Value(trace, True) for _ in range(numbers)]
    outputs = rule(trace, p, g, tuple(state), tuple(scalars), how)
    owned = ["p", *(f"k{i}" for i in range(kept))]
    given = [f"n{i}" for i in range(numbers)]
    places = dict(zip((p, *state, g, *scalars), (*owned, "g", *given), strict=True))
    writer = _Writer(trace, places, dict(zip(outputs, owned, strict=True)), set(owned), large)
    lines = writer.lines()
    lines += [
        f"copyto({place}, {places[each]})" for each, place in zip(outputs, owned, strict=True) if places[each] != place
    ]
    arguments = ["p", "g", *owned[1:], *given, *writer.scratch]
    text = f"def {name}({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in lines)
    file = f"<clarion update {name} {' '.join(how)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {
        "__name__": __name__,
        "copyto": np.copyto,
        "cleared": cleared,
        "grown": grown,
    }
    scope |= {function: getattr(np, function) for function, _, _ in trace.steps if function not in scope}
    scope |= {name: kept_number(value, kind) for value, name in writer.constants.items()}
    exec(compile(text, file, "exec"), scope)
    return scope[name], len(writer.scratch)


OUT = {"maximum": "out=", "minimum": "out="}  # NumPy wants it by name there; by place it is faster


def _side_by_side(steps: list[Any], places: dict[Value, str], wanted: dict[Value, str]) -> list[Any]:
    """The steps, each product that is added to in the memory it is taken from right before the step that adds: `grown` is both."""
    found = list(steps)
    for step in steps:
        function, operands, product = step
        users = [each for each in found if any(operand is product for operand in each[1])]
        if function == "multiply" and len(users) == 1 and users[0][0] == "add" and product not in wanted:
            home = wanted.get(users[0][2])
            if home is not None and home == places.get(operands[0]):
                found.remove(step)
                found.insert(found.index(users[0]), step)
    return found


class _Writer:
    """Gives every result a place, in the order of the steps.

    A place may be written when its content is not used after this step. New values of parameter and state go to their
    own place if they can, and are copied there at the end otherwise.
    """

    def __init__(
        self, trace: Trace, places: dict[Value, str], wanted: dict[Value, str], owned: set[str], large: bool
    ) -> None:
        self.steps = _side_by_side(trace.steps, places, wanted) if large else trace.steps
        self.places, self.wanted, self.owned, self.large = places, wanted, owned, large
        self.last = {each: len(self.steps) for each in wanted}  # results are needed at the end
        for i, (_, operands, _) in enumerate(self.steps):
            for each in operands:
                if isinstance(each, Value):
                    self.last[each] = max(i, self.last.get(each, 0))
        self.content = {place: value for value, place in places.items()}
        self.scratch: list[str] = []
        self.constants: dict[float, str] = {}
        self.free: list[str] = []

    def lines(self) -> list[str]:
        """One call for each step."""
        found = []
        for i, (function, operands, result) in enumerate(self.steps):
            words = ", ".join(self.places[e] if isinstance(e, Value) else self._constant(e) for e in operands)
            if result.small:
                self.places[result] = f"m{i}"
                found.append(f"m{i} = {function}({words})")
                continue
            place = self._place(i, operands, result)
            self.places[result] = place
            self.content[place] = result
            self.free = [room for room in self.scratch if self._done(room, i)]
            added = self._added(i) if self.large else None
            if added is not None:
                found.append(f"grown({words}, {self.places[added]})")
            elif not (self.large and i and self._added(i - 1)):
                found.append(f"{function}({words}, {OUT.get(function, '')}{place})")
        return found

    def _added(self, i: int) -> Value | None:
        """What the next step adds, in place, to the result of this one, which is something that lies there times a number; or None."""
        (function, operands, product), following = self.steps[i], self.steps[i + 1 : i + 2]
        if function != "multiply" or not following or following[0][0] != "add" or self.last[product] != i + 1:
            return None
        (x, number), (first, second), home = operands, following[0][1], self.wanted.get(following[0][2])
        other = second if first is product else first
        if not all(isinstance(each, Value) for each in (x, number, other)) or x.small or other.small:
            return None
        return other if number.small and home == self.places[x] and self.last[x] == i else None

    def _constant(self, value: float) -> str:
        """The name of a number that stands in the rule."""
        return self.constants.setdefault(value, f"c{len(self.constants)}")

    def _done(self, place: str, i: int) -> bool:
        """Is what lies there not used after step i?"""
        return self.last.get(self.content[place], -1) <= i

    def _place(self, i: int, operands: tuple[Any, ...], result: Value) -> str:
        home = self.wanted.get(result)
        if home is not None and self._done(home, i):
            return home
        for each in operands:
            if isinstance(each, Value) and not each.small:
                place = self.places[each]
                if (place in self.owned or place in self.scratch) and self._done(place, i):
                    return place
        if self.free:
            return self.free[0]
        self.scratch.append(f"s{len(self.scratch)}")
        return self.scratch[-1]


for _name, _rule in RULES.items():
    offer(f"{_name}_", "numpy", in_place(f"{_name}_", _rule))


# Muon --------------------------------------------------------------------------------------------------


def _several_large(x: Any, *_: Any) -> bool:
    return len(x) > 1 and x[0].size > LARGE


@offer("muon_orthogonal", "numpy", accepts=_several_large)
def orthogonal_numpy(x: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """A matrix for each thread: BLAS takes as long for a symmetric product with two threads as with one."""

    def some(begin: int, end: int) -> None:
        for k in range(begin, end):
            x[k] = orthogonal(np, x[k : k + 1], coefficients, steps)[0]

    with one_in_blas():
        share(some, len(x), 1)
    return x


# Sums of multiples -------------------------------------------------------------------------------------


@offer("multiply_add", "numpy")
def multiply_add_numpy(x: Any, factor: Any, y: Any, to: Any) -> Any:
    """BLAS has it in one pass."""
    if x.size < WORTH or x.dtype != to.dtype or y.dtype != to.dtype or not factor:
        return multiply_add(np, x, factor, y, to)
    if to is not y:
        np.copyto(to, y)
    with one_in_blas():
        done = add_multiple(x, factor, to)
    return to if done else multiply_add(np, x, factor, to, to)


@offer("descended", "numpy", writes=True)
def descended_numpy(p: Any, g: Any, rate: Any, *, out: Any = None) -> Any:
    """In place, BLAS has it in one pass; PyTorch rounds it once, too."""
    if out is p and add_multiple(g, -rate.item(), p):
        return p
    return np.subtract(p, np.multiply(g, rate), out=out)
