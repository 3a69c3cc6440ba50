"""An optimizer's step over all parameters of a group in one call: each thread has its share of every one of them.

So what a thread writes here lies in its cache from step to step, and what it reads was mostly written by itself: products share rows
in the same way. Where the arrays lie stands in a table; of it only the gradients' places change from step to step.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from typing import Any

import numpy as np

from .. import threads, updates
from ..registry import offer, offers
from ..updates import Lasting
from . import build, machine
from .kernel import Update
from .places import address
from .plan import GRAIN, MOST
from .pool import all_chunks
from .text import Function, module

SHARE = 1024  # elements of a parameter that are not divided
_MULTIPLE = 64  # a share is a multiple of so many elements: a line of the cache belongs to one thread
# What the threads share: the plan of the rule's loop, the loop, the pool; how many parameters, arrays of each, numbers; where the numbers are;
# bytes of an element; how many chunks; and, for each parameter, its size and where its arrays are.
_PLAN, _RANGE, _PARALLEL, _TENSORS, _ARRAYS, _NUMBERS, _PLACE, _SIZE, _CHUNKS, _TABLE = range(10)


def _at(f: Function, base: str, place: int | str, type_: str = "i64") -> str:
    return f.load(type_, f.element(base, str(place), "i64"))


def _chunk() -> Function:
    """A share of every parameter."""
    f = Function("update_chunk", "void", "ptr context", "i64 number", linkage="internal")
    plan, loop, numbers = (_at(f, "%context", k, "ptr") for k in (_PLAN, _RANGE, _PLACE))
    tensors, arrays, count, size, chunks = (
        _at(f, "%context", k) for k in (_TENSORS, _ARRAYS, _NUMBERS, _SIZE, _CHUNKS)
    )
    places, steps = f.reserve("ptr", MOST), f.reserve("i64", MOST)
    with f.counted("0", str(MOST)) as k:
        f.store("i64", size, f.element(steps, k, "i64"))
    with f.counted("0", count) as k:
        there = f.op("add", "i64", arrays, k)
        f.store("ptr", f.offset(numbers, f.op("mul", "i64", k, size)), f.element(places, there, "ptr"))
        f.store("i64", "0", f.element(steps, there, "i64"))
    row_length = f.op("add", "i64", arrays, "1")
    results = f.op("add", "i64", arrays, count)
    with f.counted("0", tensors) as tensor:
        row = f.element("%context", f.op("add", "i64", f.op("mul", "i64", tensor, row_length), str(_TABLE)), "i64")
        length = f.load("i64", row)
        share = f.op("sdiv", "i64", f.op("add", "i64", length, f.op("sub", "i64", chunks, "1")), chunks)
        up = f.op("sdiv", "i64", f.op("add", "i64", share, str(_MULTIPLE - 1)), str(_MULTIPLE))
        per = f.call("llvm.smax.i64", "i64", f"i64 {f.op('mul', 'i64', up, str(_MULTIPLE))}", f"i64 {SHARE}")
        first = f.op("mul", "i64", "%number", per)
        end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {length}")
        with f.when(f.op("icmp slt", "i64", first, end)):
            with f.counted("0", arrays) as k:
                f.store("ptr", _at(f, row, f.op("add", "i64", k, "1"), "ptr"), f.element(places, k, "ptr"))
            # The results are written over the parameter and its state: all arrays but the gradient, which is the second.
            f.store("ptr", _at(f, row, 1, "ptr"), f.element(places, results, "ptr"))
            with f.counted("2", arrays) as k:
                there = f.op("add", "i64", results, f.op("sub", "i64", k, "1"))
                f.store("ptr", _at(f, row, f.op("add", "i64", k, "1"), "ptr"), f.element(places, there, "ptr"))
            f.line(f"call void {loop}(ptr {plan}, ptr {places}, ptr {steps}, i64 {first}, i64 {end})")
    f.end()
    return f


def _all(x86: bool) -> Function:
    """All shares, by several threads if there are several."""
    f = Function("update_all", "void", "ptr context")
    chunks, parallel = _at(f, "%context", _CHUNKS), _at(f, "%context", _PARALLEL, "ptr")
    all_chunks(f, "update_chunk", "%context", chunks, parallel, x86)
    f.end()
    return f


@functools.cache
def _engine() -> Any:
    engine = machine.compiled(module([_chunk(), _all(machine.x86())]))
    return machine.callable_at(machine.address(engine, "update_all"), None, ctypes.c_void_p)


class Ready:
    """A rule for lists of arrays that come again: only where the gradients lie, and the numbers, change from step to step."""

    def __init__(self, plan: Any, params: list[Any], kept: list[list[Any]], numbers: int) -> None:
        running, lists = build.running(), [params, params, *kept]  # (the gradients come second)
        self.run, self.plan, self.total = _engine(), plan, sum([p.size for p in params])
        self.numbers = np.empty(numbers, params[0].dtype)
        words = [ctypes.addressof(plan), running.range, running.parallel, len(params), len(lists), numbers]
        words += [address(self.numbers), params[0].itemsize, 1]
        for p, *arrays in zip(params, *lists, strict=True):
            words += [p.size, *map(address, arrays)]
        self.words = array("q", words)
        self.places = range(_TABLE + 2, len(words), len(lists) + 1)  # of the gradients

    def __call__(self, grads: list[Any], numbers: tuple[float, ...]) -> None:
        words, count = self.words, threads.number()
        self.numbers[:] = numbers
        words[_CHUNKS] = 2 * count if count > 1 and self.total > self.plan[GRAIN] else 1
        for place, grad in zip(self.places, grads, strict=True):
            words[place] = address(grad)
        self.run(words.buffer_info()[0])


def update_all(params: Any, grads: Any, kept: Any, rule: str, numbers: tuple[float, ...], how: tuple[str, ...]) -> Any:
    """One rule for many parameters of one type; the arrays have no gaps."""
    ready = kept.ready.get(how)
    if ready is None:
        update: Update = offers(f"{rule}_")["llvm"].function  # type: ignore[assignment]
        version = update.version(params[0], len(kept), len(numbers), how)
        if version is None:
            return NotImplemented
        ready = kept.ready[how] = Ready(version.plan, params, kept, len(numbers))
    ready(grads, numbers)
    return None


def make(least: int) -> None:
    """Make all offers."""
    offer("update_all", "llvm", update_all, accepts=_comes_again)
    updates.InOnePass.least = least


def _comes_again(params: Any, grads: Any, kept: Any, *more: Any) -> bool:
    """Only for lists that come again is it worth while to make everything ready."""
    return type(kept) is Lasting
