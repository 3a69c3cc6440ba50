"""Heads of attention: products of matrices, and the rows of scores between them. A chunk for a thread is some heads, or queries of one."""

from __future__ import annotations

from .. import pool
from ..api import DATA, of
from ..products.blocks import least, plus, shares, times
from ..products.tiles import Shape
from ..text import Function

_ARRAYS = ("q", "k", "v", "mask", "drop", "out", "probs", "total", "g", "gq", "gk", "gv", "gs", "bits")
_PLAIN = (*_ARRAYS, "parallel", "product")
# What the threads share, in places of eight bytes: where arrays lie and how far it is from batch to batch, head to head, row to row, and
# in a row, in bytes; the sizes (queries, keys, widths); heads in all and in a batch; queries at a time; parts of a head, and of a chunk.
FIELDS = (
    *_PLAIN, *[f"{name}_{step}" for name in _ARRAYS for step in ("outer", "inner", "row", "step")],
    "m", "n", "d", "e", "count", "inner", "height", "blocks", "per", "scale", "factor", "kind", "causal", "safe", "adds",
)  # fmt: skip
PLACE = {name: place for place, name in enumerate(FIELDS)}


class Head:
    """What a chunk knows: the fields of the context, and the arrays at a head."""

    def __init__(self, f: Function, shape: Shape) -> None:
        self.f, self.shape = f, shape
        self.value = {name: self._field(name) for name in FIELDS}
        self.scale, self.factor = self._number("scale"), self._number("factor")
        self.causal = f.op("icmp ne", "i64", self.value["causal"], "0")

    def _field(self, name: str) -> str:
        place = self.f.element("%context", str(PLACE[name]), "i64")
        return self.f.load("ptr" if name in _PLAIN else "i64", place)

    def _number(self, name: str) -> str:
        wide = self.f.cast("bitcast", "i64", self.value[name], "double")
        return wide if self.shape.scalar == "double" else self.f.cast("fptrunc", "double", wide, "float")

    def go(self, head: str) -> None:
        """Be at a head from now on."""
        self.head = head
        self.outer, self.inner = (self.f.op(word, "i64", head, self.value["inner"]) for word in ("sdiv", "srem"))

    def at(self, name: str, row: str = "0") -> str:
        """A row of an array of this head; null where there is none."""
        f, value = self.f, self.value
        far = times(f, self.outer, value[f"{name}_outer"])
        far = plus(f, far, times(f, self.inner, value[f"{name}_inner"]))
        far = plus(f, far, times(f, row, value[f"{name}_row"]))
        there = f.op("icmp ne", "ptr", value[name], "null")
        return f.offset(value[name], f.let(f"select i1 {there}, i64 {far}, i64 0"))

    def there(self, name: str) -> str:
        """Is there such an array?"""
        return self.f.op("icmp ne", "ptr", self.value[name], "null")

    def drops(self) -> str:
        """Is there dropout?"""
        return self.f.op("or", "i1", self.there("drop"), self.there("bits"))

    def noise(self, row: str, used: str) -> str:
        """What a function of rows is told of dropout; `used`: where to."""
        first = times(self.f, plus(self.f, times(self.f, self.head, self.value["m"]), row), self.value["n"])
        target = self.pick(self.drops(), used, "null", "ptr")
        bits = f"ptr {self.value['bits']}, i64 {first}, {self.shape.scalar} {self.factor}"
        return f"ptr {self.at('drop', row)}, {bits}, ptr {target}"

    def pick(self, condition: str, yes: str, no: str, type_: str = "i64") -> str:
        """One or the other."""
        return self.f.let(f"select i1 {condition}, {type_} {yes}, {type_} {no}")

    def extent(self, end: str) -> str:
        """How many keys queries before `end` see."""
        return self.pick(self.causal, least(self.f, self.value["n"], end), self.value["n"])

    def product(self, a: tuple[str, str, str], b: tuple[str, str, str], c: tuple[str, str], sizes: tuple[str, str, str],
                given: str = "null") -> None:  # fmt: skip
        """c = given + a @ b; operands are places and their steps, sizes are m, k, n."""
        first, second = (f"ptr {x[0]}, i64 {x[1]}, i64 {x[2]}" for x in (a, b))
        m, k, n = sizes
        result = f"ptr {c[0]}, i64 {c[1]}, ptr {given}, i64 {m}, i64 {k}, i64 {n}"
        self.f.line(f"call void {self.value['product']}({first}, {second}, {result})")

    def operand(self, name: str, row: str = "0", turned: bool = False) -> tuple[str, str, str]:
        """An array as an operand of a product."""
        one, other = self.value[f"{name}_row"], self.value[f"{name}_step"]
        return (self.at(name, row), *((other, one) if turned else (one, other)))

    def room(self, parts: int) -> tuple[str, list[str], str]:
        """Memory for some arrays of scores of a block: all of it, each of them, and the bytes of a row."""
        step = times(self.f, self.value["n"], str(self.shape.size))
        each = plus(self.f, times(self.f, step, self.value["height"]), "127")
        each = self.f.op("and", "i64", each, "-64")
        whole = self.f.call("aligned_alloc", "ptr", "i64 64", f"i64 {times(self.f, each, str(parts))}")
        return whole, [self.f.offset(whole, times(self.f, each, str(k))) for k in range(parts)], step

    def parts(self) -> tuple[str, str]:
        """The parts of this chunk."""
        total = times(self.f, self.value["count"], self.value["blocks"])
        first = times(self.f, "%number", self.value["per"])
        return first, least(self.f, plus(self.f, first, self.value["per"]), total)


