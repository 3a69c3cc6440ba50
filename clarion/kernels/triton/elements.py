"""Traced kernels on the GPU: one launch for a whole expression, whatever its types and strides.

A portable kernel (or a gradient rule) is traced once for each combination of types (kernels/trace); here its steps become the
text of a Triton kernel. Half precision is computed in float32 and rounded once, when the result is stored. Numbers are arguments of
the kernel, not part of its text: a learning rate that changes compiles nothing anew.

How the operands lie decides the text: all alike and dense (`FLAT`, whatever the order of dimensions), the same number for all
elements (`ONE`), or anything else (`STRIDED`), for which places are computed dimension by dimension.
"""

from __future__ import annotations

import itertools
import linecache
import math
from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np
import triton
import triton.language as tl
from ml_dtypes import bfloat16
from triton.language.extra import libdevice

from ..trace import graph, tracer
from ..trace.graph import Program, Term, Untraceable
from ..trace.tracer import Input
from .build import Kernel

FLAT, ONE, STRIDED = "flat", "one", "strided"
BLOCK = 1024
_numbers = itertools.count()

_OPERATORS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}"}
_OPERATORS |= {"lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}", "ne": "{} != {}"}
_OPERATORS |= {"neg": "-{}", "abs": "tl.abs({})", "not": "{} == 0", "where": "tl.where({}, {}, {})"}
_OPERATORS |= {
    "minimum": "tl.minimum({}, {}, tl.PropagateNan.ALL)",
    "maximum": "tl.maximum({}, {}, tl.PropagateNan.ALL)",
}
_FUNCTIONS = {
    "div": "div_rn",
    "rint": "rint",
    "copysign": "copysign",
    "pow": "pow",
    "sqrt": "sqrt",
}  # libdevice's names
_TYPES = {"float32": "tl.float32", "float64": "tl.float64", "bool": "tl.int1", "int64": "tl.int64", "int32": "tl.int32"}
_TYPES |= {
    "float16": "tl.float16",
    "bfloat16": "tl.bfloat16",
    "uint8": "tl.uint8",
    "int8": "tl.int8",
    "int16": "tl.int16",
}


def expression(term: Term, operands: Sequence[str]) -> str:
    """One step as Triton writes it."""
    word = term.operation
    if word == "cast":
        return f"({operands[0]} != 0)" if term.dtype.kind == "b" else f"{operands[0]}.to({_TYPES[term.dtype.name]})"
    if word in _OPERATORS:
        return _OPERATORS[word].format(*operands)
    if word in graph.FUNCTIONS or word in _FUNCTIONS:
        return f"libdevice.{_FUNCTIONS.get(word, word)}({', '.join(operands)})"
    raise Untraceable(f"no {word} on the GPU")


def constant(value: Any, dtype: Any) -> str:
    """A number as Triton writes it, in a type."""
    if dtype.kind == "b":
        return "True" if value else "False"
    if dtype.kind != "f":
        return repr(int(value))
    text = repr(float(value)) if math.isfinite(value) else f'float("{value}")'
    return text if dtype.itemsize == 4 else f"tl.full([], {text}, tl.float64)"


def steps(program: Program, names: dict[Term, str]) -> tuple[list[str], dict[Term, str]]:
    """The lines that compute all terms but the inputs, whose `names` are given; and the names of all."""
    lines, names = [], dict(names)
    for term in program.terms:
        if term in names:
            continue
        if term.operation == "constant":
            names[term] = constant(term.value, term.dtype)
            continue
        names[term] = f"t{len(lines)}"
        lines.append(f"{names[term]} = {expression(term, [names[operand] for operand in term.operands])}")
    return lines, names


def compiled(text: str, warps: int = 4) -> Kernel:
    """The kernel of a text, which a traceback can show."""
    place = f"<clarion GPU kernel {next(_numbers)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    scope: dict[str, Any] = {"tl": tl, "libdevice": libdevice, "__name__": __name__}
    exec(compile(text, place, "exec"), scope)
    return Kernel(triton.jit(scope["kernel"]), warps)


