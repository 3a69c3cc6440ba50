"""Optimizers whose update treats every element alike: one rule over flat arrays, for many parameters at a time.

A step costs what its NumPy calls cost. So the small parameters of a group are gathered into one flat array and the
rule runs once for all of them, and a large parameter is walked through in pieces that stay in the cache from one call
to the next. `optimizer.state` remains the truth: the arrays in it are used as they are or are windows of the flat
ones, and whoever replaces them (loading, resetting) makes the plan be laid anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import default_float, f64
from ..core.tensor import Tensor, new_tensor
from ..core.versions import INFERENCE
from .optimizer import Optimizer, scalar, writable

PIECE = 131072  # bytes of a piece: a few arrays of this length fit into the second-level cache
SMALL = 4096  # parameters up to this length are gathered: copying them costs less than the calls it saves

Slots = tuple[tuple[str, Any], ...]  # names of state and their arrays


class Elementwise(Optimizer):
    """Base of the elementwise optimizers. A subclass says what it keeps and how one flat piece is updated.

    counters  names of the state that is one number for each parameter; `step` comes first
    """

    counters: tuple[str, ...] = ("step",)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Names of the state that has the parameter's shape."""
        raise NotImplementedError

    def _begin(self, group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
        """Fill the state of a parameter before its first step."""
        state["step"] = step_count(0.0)
        for name in self._kept(group):
            state[name] = zeros_like(param)

    def _is_fresh(self, state: dict[str, Any], names: tuple[str, ...]) -> bool:
        return not state

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool) -> tuple[list[Any], tuple[Any, ...]]:
        """The counters after this step, and the numbers that the rule needs."""
        raise NotImplementedError

    def _rule(self, numbers: list[Any], p: Any, g: Any, kept: tuple[Any, ...], a: Any, b: Any) -> None:
        """Update the parameter `p` by the gradient `g` (not to be written); `a` and `b` are there to compute in."""
        raise NotImplementedError

    # The driver ----------------------------------------------------------------------------------

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        params = [param for param in group["params"] if param._grad is not None]
        if not params:
            return
        plans = self.__dict__.setdefault("_plans", {})
        plan = plans.get(id(group))
        if plan is None or not plan.fits(group, params, self.state):
            plan = plans[id(group)] = Plan(self, group, params)
        negate, decay, shrink = group.get("maximize"), *_decay(group)
        rule = self._rule
        for part in plan.parts:
            counters, values = self._advance(group, part.counters(), part.fresh)
            weight, less, *numbers = part.numbers((decay, shrink, *values))
            part.fresh = False
            for p, g, kept, a, b, c in part.pieces():
                if shrink != 1:
                    np.multiply(p, less, p)
                if decay:
                    np.multiply(p, weight, c)
                    g = np.subtract(c, g, c) if negate else np.add(c, g, c)
                elif negate:
                    g = np.negative(g, c)
                rule(numbers, p, g, kept, a, b)
            part.finish(counters)
        written += params

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.pop("_plans", None)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for name in ("maximize", "differentiable", "capturable", "decoupled_weight_decay", "fused"):
                if name in self.defaults:
                    group.setdefault(name, None if name == "fused" else False)
            for param in group["params"]:
                kept: Any = self.state.get(param)
                for name in self.counters if kept else ():
                    if not isinstance(kept[name], Tensor):
                        kept[name] = step_count(float(kept[name]))


def _decay(group: dict[str, Any]) -> tuple[float, float]:
    """What of the parameter is added to the gradient, and by what the parameter is multiplied."""
    decay = scalar(group.get("weight_decay", 0))
    if decay and group.get("decoupled_weight_decay"):
        return 0, 1 - scalar(group["lr"]) * decay
    return decay, 1


def step_count(value: float) -> Tensor:
    """A counter, in float32 as PyTorch keeps it (float64 where that is the default)."""
    return new_tensor(np.asarray(value, f64 if default_float() is f64 else np.float32))


def zeros_like(param: Tensor) -> Tensor:
    """Zeros of a parameter's shape, type and layout."""
    return new_tensor(np.zeros_like(param._array))


def lerp(start: Any, end: Any, weight: Any, a: Any) -> None:
    """start += weight * (end - start), counted from the nearer end as PyTorch does."""
    np.subtract(end, start, a)
    if weight.item() < 0.5:
        np.multiply(a, weight, a)
        np.add(start, a, start)
    else:
        np.multiply(a, 1 - weight, a)
        np.subtract(end, a, start)


