"""From a program to a function that NumPy calls, or Python itself."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import registry, threads
from . import machine, ufuncs
from .kernel import CHEAP, OneRow, Rows, Version
from .plan import plan

# (What programs are made of and lowered by is loaded in the functions: importing clarion must not wait for it.)
if TYPE_CHECKING:
    from ..trace.graph import Program
    from .cards import Form
    from .kernel import Compiled

WORTH = 4_000  # nanoseconds of work that are worth a thread
_LONG = 5_000  # nanoseconds from which a loop lets go of Python's lock
_SIMPLE = 0.2  # nanoseconds per element: what costs less waits for memory


def version(kernel: Compiled, args: Sequence[Any]) -> Version | None:
    """A kernel compiled for the types and parameters of `args`; None where that cannot be."""
    from ..trace.graph import EACH, ROW, Untraceable
    from . import direct
    from .lower import cost

    rows = isinstance(kernel, Rows)
    per_row = kernel.per_row if rows else ()
    try:
        program = kernel.trace([_symbol(a, ROW if i in per_row else EACH) for i, a in enumerate(args)])
        if all(term.operation in ("input", "constant") for term in program.results):
            return None  # nothing is computed
        if rows:
            whole = isinstance(kernel, OneRow)
            made = by_rows(kernel.name, program, direct.AS_ONE_ROW if whole else direct.BY_ROWS)
        else:
            made = elementwise(kernel.name, program)
    except Untraceable:
        return None
    except machine.NoCompiler:
        registry.withdraw("llvm")
        return None
    made.form.per_row = per_row
    cheap = not rows and not kernel.for_any_size and cost(program) <= _SIMPLE
    return made._replace(least=CHEAP if cheap else 0, words=frozenset(term.operation for term in program.terms))


def _symbol(value: Any, space: int) -> Any:
    """What stands for an argument."""
    from ..trace.tracer import Input

    return Input(value.dtype, space) if type(value) is np.ndarray else value


def beside_rows(kernel: Compiled, args: Sequence[Any], forms: tuple[str, ...]) -> Any:
    """An elementwise kernel as a function of rows: an operand may be one row for all of them, or have one number for each."""
    from ..trace.graph import EACH, ROW, Untraceable
    from . import direct

    form = iter(forms)
    symbols = [_symbol(a, ROW if type(a) is np.ndarray and next(form) == "number" else EACH) for a in args]
    try:
        program = kernel.trace(symbols)
        if any(term.operation == "input" or term.space != EACH for term in program.results):
            return None
        return by_rows(f"{kernel.name}_beside_rows", program, direct.BY_ROWS).function
    except (Untraceable, machine.NoCompiler):
        return None


def in_half(kernel: Compiled, args: Sequence[Any], half: Any) -> Any:
    """A kernel compiled for `args` of which some are in half precision: they are computed with in float32, results are rounded to `half`."""
    from ..trace.graph import EACH, ROW, Untraceable
    from ..trace.tracer import Input
    from .rounding import F32, half_of

    rows = isinstance(kernel, Rows)
    arrays = [(i, a) for i, a in enumerate(args) if type(a) is np.ndarray]
    symbols = list(args)
    for i, a in arrays:
        symbols[i] = Input(F32 if half_of(a.dtype) else a.dtype, ROW if rows and i in kernel.per_row else EACH)
    try:
        program = kernel.trace(symbols)
        if len(program.results) == 1 and program.results[0] in program.inputs:  # nothing is computed
            place, array = arrays[program.inputs.index(program.results[0])]
            return place if array.dtype == half else None
        stored = [*[half_of(a.dtype) for _, a in arrays], *[half if r.dtype is F32 else None for r in program.results]]
        return (by_rows if rows else elementwise)(f"{kernel.name}_in_half", program, 0, stored).function
    except (Untraceable, machine.NoCompiler):
        return None


def elementwise(name: str, program: Program, way: int = 0, stored: Sequence[Any] = ()) -> Version:
    """A function of arrays, element by element."""
    from . import direct
    from .lower import elements_body, lanes_of

    lanes = lanes_of(program, machine.processor()[1])
    dtypes = _dtypes(program, stored)
    made = _plan(program, elements_body(program, lanes, stored), lanes, dtypes)
    function = ufuncs.make(name, running().elements, made, dtypes, len(program.inputs))
    return Version(function, 0, made, _form(program, direct.BY_ELEMENTS))


def by_rows(name: str, program: Program, way: int, stored: Sequence[Any] = ()) -> Version:
    """A function of rows: the last dimension of its arrays, whose elements are adjacent. `way`: how it is called directly."""
    from ..trace.graph import EACH, ROW
    from .lower import lanes_of
    from .rows import rows_body

    lanes = lanes_of(program, machine.processor()[1])
    places = ["(n)" if term.space == EACH else "()" for term in (*program.inputs, *program.results)]
    signature = ",".join(places[: len(program.inputs)]) + "->" + ",".join(places[len(program.inputs) :])
    dtypes = _dtypes(program, stored)
    made = _plan(program, rows_body(program, lanes, stored), lanes, dtypes)
    function = ufuncs.make(name, running().rows, made, dtypes, len(program.inputs), signature)
    kept = [k for k, term in enumerate(program.results) if term.space == ROW and program.kept[k]]
    return Version(_with_dimension(function, kept) if kept else function, 0, made, _form(program, way))


def _with_dimension(function: Any, kept: list[int]) -> Any:
    """A function some of whose results have one value per row, in a last dimension of size 1."""

    def call(*arrays: Any) -> Any:
        results = function(*arrays)
        if type(results) is not tuple:
            return results.reshape(*results.shape, 1)  # (the step of a new axis would be 0)
        return tuple([r.reshape(*r.shape, 1) if k in kept else r for k, r in enumerate(results)])

    return call


def _dtypes(program: Program, stored: Sequence[Any]) -> list[Any]:
    """The types of the operands, as NumPy hands them to the loop."""
    from .rounding import seen_as

    own = [term.dtype for term in (*program.inputs, *program.results)]
    return [seen_as(half) if half else dtype for half, dtype in zip(stored or [None] * len(own), own, strict=True)]


def _plan(program: Program, source: str, lanes: int, dtypes: list[Any]) -> Any:
    from .lower import cost

    sizes = [dtype.itemsize for dtype in dtypes]
    place = machine.address(machine.compiled(source), "body")
    return plan(place, len(program.inputs), sizes, lanes, int(WORTH / cost(program)))


def _form(program: Program, way: int) -> Form:
    """How a program's function is called directly."""
    from ..trace.graph import EACH
    from . import direct
    from .cards import Form
    from .lower import cost

    shapes = [
        direct.LIKE_THE_FIRST if term.space == EACH else direct.ONE_PER_ROW_KEPT if kept else direct.ONE_PER_ROW
        for term, kept in zip(program.results, program.kept, strict=True)
    ]
    results = [(term.dtype, shape) for term, shape in zip(program.results, shapes, strict=True)]
    return Form(way, results, int(_LONG / cost(program)))


@functools.cache
def sum_of_columns(kind: str) -> np.ufunc | None:
    """A function (m, n) -> (n) for arrays of the type with this letter."""
    try:
        loops = running().columns
    except machine.NoCompiler:
        return None
    return ufuncs.make("sum_of_columns", loops[kind], plan(0, 1, [], 1, 1), [kind, kind], 1, "(m,n)->(n)")


@functools.cache
def running() -> Any:
    """The runtime, which obeys the number of threads from its first use on."""
    from .runtime import runtime

    made = runtime()
    threads.follow(made.set_threads)
    threads.quiet_blas()
    return made
