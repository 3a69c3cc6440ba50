"""Optimizers whose update treats every element alike: one rule over flat arrays, for many parameters at a time.

A step costs what its calls cost. So the small parameters of a group are gathered into one flat array and the rule (a
kernel of `kernels/portable/updates`) runs once for all of them. `optimizer.state` remains the truth: the arrays in it are
used as they are or are windows of the flat ones, and whoever replaces them (loading, resetting) makes the plan be laid anew.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

from ..core.devices import HALVES, HOST, kind_of
from ..core.dtypes import default_float, f32, f64
from ..core.tensor import Tensor, new_tensor
from ..core.versions import INFERENCE
from ..errors import EngineError
from ..kernels import captures, shared
from ..kernels.coo import Coo
from ..kernels.crew import one_job
from ..kernels.flat import alike, beside, flat, laid_like, number, overlap, real_type, windows
from ..kernels.flat import filled_like as filled_with
from ..kernels.registry import raw
from ..kernels.updates import InOnePass, Lasting
from .checks import check_fused_params
from .decay import decay_of as decay_of
from .decay import far as far
from .optimizer import scalar, writable
from .undoing import MayBeUndone

SMALL = 4096  # parameters up to this length are gathered: copying them costs less than the calls it saves
Slots = tuple[tuple[str, Any], ...]  # names of state and their arrays
# What a step needs: the counters after it, the words that say which form of the rule, the numbers (see kernels/updates.py).
Advance = tuple[list[Any], tuple[str, ...], tuple[Any, ...]]


class Elementwise(MayBeUndone):
    """Base of the elementwise optimizers. A subclass says what it keeps, and with which numbers its rule is called.

    rule      the kernel that computes its update
    counters  names of the state that is one number for each parameter; `step` comes first
    takes_sparse  are gradients allowed that hold some rows of a table only?
    """

    rule: str
    counters: tuple[str, ...] = ("step",)
    takes_sparse = False

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

    def _advance(self, group: dict[str, Any], counters: list[Any], fresh: bool, read: Callable[[Any], Any]) -> Advance:
        """One step more. `read` gives an option as a number; in a recorded step as a Tensor if it is one."""
        raise NotImplementedError

    # The driver ----------------------------------------------------------------------------------

    def _update(self, group: dict[str, Any], written: list[Any]) -> None:
        params = [param for param in group["params"] if param._grad is not None]
        if not params:
            return
        if "_unsettled" in self.__dict__:
            self.settle()
        if Coo.met and any(type(param._grad._array) is Coo for param in params):
            self._update_from_sparse(group, params, written)
            return
        plans = self.__dict__.setdefault("_plans", {})
        plan = plans.get(id(group))
        if plan is None or not plan.fits(self, group, params):
            check_fused_params(self, group, params)
            plan = plans[id(group)] = Plan(self, group, params)
        words, weights = decay_of(group, scalar)
        if plan.together:
            self._update_together(group, plan, words, weights)
            written += params
            return
        if len(plan.parts) == 1:  # one job as it is
            plan.parts[0].finish(self._overwrite(group, plan.parts[0], words, weights))
        else:
            with one_job():
                after = [self._overwrite(group, part, words, weights) for part in plan.parts]
            for part, counters in zip(plan.parts, after, strict=True):
                part.finish(counters)
        written += params

    def _overwrite(
        self, group: dict[str, Any], part: Part, words: tuple[str, ...], weights: tuple[Any, ...]
    ) -> list[Any]:
        """Update one part; its counters after this step."""
        counters, how, numbers = self._advance(group, part.counters(), part.fresh, scalar)
        part.fresh = False
        overwrite = getattr(raw, self.rule + "_")
        overwrite(part.p, part.gradient(), part.kept, (*weights, *numbers), words + how)
        return counters

    def _update_from_sparse(self, group: dict[str, Any], params: list[Tensor], written: list[Any]) -> None:
        """Gradients of tables of which few rows were used: the rows that were not used have zeros."""
        name = type(self).__name__
        if not self.takes_sparse:
            raise EngineError(f"{name} does not support sparse gradients, please consider SparseAdam instead")
        if scalar(group.get("weight_decay", 0)) != 0:
            raise EngineError("weight_decay option is not compatible with sparse gradients")
        given = [param._grad for param in params]
        for param in params:
            array = param._grad._array  # type: ignore[union-attr]
            param._grad = new_tensor(array.dense()) if type(array) is Coo else param._grad
        try:
            self._update(group, written)
        finally:
            for param, grad in zip(params, given, strict=True):
                param._grad = grad

    def _update_together(
        self, group: dict[str, Any], plan: Plan, words: tuple[str, ...], weights: tuple[Any, ...]
    ) -> None:
        """All parameters that take the same numbers at once: on a device a launch costs more than the work in it."""
        alike = plan.alike
        if alike is not None and (counted := alike.counters()) is not None:
            counters, how, numbers = self._advance(group, counted, False, scalar)
            alike.finish(counters)
            gradients, how, numbers = alike.gradients(), words + how, (*weights, *numbers)
            place = raw.update_all(alike.places, gradients, alike.kept, self.rule, numbers, how)
            if captures.current() is not None:
                captures.before_replay(Again(self, group, plan.parts, how, place))
            return
        together: dict[Any, list[Part]] = {}
        after: list[tuple[Part, list[Any]]] = []
        advanced: dict[Any, Any] = {}  # nearly always all of them are at the same step
        for part in plan.parts:
            counted = part.counters()
            key = (*counted, part.fresh, part.kind)
            found = advanced.get(key)
            if found is None:
                counters, how, numbers = self._advance(group, counted, part.fresh, scalar)
                parts = together.setdefault((words + how, (*weights, *numbers), part.kind), [])
                found = advanced[key] = counters, parts
            part.fresh = False
            after.append((part, found[0]))
            found[1].append(part)
        for (how, numbers, _), parts in together.items():
            params, kept = (
                [part.p for part in parts],
                [[part.kept[i] for part in parts] for i in range(len(parts[0].kept))],
            )
            place = raw.update_all(params, [part.gradient() for part in parts], kept, self.rule, numbers, how)
            if captures.current() is not None:
                captures.before_replay(Again(self, group, parts, how, place))
        for part, counters in after:
            part.finish(counters)

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


def step_count(value: float) -> Tensor:
    """A counter, as PyTorch keeps it."""
    return new_tensor(number(value, count_type()))


def count_type() -> Any:
    """The type of counters: float32 (float64 where that is the default)."""
    return f64 if default_float() is f64 else f32


def zeros_like(param: Tensor) -> Tensor:
    """Zeros of a parameter's shape, type and layout."""
    return filled_like(param, 0)


