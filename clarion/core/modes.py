"""Gradient modes: thread-local switches that decide whether operations are recorded.

NOTE [Cheap mode test]: a thread-local read costs 40 ns and every operation needs one. Almost always
every thread is in the default mode, so `special` counts the switches that are away from it in any
thread. While it is 0 nobody looks further: `if modes.special == 0 or modes.recording(): ...`.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from ..errors import ArgumentTypeError, EngineError
from ..events import hub
from ..forks import fork_safe

F = TypeVar("F", bound=Callable[..., Any])

special = 0
# The open level of forward-mode differentiation (forward.py), or None; it counts as one in `special`.
dual: Any = None
batches = 0  # levels of `vmap` that anything refers to (batching.py): each counts as one in `special`
warn_always = False  # are warnings that come once per process given every time? (torch.set_warn_always)
_lock = fork_safe(threading.Lock())


class _State(threading.local):
    grad: bool = True
    inference: bool = False
    # Stack of what decides how values are saved (saved.Hooks), innermost last.
    saved_hooks: tuple[Any, ...] = ()
    saved_hooks_disabled: str | None = None
    anomaly: bool = False
    anomaly_check_nan: bool = True
    # Are tangents computed? Only looked at while a level is open.
    forward: bool = True
    tangents: bool = False  # is a function run for its tangents, which no_grad does not end? See func/transforms.py
    transforms: int = 0  # how many transforms of `torch.func` a function is run by
    captured: Any = None  # what such a function captured, by id: it may not be written (func/captured.py)
    grad_layout: bool = True  # do new gradients of leaves lie as the leaves do?
    view_replay: bool = False  # is a view of a written base taken anew step by step?
    multithreading: bool = True  # a promise only: backward runs in the thread that called it
    away: _Away | None = None


state = _State()


def _count(change: int) -> None:
    global special
    away = state.away or _first_switch(state.__dict__)
    away.switches += change
    with _lock:
        special += change


def count_batches(change: int) -> None:
    """A level of `vmap` begins, or nothing refers to one any more."""
    global special, batches
    with _lock:
        batches += change
        special += change


class _Away:
    """How many switches a thread has away from the default: a thread that ends so takes them out of `special`."""

    switches = 0

    def __del__(self) -> None:
        global special
        if self.switches and special is not None:  # at the very end of a process it is gone
            special -= self.switches


watched = False
_watchers: set[str] = set()


def _alone() -> None:
    """In a forked process the other threads' switches do not count."""
    global special
    special = (state.away.switches if state.away is not None else 0) + watched + batches


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


def watch(on: bool, who: str = "diagnoses") -> None:
    """Have every operation of every thread told as the event `applied`, recorded or not; or stop that for one of those who asked."""
    global special, watched
    with _lock:
        (_watchers.add if on else _watchers.discard)(who)
        if watched is not bool(_watchers):
            watched = not watched
            special += 1 if watched else -1


def recording() -> bool:
    """Are operations recorded in this thread?"""
    own = state
    return (own.grad and not own.inference) or own.tangents


def unrecorded_alone() -> bool:
    """Is a `no_grad` in this thread all that is on anywhere?"""
    own = state
    return special == 1 and not own.grad and not own.tangents


def switch(grad: bool, inference: bool | None = None) -> tuple[bool, bool | None]:
    """Set both switches of this thread (recording alone, where `inference` is None), keeping `special` right; gives what sets them back.

    NOTE [Straight lines]: Python delivers Ctrl-C, and lets other threads run, at calls and jumps only. From the first
    assignment on there are none here, so neither can find a switch set and not counted.
    """
    global special
    own = state.__dict__  # (a thread's own: each attribute would cost 30 ns)
    away = own.get("away")
    if away is None:
        away = _first_switch(own)
    recorded, inferred = own["grad"], None
    change = 0
    if recorded is not grad:
        change = -1 if grad else 1
        own["grad"] = grad
    if inference is not None:
        inferred = own["inference"]
        if inferred is not inference:
            change += 1 if inference else -1
            own["inference"] = inference
    away.switches += change
    special += change
    return recorded, inferred


