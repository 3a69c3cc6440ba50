"""From a program to a function that NumPy calls."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import registry, threads
from ..trace.graph import EACH, ROW, Program, Untraceable
from ..trace.tracer import Input
from . import machine, ufuncs
from .kernel import CHEAP, Rows
from .lower import cost, elements_body, lanes_of
from .rows import rows_body
from .runtime import plan, runtime

if TYPE_CHECKING:
    from .kernel import Compiled

WORTH = 12_000  # nanoseconds of work that are worth a thread
_SIMPLE = 0.2  # nanoseconds per element: what costs less waits for memory


def function(kernel: Compiled, args: Sequence[Any]) -> tuple[np.ufunc, int] | None:
    """The compiled function of a kernel for the types and parameters of `args`, and how many elements it is for."""
    if machine.binding() is None:
        registry.withdraw("llvm")
        return None
    try:
        rows = isinstance(kernel, Rows)
        per_row = kernel.per_row if rows else ()
        program = kernel.trace([_symbol(a, ROW if i in per_row else EACH) for i, a in enumerate(args)])
        if all(term.operation in ("input", "constant") for term in program.results):
            return None  # nothing is computed
        made = by_rows(kernel.name, program) if rows else elementwise(kernel.name, program)
    except Untraceable:
        return None
    return made, 0 if rows or kernel.for_any_size or cost(program) > _SIMPLE else CHEAP


def _symbol(value: Any, space: int) -> Any:
    """What stands for an argument."""
    return Input(value.dtype, space) if type(value) is np.ndarray else value


def elementwise(name: str, program: Program) -> np.ufunc:
    """A function of arrays, element by element."""
    lanes = lanes_of(program, machine.target()[2])
    return _made(name, program, elements_body(program, lanes), lanes, running().elements, None)


def by_rows(name: str, program: Program) -> np.ufunc:
    """A function of rows: the last dimension of its arrays, whose elements are adjacent."""
    lanes = lanes_of(program, machine.target()[2])
    places = ["(n)" if term.space == EACH else "()" for term in (*program.inputs, *program.results)]
    signature = ",".join(places[: len(program.inputs)]) + "->" + ",".join(places[len(program.inputs) :])
    return _made(name, program, rows_body(program, lanes), lanes, running().rows, signature)


def _made(name: str, program: Program, source: str, lanes: int, loop: int, signature: str | None) -> np.ufunc:
    dtypes = [term.dtype for term in (*program.inputs, *program.results)]
    place = machine.address(machine.compiled(source), "body")
    grain = int(WORTH / cost(program))
    made = plan(place, len(program.inputs), [dtype.itemsize for dtype in dtypes], lanes, grain)
    return ufuncs.make(name, loop, made, dtypes, len(program.inputs), signature)


@functools.cache
def sum_of_columns(kind: str) -> np.ufunc | None:
    """A function (m, n) -> (n) for arrays of the type with this letter."""
    if machine.binding() is None:
        return None
    return ufuncs.make("sum_of_columns", running().columns[kind], plan(0, 1, [], 1, 1), [kind, kind], 1, "(m,n)->(n)")


def running() -> Any:
    """The runtime, which obeys the number of threads from its first use on."""
    made = runtime()
    if not made.obeys:
        made.obeys = True
        threads.follow(made.set_threads)
    return made
