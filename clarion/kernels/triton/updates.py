"""Updates of all parameters of a group in one launch: each rule of `kernels/updates.py`, traced and written out once.

Where the tensors lie stands in a table of pointers; each program of the launch takes a piece of one of them. The numbers of a step
(rates, corrections) are read from GPU memory, so that a captured graph can be replayed with new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from .. import captures
from ..cuda.capture import counter_of_stream, from_host
from ..cuda.sending import LARGEST, send
from ..registry import offer
from ..trace.graph import ONE, Book, Program
from ..trace.symbols import Array, Namespace
from ..unless import unless
from ..updates import RULES, Lasting
from .build import FLOATS, Kernel, Launch
from .elements import _TYPES, compiled, steps

PIECE = 4096  # elements that one program updates


class Update:
    """One form of one rule, for tensors of one type."""

    def __init__(self, rule: str, how: tuple[str, ...], kept: int, numbers: int, kind: Any) -> None:
        book = Book()
        inputs = [book.input(k, np.float32) for k in range(2 + kept)]
        values = [book.input(2 + kept + k, np.float32, ONE) for k in range(numbers)]
        arrays = [Array(book, term, False) for term in (*inputs, *values)]
        results = RULES[rule](
            Namespace(book), arrays[0], arrays[1], tuple(arrays[2 : 2 + kept]), tuple(arrays[2 + kept :]), how
        )
        self.program = Program([*inputs, *values], [result.term for result in results], False)
        self.kernel: Kernel = compiled(self._text(kept, numbers, _TYPES[np.dtype(kind).name]), warps=8)
        self.launches: dict[Any, tuple[Table, Launch]] = {}  # by the sizes of the tensors

    def _text(self, kept: int, numbers: int, kind: str) -> str:
        """p, g and the state by their pointers; the results over p and the state."""
        tensors = 2 + kept
        lines = [
            "program = tl.program_id(0)",
            "which = tl.load(tensor_of + program)",
            "at = tl.load(begin_of + program) + tl.arange(0, B)",
            "inside = (at < tl.load(sizes + which)) & (tl.load(unless) == 0)",
        ]
        for k in range(tensors):
            lines.append(f"p{k} = tl.load(pointers + {k} * count + which).to(tl.pointer_type({kind})) + at")
            lines.append(f"x{k} = tl.load(p{k}, mask=inside, other=0.0).to(tl.float32)")
        lines += [f"x{tensors + k} = tl.load(numbers + {k})" for k in range(numbers)]
        more, names = steps(self.program, {term: f"x{k}" for k, term in enumerate(self.program.inputs)})
        lines += more
        places = [0, *range(2, tensors)]
        lines += [
            f"tl.store(p{k}, ({names[term]}).to({kind}), mask=inside)"
            for k, term in zip(places, self.program.results, strict=True)
        ]
        head = "def kernel(pointers, sizes, tensor_of, begin_of, numbers, unless, count, B: tl.constexpr):\n"
        return head + "".join(f"    {line}\n" for line in lines)

    def launch_for(self, params: Any) -> tuple[Table, Launch]:
        """The launch for tensors of these sizes."""
        sizes = tuple([p.size for p in params])
        found = self.launches.get(sizes)
        if found is None:
            table = Table(sizes)
            found = self.launches[sizes] = table, Launch(self.kernel, (table.programs,), (len(params),), B=PIECE)
        return found


class Table:
    """Where a list of tensors lies, on the GPU; made anew when one of them has moved."""

    def __init__(self, sizes: Sequence[int]) -> None:
        tensor_of = np.concatenate([np.full(-(-n // PIECE), i, np.int32) for i, n in enumerate(sizes)])
        begin_of = np.concatenate([np.arange(0, n, PIECE, dtype=np.int64) for n in sizes])
        self.sizes = from_host(np.asarray(sizes, np.int64))
        self.tensor_of, self.begin_of = from_host(tensor_of), from_host(begin_of)
        self.programs = len(tensor_of)
        self.known: list[int] = []
        self.pointers: Any = None

    def point_to(self, arrays: Sequence[Any]) -> None:
        """Note where the tensors lie now."""
        places = [x.data.ptr for x in arrays]
        if places != self.known:
            self.known = places
            self.pointers = from_host(np.asarray(places, np.int64))


class Ready:
    """An update of lists of tensors that come again: only where their gradients lie, and the numbers, change from step to step.

    What changes is written to the GPU in one small copy, which comes after the launches that read what was there before.
    """

    def __init__(self, update: Update, params: Any, kept: Any, numbers: int) -> None:
        self.params = params
        table, launch = update.launch_for(params)
        self.table, self.launch = table, launch
        self.stream = get_current_stream().ptr
        count = len(params)
        lists = [params, params, *kept]  # (the gradients come second)
        self.host = np.zeros(count * len(lists) + -(-numbers // 2), np.int64)
        self.host[: count * len(lists)] = [x.data.ptr for each in lists for x in each]
        self.of_gradients = self.host[count : 2 * count]
        self.numbers = self.host[count * len(lists) :].view(np.float32)[:numbers]
        self.there = cupy.ndarray(self.host.shape, np.int64)
        self.numbers_there = self.there[count * len(lists) :].view(np.float32)

    def __call__(self, grads: Any, numbers: Any) -> Any:
        self.of_gradients[:] = [x.data.ptr for x in grads]
        self.numbers[:] = numbers
        send(self.host, self.there.data.ptr)
        table = self.table
        self.launch.run(self.there, table.sizes, table.tensor_of, table.begin_of, self.numbers_there, _unless())
        return self.numbers_there


def _unless() -> Any:
    """What has to be 0 for an update to happen; what is always 0 where nobody has set a condition."""
    flag = unless.flag
    return counter_of_stream() if flag is None else flag


_updates: dict[Any, Update] = {}


def _again(key: Any, params: Any, kept: Any) -> Ready | None:
    """What is ready for these very lists on this stream; None while a graph is captured, whose arrays are its own."""
    if type(kept) is not Lasting or captures.current() is not None:
        return None
    found = kept.ready.get(key)
    return found if found is not None and found.stream == get_current_stream().ptr and found.params is params else None


@offer("update_all", "triton", accepts=lambda params, *_: params[0].dtype in FLOATS and params[0].dtype.itemsize <= 4)
def update_all(params: Any, grads: Any, kept: Any, rule: str, numbers: Any, how: tuple[str, ...]) -> Any:
    """Overwrite parameters and state, which are flat and of one type; where the numbers lie."""
    key = (rule, how, len(kept), len(numbers), params[0].dtype)
    again = _again(key, params, kept)
    if again is not None:
        return again(grads, numbers)
    update = _updates.get(key)
    if update is None:
        update = _updates[key] = Update(*key)
    if type(kept) is Lasting and captures.current() is None and 8 * len(params) * (2 + len(kept)) < LARGEST - 256:
        kept.ready[key] = Ready(update, params, kept, len(numbers))  # for the next step
    table, launch = update.launch_for(params)
    table.point_to([*params, *grads, *[x for each in kept for x in each]])
    values = from_host(np.asarray(numbers, np.float32))
    launch.run(table.pointers, table.sizes, table.tensor_of, table.begin_of, values, _unless())
    return values


@offer("set_numbers", "triton")
def set_numbers(place: Any, numbers: Any) -> None:
    """Write the numbers of the next step where a captured step will read them."""
    place.set(np.asarray(numbers, np.float32), cupy.cuda.get_current_stream())
