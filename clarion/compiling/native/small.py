"""A product of small matrices as a native function."""

from __future__ import annotations

from typing import Any

from ...kernels.llvm.text import Function, with_lanes

PARAMETERS = ["ptr x", "ptr y", "ptr out", "i64 m", "i64 n", "i64 k", "i64 xr", "i64 xc", "i64 yr", "i64 yc", "i64 or"]


class SmallProduct:
    """Matrices with any strides: a vector of columns at a time, four rows at a time where there are."""

    def __init__(self, scalar: str, width: int) -> None:
        self.scalar, self.size = scalar, 4 if scalar == "float" else 8
        self.lanes = width // self.size
        self.type, self.numbers = with_lanes(self.lanes, scalar), with_lanes(self.lanes, "i64")
        self.suffix = f"v{self.lanes}f{8 * self.size}"
        self.f = Function(f"small_{scalar}", "void", *PARAMETERS, linkage="internal")

    def text(self) -> str:
        """The function, and what it needs declared."""
        f = self.f
        places = "<" + ", ".join(f"i64 {i}" for i in range(self.lanes)) + ">"
        near = f.op("icmp eq", "i64", "%yc", str(self.size))
        fours = f.op("mul", "i64", f.op("sdiv", "i64", "%m", "4"), "4")
        apart = f.op("mul", self.numbers, places, f.spread(self.numbers, "%yc"))
        with f.counted("0", "%n", str(self.lanes)) as j:
            left = f.spread(self.numbers, f.op("sub", "i64", "%n", j))
            mask = f"<{self.lanes} x i1> {f.op('icmp slt', self.numbers, places, left)}"
            with f.counted("0", fours, "4") as i:
                self._rows(i, 4, j, near, mask, apart)
            with f.counted(fours, "%m") as i:
                self._rows(i, 1, j, near, mask, apart)
        f.end()
        return "\n".join([f.text(), *f.declared.values()])

    def _rows(self, first: str, count: int, j: str, near: str, mask: str, apart: str) -> None:
        """Some rows of the result, in the columns from `j` on."""
        f = self.f
        totals = [f.variable(self.type, "zeroinitializer") for _ in range(count)]
        rows = [f.op("add", "i64", first, str(r)) for r in range(count)]
        column = f.offset("%y", f.op("mul", "i64", j, "%yc"))
        starts = [f.offset("%x", f.op("mul", "i64", row, "%xr")) for row in rows]

        def add_up(read: Any) -> None:
            with f.counted("0", "%k") as step:
                value = read(f.offset(column, f.op("mul", "i64", step, "%yr")), mask, apart)
                across = f.op("mul", "i64", step, "%xc")
                for start, total in zip(starts, totals, strict=True):
                    factor = f.spread(self.type, f.load(self.scalar, f.offset(start, across), self.size))
                    total.set(f.intrinsic("fma", self.type, factor, value, total.get()))

        with f.when(near):
            add_up(self._together)
        with f.when(f.op("xor", "i1", near, "true")):
            add_up(self._gathered)
        for row, total in zip(rows, totals, strict=True):
            place = f.offset(f.offset("%out", f.op("mul", "i64", row, "%or")), f.op("mul", "i64", j, str(self.size)))
            value = f"{self.type} {total.get()}"
            f.call(f"llvm.masked.store.{self.suffix}.p0", "void", value, f"ptr {place}", f"i32 {self.size}", mask)

    def _together(self, place: str, mask: str, apart: str) -> str:
        """Columns that lie one after the other."""
        given = (f"ptr {place}", f"i32 {self.size}", mask, f"{self.type} zeroinitializer")
        return self.f.call(f"llvm.masked.load.{self.suffix}.p0", self.type, *given)

    def _gathered(self, place: str, mask: str, apart: str) -> str:
        """Columns that lie apart."""
        spots = self.f.let(f"getelementptr i8, ptr {place}, {self.numbers} {apart}")
        given = (f"<{self.lanes} x ptr> {spots}", f"i32 {self.size}", mask, f"{self.type} zeroinitializer")
        return self.f.call(f"llvm.masked.gather.{self.suffix}.v{self.lanes}p0", self.type, *given)