def decayed_square(square: Any, beta: Any, g: Any, rest: Any, a: Any) -> None:
    """square = beta * square + rest * g * g."""
    np.multiply(square, beta, square)
    np.multiply(g, rest, a)
    np.multiply(a, g, a)
    np.add(square, a, square)


class Member(NamedTuple):
    """A parameter with its state."""

    param: Tensor
    kept: Slots
    counters: list[Any]
    fresh: bool  # this is its first step
    plain: bool  # the memory can be computed in as it is


class Plan:
    """How the parameters of a group that have gradients are gathered and divided, as long as nothing changes."""

    def __init__(self, optimizer: Elementwise, group: dict[str, Any], params: list[Tensor]) -> None:
        self.group = group
        self.params = params
        self.parts: list[Part] = []
        members = [self._member(optimizer, group, param) for param in params]
        alone = _overlap(params)
        gathered: dict[Any, list[Member]] = {}
        for member in members:
            array = member.param._array
            if alone or (member.plain and array.size > SMALL):
                self.parts.append((Whole if member.plain else Gathered)(optimizer, [member]))
            else:
                alike = (array.dtype, member.fresh, member.plain, *(each.item() for each in member.counters))
                gathered.setdefault(alike, []).append(member)
        for each in gathered.values():
            whole = len(each) == 1 and each[0].plain
            self.parts.append(Whole(optimizer, each) if whole else Gathered(optimizer, each))
        names = (*optimizer.counters, *optimizer._kept(group))
        self.entries: list[tuple[Tensor, Any, Slots]] = [
            (param, param._array, tuple((name, optimizer.state[param][name]._array) for name in names))
            for param in params
        ]

    @staticmethod
    def _member(optimizer: Elementwise, group: dict[str, Any], param: Tensor) -> Member:
        array, names = writable(param), optimizer._kept(group)
        state = optimizer.state[param] if names or optimizer.counters else {}
        fresh = optimizer._is_fresh(state, names)
        if fresh:
            optimizer._begin(group, param, state)
        kept = tuple((name, state[name]._array) for name in names)
        plain = array.dtype.char in REAL and _contiguous(array, kept)
        return Member(param, kept, [state[name]._array for name in optimizer.counters], fresh, plain)

    def fits(self, group: dict[str, Any], params: list[Tensor], states: Any) -> bool:
        """Is everything as it was when the plan was laid?"""
        if group is not self.group or len(params) != len(self.params) or not all(map(is_, params, self.params)):
            return False
        try:
            for param, array, slots in self.entries:
                if param._array is not array or param._vc is INFERENCE:
                    return False
                if slots:
                    state = states[param]
                    for name, kept in slots:
                        if state[name]._array is not kept:
                            return False
        except (KeyError, AttributeError):
            return False
        return all(part.together() for part in self.parts)


class Part:
    """Parameters that are updated as one; they agree in type and counters."""

    def __init__(self, members: list[Member]) -> None:
        first = members[0]
        self.kind: Any = REAL.get(first.param._array.dtype.char, REAL["f"])  # half precision computes in single
        self.fresh = first.fresh
        self.counted = [member.counters for member in members]
        self._numbers: list[Any] = []

    def numbers(self, values: tuple[float, ...]) -> list[Any]:
        """Numbers as 0-dim arrays of the type, which NumPy is twice as fast with; always the same arrays."""
        if len(self._numbers) != len(values):
            self._numbers = [np.empty((), self.kind) for _ in values]
        for array, value in zip(self._numbers, values, strict=True):
            array[()] = value
        return self._numbers

    def together(self) -> bool:
        """Do the counters of all members agree?"""
        if len(self.counted) > 1:
            for counters in zip(*self.counted, strict=True):
                values = [counter.item() for counter in counters]
                if values.count(values[0]) != len(values):
                    return False
        return True

    def counters(self) -> list[Any]:
        """The counters before this step: `step` as a float, others as NumPy's numbers, which keep their type."""
        first, *others = self.counted[0] or (None,)
        return [] if first is None else [first.item(), *(each[()] for each in others)]

    def finish(self, counters: list[Any]) -> None:
        """Write down the counters after this step."""
        for each in self.counted:
            for counter, value in zip(each, counters, strict=True):
                counter[()] = value

    def pieces(self) -> Iterator[tuple[Any, ...]]:
        """Parameter, gradient, state and three arrays to compute in, piece by piece."""
        raise NotImplementedError

    def _divide(self, scratch: list[Any], p: Any, kept: list[Any]) -> list[tuple[Any, ...]]:
        cuts = []
        length = PIECE // self.kind.itemsize
        for begin in range(0, p.size, length):
            cut = slice(begin, min(begin + length, p.size))
            room = [each[: cut.stop - begin] for each in scratch]
            cuts.append((cut, p[cut], tuple(each[cut] for each in kept), *room))
        return cuts