def filled_like(param: Tensor, value: float) -> Tensor:
    """A number in a parameter's shape, type and layout; complex ones get it in both parts."""
    array = param._array
    return new_tensor(filled_with(array, complex(value, value) if array.dtype.kind == "c" else value))


class Member(NamedTuple):
    """A parameter with its state."""

    param: Tensor
    kept: Slots
    counters: list[Any]
    fresh: bool  # this is its first step
    plain: bool  # the memory can be computed in as it is
    shared: bool  # other processes see the state: it stays where it is


class Plan:
    """How the parameters of a group that have gradients are gathered and divided, as long as nothing changes."""

    def __init__(self, optimizer: Elementwise, group: dict[str, Any], params: list[Tensor]) -> None:
        self.group = group
        self.params = params
        self.parts: list[Part] = []
        members = [self._member(optimizer, group, param) for param in params]
        arrays = [param._array for param in params]
        elsewhere, crossing = kind_of(arrays[0]) is not HOST, overlap(arrays)
        alone = elsewhere or crossing
        worth = not alone and len(params) > 1 and all(member.plain for member in members)
        worth = worth and sum([array.size for array in arrays]) >= InOnePass.least
        self.together = elsewhere or worth
        gathered: dict[Any, list[Member]] = {}
        for member in members:
            array = member.param._array
            apart = worth or member.shared or array.size > SMALL or not array.flags.c_contiguous
            if alone or (member.plain and apart):
                self.parts.append((Whole if member.plain else Gathered)(optimizer, [member]))
            else:
                agreed = (array.dtype, member.fresh, member.plain, *(each.item() for each in member.counters))
                gathered.setdefault(agreed, []).append(member)
        for each in gathered.values():
            whole = len(each) == 1 and each[0].plain
            self.parts.append(Whole(optimizer, each) if whole else Gathered(optimizer, each))
        self.several = [part for part in self.parts if len(part.counted) > 1]
        self.alike = Alike.of(optimizer, params, self.parts) if worth or type(arrays[0]) in HALVES else None
        self.kept = optimizer._kept(group)
        names, states = (*optimizer.counters, *self.kept), optimizer.state
        self.entries: list[tuple[Tensor, Any, Slots]] = [
            (param, param._array, tuple((name, states[param][name]._array) for name in names)) for param in params
        ]

    @staticmethod
    def _member(optimizer: Elementwise, group: dict[str, Any], param: Tensor) -> Member:
        array, names = writable(param), optimizer._kept(group)
        state = optimizer.state[param] if names or optimizer.counters else {}
        fresh = optimizer._is_fresh(state, names)
        if fresh:
            optimizer._begin(group, param, state)
        kept = tuple((name, state[name]._array) for name in names)
        plain = alike(array, (each for _, each in kept))
        seen = not fresh and any(shared.find(each) is not None for _, each in kept)
        return Member(param, kept, [state[name]._array for name in optimizer.counters], fresh, plain, seen)

    def fits(self, optimizer: Elementwise, group: dict[str, Any], params: list[Tensor]) -> bool:
        """Is everything as it was when the plan was laid? (Options say what is kept: `amsgrad`, `centered`, `momentum`.)"""
        if optimizer._kept(group) != self.kept:
            return False
        if group is not self.group or len(params) != len(self.params) or not all(map(is_, params, self.params)):
            return False
        try:
            for param, array, slots in self.entries:
                if param._array is not array or param._vc is INFERENCE:
                    return False
                if slots:
                    state = optimizer.state[param]
                    for name, kept in slots:
                        if state[name]._array is not kept:
                            return False
        except (KeyError, AttributeError):
            return False
        return not self.several or all(part.together() for part in self.several)