def _first_switch(own: dict[str, Any]) -> _Away:
    """A thread switches for the first time: from now on it has values of its own."""
    own["grad"], own["inference"] = state.grad, state.inference
    own["away"] = away = _Away()
    return away


def set_grad(value: bool) -> bool:
    """Switch recording in this thread on or off; returns how it was."""
    before = state.grad
    if before is not value:
        switch(value)
    return before


def set_saved_hooks(hooks: tuple[Any, ...]) -> None:
    """Replace this thread's stack of saved-tensor hooks."""
    if bool(hooks) != bool(state.saved_hooks):
        _count(1 if hooks else -1)
    state.saved_hooks = hooks


def push_saved_hooks(hooks: Any) -> tuple[Any, ...]:
    """Put hooks on top of this thread's stack, unless they are forbidden; gives how it was."""
    if state.saved_hooks_disabled is not None:
        raise EngineError(state.saved_hooks_disabled)
    before = state.saved_hooks
    set_saved_hooks((*before, hooks))
    return before


def aside(function: Callable[[Any], Any], value: Any) -> Any:
    """`function(value)` unrecorded, and without saved-tensor hooks: it is called in the middle of an operation. Nobody is told."""
    grad, hooks = state.grad, state.saved_hooks
    switch(False, state.inference)
    state.saved_hooks = ()
    try:
        return function(value)
    finally:
        state.saved_hooks = hooks
        switch(grad, state.inference)


def set_anomaly(on: bool, check_nan: bool = True) -> None:
    """Turn anomaly detection of this thread on or off."""
    if state.anomaly is not on:
        state.anomaly = on
        _count(1 if on else -1)
    state.anomaly_check_nan = check_nan


def snapshot() -> tuple[Any, ...]:
    """This thread's modes, for a helper thread that continues its work."""
    return (
        state.grad,
        state.inference,
        state.saved_hooks,
        state.saved_hooks_disabled,
        state.anomaly,
        state.anomaly_check_nan,
        state.forward,
    )


def restore(saved: tuple[Any, ...]) -> None:
    """Take over modes from `snapshot()` of another thread."""
    switch(saved[0], saved[1])
    set_saved_hooks(saved[2])
    state.saved_hooks_disabled = saved[3]
    set_anomaly(saved[4], saved[5])
    state.forward = saved[6]


def is_grad_enabled() -> bool:
    """True if gradients are recorded in this thread."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode()`."""
    return state.inference


class _Mode:
    """Context manager and decorator; decorated generators and coroutines keep their mode to themselves."""

    decorates: Any = None  # the function that runs in it, where it stands as a decorator

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        raise NotImplementedError

    def clone(self) -> _Mode:
        """A fresh context with the same arguments (one decorator serves many calls)."""
        return self.__class__()

    def __call__(self, target: F) -> F:
        if inspect.isclass(target):
            import warnings

            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. "
                "You should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            _decorate_class(self, target)
            return target
        return decorate(self._around(target), target)

    def _around(self, target: Any) -> Callable[[], _Mode]:
        def make() -> _Mode:
            mode = self.clone()
            mode.decorates = target
            return mode

        return make


def _decorate_class(mode: _Mode, cls: type) -> None:
    cls.__init__ = decorate(mode._around(cls.__init__), cls.__init__)  # type: ignore[misc]


def decorate(make: Callable[[], Any], target: F) -> F:
    """Run `target` inside the context that `make()` gives."""
    wrapper: Any
    if inspect.isgeneratorfunction(target):
        wrapper = _generator_in(make, target)
    elif inspect.isasyncgenfunction(target):
        wrapper = _async_generator_in(make, target)
    elif inspect.iscoroutinefunction(target):

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return await _drive_coroutine(make, target(*args, **kwargs))

        wrapper = coroutine
    else:

        def function(*args: Any, **kwargs: Any) -> Any:
            with make():
                return target(*args, **kwargs)

        wrapper = function
    functools.update_wrapper(wrapper, target)
    return wrapper  # type: ignore[no-any-return]


