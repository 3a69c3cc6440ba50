"""What makes tensors from nothing, as modes are shown it: `aten.zeros.default([2, 3], device=cpu, pin_memory=False)`.

A creator is no operation here, so that no watcher of kernels would see it. From the first mode on it looks whether one is entered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .._ops import RUNNING, OpOverload, ops
from ..core import below, overriding
from ..core.devices import device
from ..core.modes import no_grad
from ..ops.creation.questions import get_default_device
from ..ops.faces.api import FUNCTIONS, METHODS
from . import dispatch as _classes  # noqa: F401  (they look first)

Told = Callable[[OpOverload, tuple[Any, ...], dict[str, Any]], Any]  # a mode's __torch_dispatch__
Form = tuple[str, tuple[Any, ...]]  # an overload's name and what it is given


def _sized(args: tuple[Any, ...], named: dict[str, Any], name: str = "size") -> list[Any]:
    """A size that is given as numbers, as a sequence or by its name."""
    if not args:
        return list(named.pop(name, ()))
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def _of_size(overload: str) -> Callable[..., Form]:
    def form(*args: Any, named: dict[str, Any]) -> Form:
        return overload, (_sized(args, named),)

    return form


def _listed(*names: str, overloads: tuple[str, ...] = ("default",)) -> Callable[..., Form]:
    """Arguments under these names; more of them have another overload."""

    def form(*args: Any, named: dict[str, Any]) -> Form:
        given = (*args, *(named.pop(name) for name in names[len(args) :] if name in named))
        shown = tuple([list(each) if isinstance(each, tuple) else each for each in given])
        return overloads[min(max(len(given) - len(names) + len(overloads) - 1, 0), len(overloads) - 1)], shown

    return form


def _integers(*args: Any, named: dict[str, Any]) -> Form:
    """`randint(high, size)`, or with the lowest number before."""
    low = named.pop("low", None)
    numbers = [*([] if low is None else [low]), *args, *(named.pop(key) for key in ("high", "size") if key in named)]
    return ("low" if len(numbers) == 3 else "default"), (*numbers[:-1], list(numbers[-1]))


def _numbers_drawn(*args: Any, named: dict[str, Any]) -> Form | None:
    """`normal(mean, std, size)`; with a tensor among them it is an operation."""
    given = (*args, *(named.pop(key) for key in ("mean", "std", "size")[len(args) :] if key in named))
    return ("float_float", (*given[:2], list(given[2]))) if len(given) == 3 else None


def _of_new_size(x: Any, *args: Any, named: dict[str, Any]) -> Form:
    return "default", (x, _sized(args, named))


_RANGE = _listed("start", "end", "step", overloads=("default", "start", "start_step"))
_FROM_NOTHING: dict[str, Callable[..., Form | None]] = {
    **dict.fromkeys(("zeros", "ones", "rand", "randn"), _of_size("default")), "empty": _of_size("memory_format"),
    "full": _listed("size", "fill_value"), "arange": _RANGE, "eye": _listed("n", "m", overloads=("default", "m")),
    **dict.fromkeys(("linspace", "logspace"), _listed("start", "end", "steps", "base")), "randint": _integers,
    "randperm": _listed("n"), "normal": _numbers_drawn, "empty_strided": _listed("size", "stride"), "scalar_tensor": _listed("s"),
    **dict.fromkeys(("tril_indices", "triu_indices"), _listed("row", "col", "offset")),
}  # fmt: skip
_LIKE: dict[str, Callable[..., Form]] = {
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"), _listed("input")),
    "full_like": _listed("input", "fill_value"),
}
_NEW: dict[str, Callable[..., Form]] = {
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty"), _of_new_size),
    "new_full": _listed("self", "size", "fill_value"),
}


def _asked() -> bool:
    """Is a mode entered, and is it the program that calls (not an operation, which makes what it needs)?"""
    if not below.state.watchers:
        return False
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != overriding.__name__ and not frame.f_code.co_filename.startswith("<call of"):
            return not name.startswith(("clarion.ops.", "clarion.core.", "clarion.kernels.", "clarion.autograd."))
        frame = frame.f_back
    return True


def _tell(watchers: tuple[Any, ...], overload: OpOverload, args: Any, kwargs: Any, make: Callable[..., Any]) -> Any:
    """Ask the modes, the innermost first; the last one's call of the operation makes the tensor."""
    if not watchers:
        return make(*args, **kwargs)
    before, state = (RUNNING.overload, RUNNING.run), below.state
    entered, state.watchers = state.watchers, watchers[:-1]
    RUNNING.overload, RUNNING.run = overload, lambda args, kwargs: _tell(watchers[:-1], overload, args, kwargs, make)
    try:
        with no_grad():
            return watchers[-1].__self__.__torch_dispatch__(overload, (), args, kwargs)
    finally:
        RUNNING.overload, RUNNING.run = before
        state.watchers = entered


def _shown(
    name: str, make: Callable[..., Any], form: Callable[..., Form | None], somewhere: bool
) -> Callable[..., Any]:
    """A creator that shows itself, with the device where the tensor will be unless it is that of another (`somewhere`)."""

    def look(*args: Any, **kwargs: Any) -> Any:
        if not _asked() or kwargs.get("out") is not None:
            return make(*args, **kwargs)
        named = dict(kwargs)
        shown = form(*args, named=named)
        if shown is None:
            return make(*args, **kwargs)
        overload, given = shown
        if named.get("generator") is not None and overload != "float_float":
            overload = "generator" if overload == "default" else f"{overload}_generator"
        requires_grad = named.pop("requires_grad", False)
        named = {key: each for key, each in named.items() if each is not None} | {
            "pin_memory": named.get("pin_memory", False)
        }
        if "device" in named or somewhere:
            named["device"] = device(named.get("device") or get_default_device())
        found = _tell(below.state.watchers, getattr(getattr(ops.aten, name), overload), given, named, make)
        return found.requires_grad_() if requires_grad else found

    return look


def _lifted(make: Callable[..., Any]) -> Callable[..., Any]:
    """What is made of Python's numbers is a tensor already, which is lifted to where modes are."""

    def look(*args: Any, **kwargs: Any) -> Any:
        found = make(*args, **kwargs)
        if not _asked() or found is (args[0] if args else None):
            return found
        lifted = _tell(below.state.watchers, ops.aten.lift_fresh.default, (found.detach(),), {}, lambda x: x)
        return lifted.requires_grad_() if found.requires_grad else lifted

    return look


def _look(function: Any, looking: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Let a function show itself to modes; classes that compute for themselves may be asked before."""
    if function in overriding._under:
        overriding._under[function] = looking(overriding._under[function])
    else:
        overriding.look_below(function, looking(lambda *args, **kwargs: overriding._under[function](*args, **kwargs)))


def install() -> None:
    """Let the creators look."""
    for table, forms, somewhere in (
        (FUNCTIONS, _FROM_NOTHING, True),
        (FUNCTIONS, _LIKE, False),
        (METHODS, _NEW, False),
    ):
        for name, form in forms.items():
            _look(table[name], lambda make, n=name, f=form, s=somewhere: _shown(n, make, f, s))  # type: ignore[misc]
    for function in (FUNCTIONS["tensor"], FUNCTIONS["as_tensor"], FUNCTIONS["asarray"], METHODS["new_tensor"]):
        _look(function, _lifted)


install()