class Part:
    """Parameters that are updated as one; they agree in type and counters.

    p, kept  flat memory of the parameter and of its state
    """

    p: Any
    kept: tuple[Any, ...]

    def __init__(self, members: list[Member]) -> None:
        first = members[0]
        self.kind: Any = real_type(first.param._array)
        self.fresh = first.fresh
        self.counted = [member.counters for member in members]

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

    def gradient(self) -> Any:
        """The gradient as flat memory; what has to be copied is copied now."""
        raise NotImplementedError


class Alike:
    """Parameters that are each updated in their own memory, of one type, and as long as it is so at the same step.

    Their counters are windows of one array for each name: to read and to write them is one call.
    """

    def __init__(self, optimizer: Elementwise, params: list[Tensor], parts: list[Whole]) -> None:
        self.parts, self.params = parts, params
        self.places = [part.p for part in parts]
        self.kept = Lasting([list(each) for each in zip(*[part.kept for part in parts], strict=True)])
        self.numbers: list[Any] = []
        for i, name in enumerate(optimizer.counters):
            states = [optimizer.state[param] for param in params]
            memory = HOST.xp.asarray([state[name]._array.item() for state in states], states[0][name]._array.dtype)
            self.numbers.append(memory)
            for j, (state, part) in enumerate(zip(states, parts, strict=True)):
                state[name]._array = part.counted[0][i] = memory[j : j + 1].reshape(())

    @staticmethod
    def of(optimizer: Elementwise, params: list[Tensor], parts: list[Any]) -> Alike | None:
        """None where one of them is not like the others."""
        if not all(type(part) is Whole and part.kind == parts[0].kind for part in parts):
            return None
        states = [optimizer.state[param] for param in params] if optimizer.counters else []
        for name in optimizer.counters:
            if len({state[name]._array.dtype for state in states}) > 1:
                return None
        return Alike(optimizer, params, parts)

    def counters(self) -> list[Any] | None:
        """The counters before this step; None if they do not agree, or this is the first step of a parameter."""
        first = self.parts[0]
        if first.fresh or any(part.fresh for part in self.parts):
            return None
        for values in self.numbers:
            if (values != values[0]).any():
                return None
        return first.counters()

    def finish(self, counters: list[Any]) -> None:
        """Write down the counters after this step."""
        for values, value in zip(self.numbers, counters, strict=True):
            values[...] = value

    def gradients(self) -> list[Any]:
        """The gradients, which lie as their parameters do."""
        found = []
        for part in self.parts:
            grad = part.param._grad._array  # type: ignore[union-attr]
            found.append(grad if grad.strides == part.strides and grad.dtype == part.kind else part.gradient())
        return found


_ANOTHER_FORM = "The captured step of this optimizer has another form now: capture it anew."