def forward_chunk(shape: Shape) -> Function:
    """Some blocks of queries."""
    f = Function("forward_chunk", "void", "ptr context", "i64 number", linkage="internal")
    h, size = Head(f, shape), str(shape.size)
    value = h.value
    whole, (own, dropped), own_step = h.room(2)
    first, end = h.parts()
    with f.counted(first, end) as part:
        h.go(f.op("sdiv", "i64", part, value["blocks"]))
        start = times(f, f.op("srem", "i64", part, value["blocks"]), value["height"])
        count = least(f, f.op("sub", "i64", value["m"], start), value["height"])
        seen = h.extent(plus(f, start, count))
        kept = h.there("probs")
        scores = h.pick(kept, h.at("probs", start), own, "ptr")
        step = h.pick(kept, value["probs_row"], own_step)
        filled = h.pick(kept, value["n"], seen)
        h.product(h.operand("q", start), h.operand("k", turned=True), (scores, step), (count, value["d"], seen))
        with f.counted("0", count) as k:
            row = plus(f, start, k)
            line, used = f.offset(scores, times(f, k, step)), f.offset(dropped, times(f, k, own_step))
            mine = least(f, seen, h.extent(plus(f, row, "1")))
            safe = f.cast("trunc", "i64", value["safe"], "i1")
            f.line(
                f"call void @weights(ptr {line}, ptr {h.at('mask', row)}, i64 {value['kind']}, {h.noise(row, used)}, "
                f"i64 {mine}, i64 {filled}, {shape.scalar} {h.scale}, i1 {safe}, ptr {h.at('total', row)})"
            )
        drops = h.drops()
        left = (h.pick(drops, dropped, scores, "ptr"), h.pick(drops, own_step, step), size)
        h.product(left, h.operand("v"), (h.at("out", start), value["out_row"]), (count, seen, value["e"]))
    f.call("free", "void", f"ptr {whole}")
    f.end()
    return f


