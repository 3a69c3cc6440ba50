"""Writing LLVM's language: a function is built line by line, with loops and conditions as `with` blocks.

    f = Function("twice", "void", "i64 n", "ptr x")
    with f.counted("0", "%n") as i:
        place = f.element("%x", i, "float")
        f.store("float", f.op("fmul", "float", f.load("float", place), f.number("float", 2)), place)
    f.end()

Values are names (`%7`) or literals; types are LLVM's words. `Variable`s stand for what changes; LLVM turns them into registers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def literal(type_: str, value: float) -> str:
    """A number as LLVM spells it; for a vector type, in all of its lanes."""
    scalar = element_type(type_)
    if scalar in ("float", "double"):
        if scalar == "float":
            value = _rounded32(value)
        word = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    elif scalar == "i1":
        word = "true" if value else "false"
    else:
        word = str(int(value))
    return word if scalar == type_ else f"splat ({scalar} {word})"


def _rounded32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def element_type(type_: str) -> str:
    """`float` of `<16 x float>`, and of `float`."""
    return type_.split(" x ")[1].rstrip(">") if type_.startswith("<") else type_


def with_lanes(lanes: int, scalar: str) -> str:
    """`<16 x float>`."""
    return f"<{lanes} x {scalar}>"


def like(type_: str, scalar: str) -> str:
    """The type with as many lanes as `type_` and another element."""
    return f"<{type_[1:].split(' x ')[0]} x {scalar}>" if type_.startswith("<") else scalar


def suffix(type_: str) -> str:
    """How intrinsics name a type: v16f32."""
    short = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}
    scalar = element_type(type_)
    word = short.get(scalar, scalar)
    return word if scalar == type_ else f"v{type_[1:].split(' x ')[0]}{word}"


class Variable:
    """Something that changes: memory that LLVM makes a register of."""

    __slots__ = ("function", "place", "type")

    def __init__(self, function: Function, type_: str, value: str) -> None:
        self.function, self.type = function, type_
        self.place = function.reserve(type_)
        self.set(value)

    def get(self) -> str:
        """The value now."""
        return self.function.load(self.type, self.place)

    def set(self, value: str) -> None:
        """Another value from now on."""
        self.function.store(self.type, value, self.place)


class Function:
    """One function being written. `declared` collects what it calls."""

    def __init__(self, name: str, result: str, *parameters: str, linkage: str = "") -> None:
        self.head = f"define {linkage} {result} @{name}({', '.join(_parameter(p) for p in parameters)}) #0 {{"
        self.lines: list[str] = []
        self.reserved: list[str] = []
        self.declared: dict[str, str] = {}
        self._count = 0
        self.label = "start"

    def fresh(self) -> str:
        """A name that is not in use."""
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def let(self, text: str) -> str:
        """An instruction with a result: its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    # Instructions ------------------------------------------------------------------------------------

    def op(self, word: str, type_: str, *values: str) -> str:
        """An instruction whose operands are all of one type."""
        return self.let(f"{word} {type_} {', '.join(values)}")

    def call(self, name: str, result: str, *arguments: str) -> str:
        """A call; arguments are written with their types."""
        self.declared[name] = f"declare {result} @{name}({', '.join(_type_of(a) for a in arguments)})"
        text = f"call {result} @{name}({', '.join(arguments)})"
        if result == "void":
            self.line(text)
            return ""
        return self.let(text)

    def intrinsic(self, name: str, type_: str, *values: str) -> str:
        """One of LLVM's own functions, of one type throughout."""
        return self.call(f"llvm.{name}.{suffix(type_)}", type_, *[f"{type_} {v}" for v in values])

    def cast(self, word: str, before: str, value: str, after: str) -> str:
        """A conversion."""
        return self.let(f"{word} {before} {value} to {after}")

    def select(self, type_: str, condition: str, yes: str, no: str) -> str:
        """Lane by lane one or the other."""
        return self.let(f"select {like(type_, 'i1')} {condition}, {type_} {yes}, {type_} {no}")

    def load(self, type_: str, place: str, align: int = 0) -> str:
        """What stands at a place."""
        return self.let(f"load {type_}, ptr {place}" + (f", align {align}" if align else ""))

    def store(self, type_: str, value: str, place: str, align: int = 0) -> None:
        """Write to a place."""
        self.line(f"store {type_} {value}, ptr {place}" + (f", align {align}" if align else ""))

    def element(self, base: str, index: str, type_: str) -> str:
        """The place of an element of an array."""
        return self.let(f"getelementptr {type_}, ptr {base}, i64 {index}")

    def offset(self, base: str, bytes_: str) -> str:
        """A place so many bytes further."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {bytes_}")

    def reserve(self, type_: str, count: int = 1) -> str:
        """Room on the stack, from the start of the function."""
        name = self.fresh()
        self.reserved.append(f"  {name} = alloca {type_}, i64 {count}, align 64")
        return name

    def variable(self, type_: str, value: str) -> Variable:
        """Something that changes."""
        return Variable(self, type_, value)

    def spread(self, type_: str, value: str) -> str:
        """A number in all lanes."""
        one = self.let(f"insertelement {type_} poison, {element_type(type_)} {value}, i64 0")
        lanes = int(type_[1:].split(" x ")[0])
        return self.let(f"shufflevector {type_} {one}, {type_} poison, <{lanes} x i32> zeroinitializer")

    # Flow --------------------------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        """The next lines stand under a label."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """Go there."""
        self.line(f"br label %{label}")

    def labels(self, *words: str) -> list[str]:
        """Fresh labels."""
        self._count += 1
        return [f"{word}{self._count}" for word in words]

    @contextmanager
    def when(self, condition: str, rarely: bool = False) -> Iterator[None]:
        """Only if the condition (an i1) holds."""
        then, after = self.labels("then", "after")
        weights = ", !prof !0" if rarely else ""
        self.line(f"br i1 {condition}, label %{then}, label %{after}{weights}")
        self.begin(then)
        yield
        self.jump(after)
        self.begin(after)

    def choose(self, type_: str, condition: str, yes: Callable[[], str], no: Callable[[], str]) -> str:
        """One of two computations; the condition (an i1) rarely holds."""
        result = self.variable(type_, "poison")
        rare, usual, after = self.labels("rare", "usual", "after")
        self.line(f"br i1 {condition}, label %{rare}, label %{usual}, !prof !0")
        for label, value in ((rare, yes), (usual, no)):
            self.begin(label)
            result.set(value())
            self.jump(after)
        self.begin(after)
        return result.get()

    @contextmanager
    def counted(self, first: str, end: str, step: str = "1") -> Iterator[str]:
        """A loop over i64 from `first` to below `end`."""
        head, body, after = self.labels("head", "body", "after")
        counter = self.variable("i64", first)
        self.jump(head)
        self.begin(head)
        now = counter.get()
        self.line(f"br i1 {self.op('icmp slt', 'i64', now, end)}, label %{body}, label %{after}")
        self.begin(body)
        yield now
        counter.set(self.op("add", "i64", now, step))
        self.jump(head)
        self.begin(after)

    @contextmanager
    def forever(self) -> Iterator[str]:
        """A loop; gives the label to jump to in order to leave it (see `leave_when`)."""
        head, after = self.labels("head", "after")
        self.jump(head)
        self.begin(head)
        yield after
        self.jump(head)
        self.begin(after)

    def leave_when(self, condition: str, label: str) -> None:
        """Leave a `forever` loop."""
        (on,) = self.labels("on")
        self.line(f"br i1 {condition}, label %{label}, label %{on}")
        self.begin(on)

    def end(self, result: str = "void") -> None:
        """The last line."""
        self.line(f"ret {result}")

    def text(self) -> str:
        """The function as text."""
        return "\n".join([self.head, "start:", *self.reserved, *self.lines, "}"])


def _parameter(text: str) -> str:
    type_, _, name = text.rpartition(" ")
    return f"{type_} %{name}"


def _type_of(argument: str) -> str:
    return argument.rpartition(" ")[0] if not argument.startswith("<") else argument[: argument.index(">") + 1]


def module(functions: list[Function], globals_: str = "") -> str:
    """A whole module."""
    own = {f.head.split("@", 1)[1].split("(", 1)[0] for f in functions}
    declared = {name: text for f in functions for name, text in f.declared.items() if name not in own}
    parts = [globals_, *[f.text() for f in functions], *declared.values()]
    # No contraction, no assumptions: arithmetic is what is written.
    return "\n".join(parts) + '\nattributes #0 = { nounwind }\n!0 = !{!"branch_weights", i32 1, i32 2000}\n'