class Again:
    """What the host does before a captured step is replayed: count, and set the numbers of this step."""

    def __init__(
        self, optimizer: Elementwise, group: dict[str, Any], parts: list[Part], how: tuple[str, ...], place: Any
    ) -> None:
        self.optimizer, self.group, self.parts, self.how, self.place = optimizer, group, parts, how, place
        self.ahead: tuple[list[list[Any]], tuple[Any, ...]] | None = None
        self.there: tuple[Any, ...] | None = None  # the numbers that lie in `place`
        counted = [each for part in parts for each in part.counted]
        self.counting = counted if counted and len(optimizer.counters) == 1 == len(counted) // len(parts) else None

    def prepare(self) -> None:
        """The numbers of the next step. Refused, with nothing changed, where its rule has another form now."""
        words, weights = decay_of(self.group, scalar)
        if self.counting is not None:  # nearly always all of them are at the same step
            steps = [counted[0].item() for counted in self.counting]
            if steps.count(steps[0]) == len(steps):
                counters, how, numbers = self.optimizer._advance(self.group, [steps[0]], False, scalar)
                if words + how != self.how:
                    raise EngineError(_ANOTHER_FORM)
                self.ahead = [counters] * len(self.parts), (*weights, *numbers)
                return
        known: dict[Any, Advance] = {}
        after = []
        for part in self.parts:
            before = part.counters()
            key = tuple(before)
            if key not in known:
                known[key] = self.optimizer._advance(self.group, before, False, scalar)
            counters, how, numbers = known[key]
            if words + how != self.how:
                raise EngineError(_ANOTHER_FORM)
            after.append(counters)
        if len(known) > 1 and len({each[2] for each in known.values()}) > 1:
            raise EngineError("The parameters of a captured step are not at the same step any more: capture it anew.")
        self.ahead = after, (*weights, *numbers)

    def set_numbers(self) -> None:
        """Write the numbers of this step where the replay reads them."""
        assert self.ahead is not None
        if self.ahead[1] != self.there:
            raw.set_numbers(self.place, self.ahead[1])
            self.there = self.ahead[1]

    def count(self) -> None:
        """The step is taken."""
        assert self.ahead is not None
        if self.counting is not None:
            for counted, (count,) in zip(self.counting, self.ahead[0], strict=True):
                counted[0][()] = count
        elif self.optimizer.counters:
            for part, counters in zip(self.parts, self.ahead[0], strict=True):
                Part.finish(part, counters)

    def __call__(self) -> None:
        self.prepare()
        self.count()
        self.set_numbers()


class Whole(Part):
    """One parameter, in its own memory."""

    def __init__(self, optimizer: Elementwise, members: list[Member]) -> None:
        super().__init__(members)
        (member,) = members
        self.param = member.param
        self.copied: Any = None
        self.in_rows, self.strides = self.param._array.flags.c_contiguous, self.param._array.strides
        self.p = flat(self.param._array, self.kind)
        self.kept = tuple(flat(array, self.kind) for _, array in member.kept)

    def gradient(self) -> Any:
        """The gradient as flat memory; what has to be copied is copied now."""
        grad = self.param._grad._array  # type: ignore[union-attr]
        if not (grad.flags.c_contiguous and self.in_rows) and grad.strides != self.param._array.strides:
            if self.copied is None:
                self.copied = laid_like(self.param._array, grad.dtype)
            self.copied[...] = grad
            grad = self.copied
        return flat(grad, self.kind)


def _carry(source: Any, target: Any) -> None:
    """Copy, of half precision by the kernel that converts."""
    if source.itemsize == target.itemsize:
        target[...] = source
    else:
        raw.cast_into(source, target)


class Gathered(Part):
    """Several small parameters in one flat array; or what has to be copied to be computed with."""

    def __init__(self, optimizer: Elementwise, members: list[Member]) -> None:
        super().__init__(members)
        self.params = [member.param for member in members]
        arrays = [param._array for param in self.params]
        kind = arrays[0].dtype if members[0].plain or arrays[0].dtype.kind == "c" else self.kind
        memory = [beside(arrays[0], sum(a.size for a in arrays), kind) for _ in range(2 + len(members[0].kept))]
        self.windows = [list(windows(each, arrays)) for each in memory]
        self.copied: list[tuple[Any, Any]] = []  # state that is not a window: its place and its window
        for i, member in enumerate(members):
            for j, (name, array) in enumerate(member.kept):
                window = self.windows[2 + j][i]
                if member.plain:
                    window[...] = array
                    optimizer.state[member.param][name]._array = window
                else:
                    self.copied.append((array, window))
        self.p, self.grad, *rest = [flat(each, self.kind) for each in memory]
        self.kept = tuple(rest)

    def gradient(self) -> Any:
        """The gradient as flat memory; what has to be copied is copied now."""
        for param, window, place in zip(self.params, self.windows[0], self.windows[1], strict=True):
            _carry(param._array, window)
            _carry(param._grad._array, place)  # type: ignore[union-attr]
        for place, window in self.copied:
            _carry(place, window)
        return self.grad

    def finish(self, counters: list[Any]) -> None:
        """Carry the result back."""
        super().finish(counters)
        for param, window in zip(self.params, self.windows[0], strict=True):
            _carry(window, param._array)
        for place, window in self.copied:
            _carry(window, place)
