"""Casting where operations are called, at no cost while autocast is off.

NOTE [Stand-ins]: while autocast is on in any thread, the functions that declare it (`@autocast`) run other code: a call of a
stand-in, which casts the arguments (if autocast is on in this thread) and then runs the function as it was written. Not
the names are exchanged but the functions' own code, so it does not matter who holds a reference to them: a module, a
method of Tensor, a `from ... import` in the user's program. With autocast off everything is as if this file were not
there.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from ..core.overriding import calling, own_form, set_code
from ..ops.faces.api import FUNCTIONS, NN_FUNCTIONAL
from ..ops.faces.autocast import CASTS, ON_GPU, WIDE_INSIDE
from .state import device_of, full, lower, state, widest

_prepared: list[tuple[Any, types.CodeType, types.CodeType]] = []  # (function, its code, the stand-in's code)


def install() -> None:
    """Let the functions that declare a policy run their stand-ins."""
    if not _prepared:
        _prepare()
    for function, _, instead in _prepared:
        set_code(function, instead)


def remove() -> None:
    """Let the functions run as they were written."""
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
        for table in (FUNCTIONS, NN_FUNCTIONAL):
            function = inspect.unwrap(table[name]) if name in table else None
            if isinstance(function, types.FunctionType) and id(function) not in seen:
                seen.add(id(function))
                cast_inside.add(id(function))
                _prepared.append(_stand_in(function, "none", None))
    for shown in (*FUNCTIONS.values(), *NN_FUNCTIONAL.values(), *linalg.values()):
        if hasattr(shown, "__wrapped__") and id(shown) not in seen and id(inspect.unwrap(shown)) in cast_inside:
            seen.add(id(shown))
            _prepared.append(_stand_in(shown, "as given", None))


def _stand_in(
    function: Any, policy: str, wanted: Callable[..., bool] | None
) -> tuple[Any, types.CodeType, types.CodeType]:
    """The function, its code and that of its stand-in."""
    original = own_form(function)
    own = original.__code__
    name = function.__name__.rstrip("_")
    policies = {"cpu": policy, "cuda": "none" if name in WIDE_INSIDE else ON_GPU.get(name, policy)}

    def call(*args: Any, **kwargs: Any) -> Any:
        if not state.casting:
            return original(*args, **kwargs)
        device = device_of(args, kwargs)
        how = policies.get(device, policy)
        if not state.enabled[device] or how == "none":
            return original(*args, **kwargs)
        writes = "run" in kwargs or kwargs.get("out") is not None  # in place and out= are never cast
        if how == "as given" and not writes:
            return original(*args, **kwargs)
        state.casting = False  # what the function calls in turn is not cast again
        try:
            if not writes and (wanted is None or wanted(*args, **kwargs)):
                cast = _cast_for(how, device, args, kwargs)
                args = tuple([cast(value) for value in args])
                kwargs = {key: cast(value) for key, value in kwargs.items()}
            return original(*args, **kwargs)
        finally:
            state.casting = True

    return function, own, calling(call, own)


def _cast_for(policy: str, device: str, args: Any, kwargs: Any) -> Callable[[Any], Any]:
    if policy == "widest":
        return widest(args, kwargs)
    if policy == "lower":
        return partial(lower, device=device)
    return full if policy == "float32" else lambda value: value