class Whole(Part):
    """One parameter, in its own memory."""

    def __init__(self, optimizer: Elementwise, members: list[Member]) -> None:
        super().__init__(members)
        (member,) = members
        self.param = member.param
        self.copied: Any = None
        kept = [_flat(array, self.kind) for _, array in member.kept]
        self.cuts = self._divide(_scratch(optimizer, self.kind), _flat(self.param._array, self.kind), kept)

    def pieces(self) -> Iterator[tuple[Any, ...]]:
        """Parameter, gradient, state and three arrays to compute in, piece by piece."""
        grad = self.param._grad._array  # type: ignore[union-attr]
        if not grad.flags.c_contiguous:
            if self.copied is None:
                self.copied = np.empty(grad.shape, grad.dtype)
            self.copied[...] = grad
            grad = self.copied
        grad = _flat(grad, self.kind)
        for cut, p, kept, a, b, c in self.cuts:
            yield p, grad[cut], kept, a, b, c


class Gathered(Part):
    """Several small parameters in one flat array; or what has to be copied to be computed with."""

    def __init__(self, optimizer: Elementwise, members: list[Member]) -> None:
        super().__init__(members)
        self.params = [member.param for member in members]
        dtype = self.params[0]._array.dtype
        length = sum(param._array.size for param in self.params)
        flat = dtype if dtype.char in REAL else self.kind
        arrays = [np.empty(length, flat) for _ in range(2 + len(members[0].kept))]
        self.windows = [list(_windows(each, self.params)) for each in arrays]
        self.copied: list[tuple[Any, Any]] = []  # state that is not a window: its place and its window
        for i, member in enumerate(members):
            for j, (name, array) in enumerate(member.kept):
                window = self.windows[2 + j][i]
                if member.plain:
                    window[...] = array
                    optimizer.state[member.param][name]._array = window
                else:
                    self.copied.append((array, window))
        p, self.grad, *rest = [_flat(each, self.kind) for each in arrays]
        self.cuts = self._divide(_scratch(optimizer, self.kind), p, rest)

    def pieces(self) -> Iterator[tuple[Any, ...]]:
        """Parameter, gradient, state and three arrays to compute in, piece by piece."""
        for param, window, place in zip(self.params, self.windows[0], self.windows[1], strict=True):
            window[...] = param._array
            place[...] = param._grad._array  # type: ignore[union-attr]
        for place, window in self.copied:
            window[...] = place
        for cut, p, kept, a, b, c in self.cuts:
            yield p, self.grad[cut], kept, a, b, c

    def finish(self, counters: list[Any]) -> None:
        """Carry the result back."""
        super().finish(counters)
        for param, window in zip(self.params, self.windows[0], strict=True):
            param._array[...] = window
        for place, window in self.copied:
            place[...] = window


# The real type behind a type.
REAL = {"f": np.dtype("f"), "d": np.dtype("d"), "F": np.dtype("f"), "D": np.dtype("d")}


def _flat(array: Any, kind: Any) -> Any:
    """A contiguous array as a flat one of real numbers."""
    flat = array.reshape(-1)
    return flat if flat.dtype == kind else flat.view(kind)


def _windows(flat: Any, params: list[Any]) -> Iterator[Any]:
    begin = 0
    for param in params:
        end = begin + param._array.size
        yield flat[begin:end].reshape(param._array.shape)
        begin = end


def _contiguous(array: Any, kept: Slots) -> bool:
    flags = array.flags
    return bool(flags.c_contiguous and all(k.flags.c_contiguous and k.dtype == array.dtype for _, k in kept))


def _overlap(params: list[Tensor]) -> bool:
    """Do parameters share memory, or is one there twice? Then they are updated one after the other."""
    if len(params) == 1:
        return False
    spans = sorted(np.lib.array_utils.byte_bounds(p._array) for p in params if p._array.size)
    return any(end > begin for (_, end), (begin, _) in pairwise(spans))


def _scratch(optimizer: Elementwise, kind: Any) -> list[Any]:
    """Three arrays to compute in, for all pieces of a type."""
    rooms: dict[Any, list[Any]] = optimizer.__dict__.setdefault("_rooms", {})
    found = rooms.get(kind)
    if found is None:
        found = rooms[kind] = [np.empty(PIECE // kind.itemsize, kind) for _ in range(3)]
    return found