class _drive_coroutine:
    """Await `coro` with the mode on only while it really runs, never while it is suspended."""

    def __init__(self, make: Callable[[], Any], coro: Any) -> None:
        self.make, self.coro = make, coro

    def __await__(self) -> Any:
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                with self.make():
                    request = self.coro.send(value) if error is None else self.coro.throw(error)
            except StopIteration as stop:
                return stop.value
            try:
                value, error = (yield request), None
            except BaseException as caught:
                error = caught


def _async_generator_in(make: Callable[[], Any], target: Callable[..., Any]) -> Callable[..., Any]:
    async def generator(*args: Any, **kwargs: Any) -> Any:
        agen = target(*args, **kwargs)
        step = agen.asend(None)
        while True:
            try:
                response = await _drive_coroutine(make, step)
            except StopAsyncIteration:
                return
            try:
                request = yield response
            except GeneratorExit:
                await _drive_coroutine(make, agen.aclose())
                raise
            except BaseException as error:
                step = agen.athrow(error)
            else:
                step = agen.asend(request)

    return generator


def _generator_in(make: Callable[[], Any], target: Callable[..., Any]) -> Callable[..., Any]:
    def generator(*args: Any, **kwargs: Any) -> Any:
        gen = target(*args, **kwargs)
        try:
            with make():
                response = gen.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with make():
                        gen.close()
                    raise
                except BaseException as error:
                    with make():
                        response = gen.throw(error)
                else:
                    with make():
                        response = gen.send(request)
        except StopIteration as stop:
            return stop.value

    return generator


class _Switch(_Mode):
    """A mode that sets switches of this thread, and sets them back."""

    _before: tuple[bool, bool | None]  # what `switch` gave

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        grad, inference = self._before
        try:
            switch(grad, inference)
        except BaseException:  # Ctrl-C on its doorstep: nothing was set back yet
            switch(grad, inference)
            raise
        if hub.mode is not None:
            hub.mode(self, False)


class no_grad(_Switch):
    """Nothing is recorded: results do not require gradients, whatever their inputs."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = object.__new__(cls)
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._before = switch(False)
        if hub.mode is not None:
            try:  # if that is interrupted the mode was not entered, for `with` will not leave it
                hub.mode(self, True)
            except BaseException:
                switch(*self._before)
                raise


class enable_grad(_Switch):
    """Recording on again, inside `no_grad` (but never inside `inference_mode`)."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = object.__new__(cls)
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._before = switch(True)
        if hub.mode is not None:
            try:
                hub.mode(self, True)
            except BaseException:
                switch(*self._before)
                raise


class set_grad_enabled(_Switch):
    """Switch recording on or off: as a statement it takes effect at once and stays; as a context it ends."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise ArgumentTypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = bool(mode)
        self._before = switch(self.mode)
        if hub.mode is not None:
            hub.mode(self, True)

    def __call__(self, target: F) -> F:
        self.__exit__(None, None, None)  # as a decorator it must not take effect now
        return super().__call__(target)

    def __enter__(self) -> None:
        switch(self.mode)
        if hub.mode is not None:
            hub.mode(self, True)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> _Mode:
        mode = object.__new__(self.__class__)  # not made anew: that would switch at once
        mode.mode, mode._before = self.mode, (state.grad, None)
        return mode


class inference_mode(_Switch):
    """Like `no_grad`, and results are inference tensors: no version counter, never part of a graph."""

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        self = super().__new__(cls)
        if callable(mode) and not isinstance(mode, bool):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode: bool = True) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> None:
        # Leaving inference mode inside it (mode=False) turns recording back on.
        self._before = switch(not self.mode, self.mode)
        if hub.mode is not None:
            try:
                hub.mode(self, True)
            except BaseException:
                switch(*self._before)
                raise

    def clone(self) -> _Mode:
        return self.__class__(self.mode)
