"""Gradient modes: thread-local switches that decide whether operations are recorded.

NOTE [Cheap mode test]: a thread-local read costs 40 ns and every operation needs one. Almost always
every thread is in the default mode, so `special` counts the switches that are away from it in any
thread. While it is 0 nobody looks further: `if modes.special == 0 or modes.recording(): ...`.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from ..errors import ArgumentTypeError
from ..events import hub

F = TypeVar("F", bound=Callable[..., Any])

special = 0
# The open level of forward-mode differentiation (forward.py), or None; it counts as one in `special`.
dual: Any = None
_lock = threading.Lock()


class _State(threading.local):
    grad: bool = True
    inference: bool = False
    # Stack of (pack, unpack) pairs of saved_tensors_hooks, innermost last; see saved.py.
    saved_hooks: tuple[Any, ...] = ()
    saved_hooks_disabled: str | None = None
    anomaly: bool = False
    anomaly_check_nan: bool = True
    # Are tangents computed? Only looked at while a level is open.
    forward: bool = True
    away: _Away | None = None


state = _State()


def _count(change: int) -> None:
    global special
    away = state.away
    if away is None:
        away = state.away = _Away()
    away.switches += change
    with _lock:
        special += change


class _Away:
    """How many switches a thread has away from the default: a thread that ends so takes them out of `special`."""

    switches = 0

    def __del__(self) -> None:
        global special
        if self.switches and special is not None:  # at the very end of a process it is gone
            special -= self.switches


watched = False


def watch(on: bool) -> None:
    """Have every operation of every thread told as the event `applied`, recorded or not; or stop that."""
    global special, watched
    with _lock:
        if on is not watched:
            watched = on
            special += 1 if on else -1


def recording() -> bool:
    """Are operations recorded in this thread?"""
    return state.grad and not state.inference


def _set(name: str, value: bool) -> None:
    """Change a switch of this thread, keeping `special` right."""
    old = getattr(state, name)
    if old != value:
        setattr(state, name, value)
        default = getattr(_State, name)
        _count(1 if value != default else -1)


def set_grad(value: bool) -> bool:
    """Switch recording in this thread on or off; returns how it was."""
    before = state.grad
    if before is not value:
        state.grad = value
        _count(-1 if value else 1)
    return before


def set_saved_hooks(hooks: tuple[Any, ...]) -> None:
    """Replace this thread's stack of saved-tensor hooks."""
    if bool(hooks) != bool(state.saved_hooks):
        _count(1 if hooks else -1)
    state.saved_hooks = hooks


def set_anomaly(on: bool, check_nan: bool = True) -> None:
    """Turn anomaly detection of this thread on or off."""
    _set("anomaly", on)
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
    _set("grad", saved[0])
    _set("inference", saved[1])
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


class no_grad(_Mode):
    """Nothing is recorded: results do not require gradients, whatever their inputs."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._before = state.grad
        _set("grad", False)
        if hub.mode is not None:
            hub.mode(self, True)

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _set("grad", self._before)
        if hub.mode is not None:
            hub.mode(self, False)


class enable_grad(_Mode):
    """Recording on again, inside `no_grad` (but never inside `inference_mode`)."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._before = state.grad
        _set("grad", True)
        if hub.mode is not None:
            hub.mode(self, True)

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _set("grad", self._before)
        if hub.mode is not None:
            hub.mode(self, False)


class set_grad_enabled(_Mode):
    """Switch recording on or off: as a statement it takes effect at once and stays; as a context it ends."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise ArgumentTypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self._before = state.grad
        self.mode = bool(mode)
        _set("grad", self.mode)
        if hub.mode is not None:
            hub.mode(self, True)

    def __call__(self, target: F) -> F:
        self.__exit__(None, None, None)  # as a decorator it must not take effect now
        return super().__call__(target)

    def __enter__(self) -> None:
        _set("grad", self.mode)
        if hub.mode is not None:
            hub.mode(self, True)

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _set("grad", self._before)
        if hub.mode is not None:
            hub.mode(self, False)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.{type(self).__name__}(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> _Mode:
        mode = object.__new__(self.__class__)  # not made anew: that would switch at once
        mode.mode, mode._before = self.mode, state.grad
        return mode


class inference_mode(_Mode):
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
        self._before = state.inference, state.grad
        _set("inference", self.mode)
        # Leaving inference mode inside it (mode=False) turns recording back on.
        _set("grad", not self.mode)
        if hub.mode is not None:
            hub.mode(self, True)

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _set("inference", self._before[0])
        _set("grad", self._before[1])
        if hub.mode is not None:
            hub.mode(self, False)

    def clone(self) -> _Mode:
        return self.__class__(self.mode)