class Traced:
    """A program, and its kernels for the ways in which operands can lie."""

    def __init__(self, program: Program, kinds: Sequence[Any]) -> None:
        self.program = program
        self.kinds = [np.dtype(kind) for kind in kinds]  # in memory, of the results
        self._kernels: dict[Any, Kernel] = {}
        self._runs: dict[bool, Callable[..., None]] = {}

    def __call__(self, operands: Sequence[Any], shape: tuple[int, ...], outs: Sequence[Any] | None = None) -> list[Any]:
        """Run on arrays and host numbers that broadcast to `shape`."""
        if (
            outs is None
            and len(self.kinds) == 1
            and all(type(x) is cupy.ndarray and x._c_contiguous and x.shape == shape for x in operands)
        ):
            return [self._quick(operands, shape)]
        ways, alike = _ways(operands, shape)
        if outs is None:
            outs = [_empty_like(alike, shape, kind) for kind in self.kinds]
        elif any(not _dense_as(out, alike, shape) for out in outs):
            ways = [STRIDED if way == FLAT else way for way in ways]
        count = math.prod(shape)
        if not count:
            return list(outs)
        numbers = [
            np.float32(x) if x.dtype.itemsize <= 4 else np.float64(x) for x in operands if isinstance(x, np.ndarray)
        ]
        arrays = [x for x in operands if not isinstance(x, np.ndarray)]
        if STRIDED in ways:
            extents, strides = _collapsed(
                shape, [x for x, way in zip(operands, ways, strict=True) if way == STRIDED], outs
            )
            key, extra = (tuple(ways), len(extents)), (*extents, *strides)
        else:
            key, extra = (tuple(ways), 0), ()
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = compiled(self._text(operands, ways, key[1]))
        found.launch((-(-count // BLOCK),), (*arrays, *numbers, *outs, count, *extra), B=BLOCK)
        return list(outs)

    def _quick(self, operands: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """The usual case: arrays of one shape, row by row, and one result."""
        out = cupy.ndarray(shape, self.kinds[0])
        count = out.size
        if count:
            aligned = not (count % 16 or any(x.data.ptr % 16 for x in operands))
            run = self._runs.get(aligned)
            if run is None:
                key: Any = (tuple([FLAT] * len(operands)), 0)
                kernel = self._kernels.get(key)
                if kernel is None:
                    kernel = self._kernels[key] = compiled(self._text(operands, key[0], 0))
                run = self._runs[aligned] = kernel.ready((*operands, out, count), {"B": BLOCK}, aligned)
            run((-(-count // BLOCK),), (*operands, out, count))
        return out

    def _text(self, operands: Sequence[Any], ways: Sequence[str], dims: int) -> str:
        program = self.program
        given, names, lines = [], {}, []
        strided = [k for k, way in enumerate(ways) if way == STRIDED]
        for k, (term, way) in enumerate(zip(program.inputs, ways, strict=True)):
            names[term] = f"x{k}"
            if isinstance(operands[k], np.ndarray):
                continue
            given.append(f"p{k}")
            place = {FLAT: f"p{k} + at", ONE: f"p{k}", STRIDED: f"p{k} + at{k}"}[way]
            read = f"tl.load({place})" if way == ONE else f"tl.load({place}, mask=inside)"
            kind = "" if term.dtype.kind == "b" else f".to({_TYPES[term.dtype.name]})"
            lines.append(f"x{k} = {read}{' != 0' if term.dtype.kind == 'b' else kind}")
        given += [f"x{k}" for k, x in enumerate(operands) if isinstance(x, np.ndarray)]
        outs = [f"out{j}" for j in range(len(program.results))]
        places = [f"at{k}" for k in strided] + [f"to{j}" for j in range(len(outs))] if dims else []
        sizes = [f"n{d}" for d in range(dims)]
        moves = [f"s{p}_{d}" for p in range(len(places)) for d in range(dims)]
        text = f"def kernel({', '.join([*given, *outs, 'count', *sizes, *moves])}, B: tl.constexpr):\n"
        body = ["at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)", "inside = at < count"]
        if dims:
            body += _places(places, dims)
        more, names = steps(program, names)
        body += lines + more
        for j, term in enumerate(program.results):
            value, to = names[term], f"to{j}" if dims else "at"
            if term.space == graph.ONE:
                value = f"tl.full([B], {value}, {_TYPES[term.dtype.name]})"
            body.append(f"tl.store(out{j} + {to}, ({value}).to({_TYPES[self.kinds[j].name]}), mask=inside)")
        return text + "".join(f"    {line}\n" for line in body)


def _places(places: Sequence[str], dims: int) -> list[str]:
    """Lines that turn a number of an element into its place in each operand: the last dimension runs fastest."""
    lines = ["left = at", *[f"{place} = tl.zeros([B], tl.int64)" for place in places]]
    for d in reversed(range(dims)):
        lines.append(f"i{d} = left % n{d}" if d else "i0 = left")
        if d:
            lines.append(f"left = left // n{d}")
        lines += [f"{place} += i{d} * s{p}_{d}" for p, place in enumerate(places)]
    return lines


def _ways(operands: Sequence[Any], shape: tuple[int, ...]) -> tuple[list[str], Any]:
    """How each operand lies, and one of those that lie flat (None if the result is row by row)."""
    alike = None
    ways = []
    for x in operands:
        if isinstance(x, np.ndarray) or x.size == 1:
            ways.append(ONE)
        elif x.shape != shape:
            ways.append(STRIDED)
        elif alike is None:
            if x._c_contiguous or _is_dense(x):
                alike = x
                ways.append(FLAT)
            else:
                ways.append(STRIDED)
        else:
            ways.append(
                FLAT if (x._c_contiguous and alike._c_contiguous) or x.strides == _scaled(alike, x) else STRIDED
            )
    if STRIDED in ways:
        ways = [STRIDED if way == FLAT else way for way in ways]
    return ways, alike


def _scaled(x: Any, y: Any) -> tuple[int, ...]:
    """The strides of `x`, in units of the elements of `y`."""
    return tuple([s // x.itemsize * y.itemsize for s in x.strides])


def _is_dense(x: Any) -> bool:
    """Are the elements adjacent in some order of the dimensions?"""
    expected = x.itemsize
    for stride, n in sorted((s, n) for s, n in zip(x.strides, x.shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= n
    return True


def _dense_as(out: Any, alike: Any, shape: tuple[int, ...]) -> bool:
    if out.shape != shape:
        raise ValueError(f"the result has shape {shape}, and is to be written into {out.shape}")
    return bool(out._c_contiguous) if alike is None or alike._c_contiguous else out.strides == _scaled(alike, out)


def _empty_like(alike: Any, shape: tuple[int, ...], kind: Any) -> Any:
    if alike is None or alike._c_contiguous:
        return cupy.ndarray(shape, kind)
    size = np.dtype(kind).itemsize
    strides = tuple([s // alike.itemsize * size for s in alike.strides])
    return cupy.ndarray(shape, kind, cupy.cuda.alloc(math.prod(shape) * size), strides)


def _collapsed(shape: tuple[int, ...], operands: Sequence[Any], outs: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Sizes, and the distances of all operands and results, with neighbouring dimensions joined where all of them allow it."""
    every = [_elements(cupy.broadcast_to(x, shape)) for x in operands] + [_elements(out) for out in outs]
    sizes: list[int] = []
    moves: list[list[int]] = []
    for d, n in enumerate(shape):
        if n == 1:
            continue
        here = [x[d] for x in every]
        if sizes and all(before == after * n for before, after in zip(moves[-1], here, strict=True)):
            sizes[-1] *= n
            moves[-1] = here
        else:
            sizes.append(n)
            moves.append(here)
    sizes, moves = (sizes, moves) if sizes else ([1], [[0] * len(every)])
    return sizes, [moves[d][k] for k in range(len(every)) for d in range(len(sizes))]


def _elements(x: Any) -> list[int]:
    return [s // x.itemsize for s in x.strides]


# Kernels and rules -------------------------------------------------------------------------------------------

MOST = 64  # versions of one kernel, for different types and parameters: more are not worth compiling


class Element:
    """A function of arrays and parameters, traced when it first meets types and parameters; `otherwise` takes the rest."""

    def __init__(self, trace: Callable[[Sequence[Any]], Program], otherwise: Callable[..., Any]) -> None:
        self.trace, self.otherwise = trace, otherwise
        self.known: dict[Any, Traced | None] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        found = self._found(args)
        if found is None:
            return self.otherwise(*args) if out is None else self.otherwise(*args, out=out)
        operands = [a for a in args if type(a) is cupy.ndarray or type(a) is np.ndarray]
        shape = operands[0].shape
        if any(a.shape != shape for a in operands):
            shape = np.broadcast_shapes(*[a.shape for a in operands])
        results = found(operands, shape, None if out is None else [out])
        return results[0] if len(results) == 1 else tuple(results)

    def _found(self, args: Sequence[Any]) -> Traced | None:
        key: list[Any] = []
        for a in args:
            kind = type(a)
            if kind is cupy.ndarray:
                key.append(a.dtype)
            elif kind is np.ndarray:
                key.append((a.dtype.char, a.ndim))
            elif kind in _PLAIN:
                key.append((kind, repr(a)))
            else:
                return None
        made = tuple(key)
        try:
            return self.known[made]
        except KeyError:
            self.known[made] = found = self._made(args) if len(self.known) < MOST else None
            return found

    def _made(self, args: Sequence[Any]) -> Traced | None:
        kinds = [a.dtype for a in args if type(a) is cupy.ndarray]
        half = (
            next((kind for kind in kinds if kind in _HALF), None)
            if all(k in _HALF or k.kind == "b" for k in kinds)
            else None
        )
        if not kinds or any(type(a) is np.ndarray and a.ndim for a in args):
            return None  # (arrays of the host are refused there)
        try:
            program = self.trace([_symbol(a) for a in args])
            steps(program, dict.fromkeys(program.inputs, "x"))  # all of it can be written
            results = [
                half if half is not None and term.dtype == np.float32 else term.dtype for term in program.results
            ]
            return Traced(program, results)
        except Untraceable:
            return None


_HALF = (np.dtype(np.float16), np.dtype(bfloat16))
_PLAIN = frozenset([int, float, bool, str, type(None)])


def _symbol(a: Any) -> Any:
    """What stands for an argument in a trace."""
    if type(a) is cupy.ndarray:
        return Input(np.dtype(np.float32) if a.dtype in _HALF else a.dtype)
    return Input(a.dtype, graph.ONE) if type(a) is np.ndarray else a


def kernel(name: str, otherwise: Callable[..., Any]) -> Element:
    """The kernel of an operation: traced from the portable one where that is an expression of elements."""
    return Element(lambda arguments: tracer.trace_kernel(name, arguments), otherwise)


def rule(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """A gradient rule of an elementwise operation, as one launch where it can be traced."""
    place = names.index("ops") + 1 if "ops" in names else None
    missing = object()
    element = Element(lambda arguments: tracer.trace_rule(function, names, arguments), lambda *args: missing)

    def call(*args: Any) -> Any:
        found = element(*(args if place is None else args[:place] + args[place + 1 :]))
        return function(*args) if found is missing else found

    return call