def backward_chunk(shape: Shape) -> Function:
    """Some heads, each block by block of its queries."""
    f = Function("backward_chunk", "void", "ptr context", "i64 number", linkage="internal")
    h, size = Head(f, shape), str(shape.size)
    value = h.value
    whole, (own, through, dropped), own_step = h.room(3)
    first = times(f, "%number", value["per"])
    end = least(f, plus(f, first, value["per"]), value["count"])
    kept, adds = h.there("probs"), f.op("icmp ne", "i64", value["adds"], "0")
    with f.counted(first, end) as head:
        h.go(head)
        with f.counted("0", value["m"], value["height"]) as start:
            count = least(f, f.op("sub", "i64", value["m"], start), value["height"])
            seen = h.extent(plus(f, start, count))
            probs = h.pick(kept, h.at("probs", start), own, "ptr")
            step = h.pick(kept, value["probs_row"], own_step)
            with f.when(f.op("xor", "i1", kept, "true")):
                h.product(h.operand("q", start), h.operand("k", turned=True), (probs, step), (count, value["d"], seen))
            h.product(
                h.operand("g", start), h.operand("v", turned=True), (through, own_step), (count, value["e"], seen)
            )
            with f.counted("0", count) as k:
                row = plus(f, start, k)
                line = f.offset(probs, times(f, k, step))
                far = times(f, k, own_step)
                mine = least(f, seen, h.extent(plus(f, row, "1")))
                with f.when(f.op("xor", "i1", kept, "true")):
                    f.line(
                        f"call void @again(ptr {line}, ptr {h.at('mask', row)}, i64 {value['kind']}, i64 {mine}, i64 {seen}, "
                        f"{shape.scalar} {h.scale}, ptr {h.at('total', row)})"
                    )
                f.line(
                    f"call void @gradient(ptr {line}, ptr {f.offset(through, far)}, {h.noise(row, f.offset(dropped, far))}, "
                    f"ptr {h.at('gs', row)}, i64 {mine}, i64 {seen}, {shape.scalar} {h.scale})"
                )
            drops = h.drops()
            used, used_step = h.pick(drops, dropped, probs, "ptr"), h.pick(drops, own_step, step)
            turned = (through, size, own_step)
            for name, left, right, length, width in (
                ("gv", (used, size, used_step), "g", "e", seen), ("gk", turned, "q", "d", seen),
            ):  # fmt: skip
                with f.when(h.there(name)):
                    place = h.at(name)
                    given = h.pick(adds, place, "null", "ptr")
                    sizes = (width, count, value[length])
                    h.product(left, h.operand(right, start), (place, value[f"{name}_row"]), sizes, given)
            with f.when(h.there("gq")):
                target = (h.at("gq", start), value["gq_row"])
                h.product((through, own_step, size), h.operand("k"), target, (count, seen, value["d"]))
    f.call("free", "void", f"ptr {whole}")
    f.end()
    return f


def share(name: str, by_blocks: bool, x86: bool) -> Function:
    """All chunks, on several threads where there are several. What comes as NumPy's arrays is replaced by where their data lie."""
    f = Function(name, "void", "ptr context")

    def field(which: str, type_: str = "i64") -> str:
        return f.load(type_, f.element("%context", str(PLACE[which]), "i64"))

    for array in _ARRAYS:
        given = field(array, "ptr")
        with f.when(f.op("icmp ne", "ptr", given, "null")):
            f.store("ptr", of(f, given, DATA), f.element("%context", str(PLACE[array]), "i64"))

    total = times(f, field("count"), field("blocks")) if by_blocks else field("count")
    chunks = shares(f, total, field("per"))
    pool.all_chunks(f, f"{name}_chunk", "%context", chunks, field("parallel", "ptr"), x86)
    f.end()
    return f


def functions(shape: Shape, x86: bool) -> list[Function]:
    """All functions of a module of attention."""
    from . import rows  # (not when clarion is imported)

    made = [rows.weights(shape), rows.again(shape), rows.gradient(shape), forward_chunk(shape), backward_chunk(shape)]
    return [*made, share("forward", True, x86), share("backward", False, x86)]
