"""Casting where operations are called, at no cost in a program without autocast.

NOTE [Stand-ins]: while autocast is on in any thread, the functions that declare it (`@autocast`) run other code: a call of a
stand-in, which casts the arguments (if autocast is on in this thread) and then runs the function as it was written. Not
the names are exchanged but the functions' own code, so it does not matter who holds a reference to them: a module, a
method of Tensor, a `from ... import` in the user's program. When autocast is off again the stand-ins stay for a while: a
training enters it at every step, and whatever code calls a function that was exchanged has to find its way anew. After some
hundred calls that found it off, everything is as if this file were not there.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from ..core.overriding import calling, own_form, set_code
from ..core.written import write_now
from ..ops.faces.api import FUNCTIONS, METHODS, NN_FUNCTIONAL
from ..ops.faces.autocast import CASTS, ON_GPU, OPERATORS, WIDE_INSIDE
from .state import device_of, full, holds_half, lower, lower_all, state, widest

_prepared: list[tuple[Any, types.CodeType, types.CodeType]] = []  # (function, its code, the stand-in's code)
_PATIENCE = 500  # calls in vain that the stand-ins stay for


class _Installed:
    """Are the stand-ins there, is autocast on in any thread, and how many calls have found it off since it was?"""

    there = on = False
    in_vain = 0


def install() -> None:
    """Let the functions that declare a policy run their stand-ins."""
    _Installed.on, _Installed.in_vain = True, 0
    if _Installed.there:
        return
    if not _prepared:
        _prepare()
    for function, _, instead in _prepared:
        set_code(function, instead)
    _Installed.there = True


def rest() -> None:
    """Autocast is off: the stand-ins go when nothing has asked for them for a while."""
    _Installed.on = False


def _called_in_vain() -> None:
    _Installed.in_vain += 1
    if _Installed.in_vain > _PATIENCE and not _Installed.on and _Installed.there:
        _Installed.there = False
        for function, own, _ in _prepared:
            set_code(function, own)


def _prepare() -> None:
    """Stand-ins for the functions that declare a policy, and for the public faces around them (those with `out=`)."""
    # By its name: it stands above this room. First: it declares policies too, and is imported when it is asked for.
    linalg = vars(importlib.import_module("clarion.linalg"))
    _prepared.extend(_stand_in(*cast) for cast in CASTS)
    seen = {id(cast.function) for cast in CASTS}
    cast_inside = set(seen)
    for name in ON_GPU:
        for table in (FUNCTIONS, NN_FUNCTIONAL, METHODS):
            function = inspect.unwrap(table[name]) if name in table else None
            if isinstance(function, types.FunctionType) and id(function) not in seen:
                seen.add(id(function))
                cast_inside.add(id(function))
                _prepared.append(_stand_in(function, "none", None))
    for operator, name in OPERATORS.items():
        _prepared.append(_stand_in(METHODS[operator], "none", None, name))
    for shown in (*FUNCTIONS.values(), *NN_FUNCTIONAL.values(), *linalg.values()):
        if hasattr(shown, "__wrapped__") and id(shown) not in seen and id(inspect.unwrap(shown)) in cast_inside:
            seen.add(id(shown))
            _prepared.append(_stand_in(shown, "as given", None))


originals: dict[Any, Any] = {}  # what a function is where nobody stands in for it


def _stand_in(
    function: Any, policy: str, wanted: Callable[..., bool] | None, name: str = ""
) -> tuple[Any, types.CodeType, types.CodeType]:
    """The function, its code and that of its stand-in."""
    write_now(function)
    original = originals[function] = own_form(function)
    own = original.__code__
    name = name or function.__name__.rstrip("_")
    policies = {"cpu": policy, "cuda": "none" if name in WIDE_INSIDE else ON_GPU.get(name, policy)}

    def call(*args: Any, **kwargs: Any) -> Any:
        mine = state.__dict__  # (of this thread: asked for once)
        if not mine["casting"]:
            if not _Installed.on:
                _called_in_vain()
            return original(*args, **kwargs)
        device = device_of(args, kwargs)
        how = policies.get(device, policy)
        if how == "none" or not mine["enabled"][device]:
            return original(*args, **kwargs)
        # In place and out= are never cast.
        writes = bool(kwargs) and ("run" in kwargs or kwargs.get("out") is not None)
        if how == "as given" and not writes:
            return original(*args, **kwargs)
        mine["casting"] = False  # what the function calls in turn is not cast again
        try:
            if not writes and (wanted is None or wanted(*args, **kwargs)):
                if how == "lower":
                    args = lower_all(args, device)
                    if kwargs:
                        kwargs = {key: lower(value, device) for key, value in kwargs.items()}
                elif how == "float32" and not holds_half(args, kwargs):
                    pass
                elif how != "plain":
                    cast = full if how == "float32" else widest(args, kwargs)
                    args = tuple([cast(value) for value in args])
                    kwargs = {key: cast(value) for key, value in kwargs.items()}
            return original(*args, **kwargs)
        finally:
            mine["casting"] = True

    return function, own, calling(call, own)
