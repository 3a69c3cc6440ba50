"""Around what `torch.compile` made, nothing listens: Dynamo would trace our mode and our hooks, and compile anew.

While Dynamo reads a function, PyTorch stands there as it is without us. What happens inside of what is compiled is told by its
twin (twins.py).

Whoever asks for a line (`listen_at`) gets it: in steps that are listened to closely, what was compiled runs as it is written
then. Rounding and random numbers may be others, so this is never done unasked.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from typing import Any

import torch

from .. import diagnose
from ..events import hub
from . import (
    engine,
    graphs,
    hearing,
    lines,
    listening,
    marks,
    modes,
    nodes,
    optimizers,
    patching,
    reruns,
    telling,
    twins,
    versions,
    watching,
)
from .nodes import held
from .telling import guarded

_FOLDER = __name__.partition(".")[0]


def start(patch: Any) -> None:
    """Patch `torch.compile`."""
    global _unknown
    _unknown = False
    _uncompiled.clear()

    def compiling(original: Any) -> Any:
        @functools.wraps(original)
        def compile(model: Any = None, **kwargs: Any) -> Any:
            _meet_dynamo(patch)
            made = original(model, **kwargs)
            if model is None:
                return lambda model: _wrapped(made(model), model, patch)
            return _wrapped(made, model, patch)

        return compile

    patch(torch, "compile", compiling)


_unknown = False  # is Dynamo another one than we know?


def _meet_dynamo(patch: Any) -> None:
    """Dynamo is loaded by the first call of `torch.compile`."""
    global _unknown
    if _unknown or ("torch._dynamo" in sys.modules and _is_met(sys.modules["torch._dynamo"])):
        return
    try:
        _meet(patch)
    except Exception as error:
        _unknown = True
        versions.lack("torch._dynamo", str(error))


def _is_met(dynamo: Any) -> bool:
    wrapper = getattr(getattr(dynamo, "convert_frame", None), "CatchErrorsWrapper", None)
    return wrapper is not None and patching.stands(wrapper, "__call__")


def _meet(patch: Any) -> None:
    with patching.as_it_was():  # it puts something around `Module.__init__`, and reads that
        from torch._dynamo import convert_frame, mutation_guard, output_graph, trace_rules
        from torch._dynamo.variables.misc import AutogradFunctionVariable

        mutation_guard.install_generation_tagging_init()
    watching.hear_of_modules()
    trace_rules.add(_FOLDER)  # what is ours is called, not compiled
    lines.generated = getattr(convert_frame, "output_codes", ())
    telling.set_dynamo = torch._C._dynamo.eval_frame.set_eval_frame
    twins.start(patch)
    marks.start(patch)
    patch(convert_frame.CatchErrorsWrapper, "__call__", _reading)
    patch(output_graph.OutputGraph, "__init__", _noting)
    if hasattr(AutogradFunctionVariable, "call_apply"):
        patch(AutogradFunctionVariable, "call_apply", _customised)
    ways = [patch(torch.Tensor, name, functools.partial(_leaving, how)) for name, how in listening.NUMBERS.items()]
    _ways_out[:] = [made for made in ways if made is not None]
    _hear_numbers(False)


# Where Dynamo ends a graph because a value becomes a number or an array, no mode hears of it.
_ways_out: list[Any] = []


def _hear_numbers(on: bool) -> None:
    for made in _ways_out:
        made.put(made.new if on else made.original)


def _leaving(how: str, original: Any) -> Any:
    def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if not held.aside and not held.handling and lines.is_users_call(2):
            listening.heard_leaving(how, self, result)
        return result

    return leave


_read: list[Any] = []  # what Dynamo is making of the code that it reads


def _noting(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _read.append(self)

    return __init__


def _customised(original: Any) -> Any:
    @functools.wraps(original)
    def call_apply(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        made = original(self, tx, args, kwargs)
        with contextlib.suppress(Exception):  # what Dynamo keeps differs from version to version
            node = next(n for n in reversed(tx.output.graph.nodes) if graphs.name(n) == "autograd_function_apply")
            if not kwargs:
                reruns.note_custom(node, self.fn_cls, [_argument(arg) for arg in args])
        return made

    return call_apply


def _argument(arg: Any) -> Any:
    return arg.as_python_constant() if arg.is_python_constant() else arg.as_proxy().node


# NOTE [Steps]: Dynamo does not go into a step from outside; it reads what an optimizer does there by itself. Of the function around
# that, in which hooks are called, it makes nothing but a function that calls none. So what it makes of it is not used.
_STEP = optimizers.STEP


def _reading(original: Any) -> Any:
    from torch._dynamo.eval_frame import skip_code

    @functools.wraps(original)
    def __call__(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        global _readings
        _readings += 1
        held.aside += 1
        optimizers.hide(True)
        try:
            with patching.as_it_was(), watching.out_of_sight():
                found = original(self, frame, *args, **kwargs)
            if frame.f_code is not _STEP:
                return found
            skip_code(_STEP)
            return None if found is None or hasattr(found, "check_fn") else type(found)()  # as it is written
        finally:
            optimizers.hide(False)
            held.aside -= 1
            _met({code for output in _read for code in getattr(output, "traced_code", ())})
            _read.clear()
            reruns.forget_customs()
            modes.forget()

    return __call__


def _met(codes: set[Any]) -> None:
    """Dynamo has read this code."""
    patching.met(codes)
    if watching.unseen:  # else nobody called it through us
        patching.show_met(False)


def _wrapped(made: Any, model: Any, patch: Any) -> Any:
    if isinstance(made, torch.nn.Module):
        whole = type(made)  # OptimizedModule
        if not hasattr(vars(whole).get("__call__"), "clarion"):
            patch(whole, "__call__", lambda original: _aside(original, _as_written))
        return made
    return _aside(made, model) if callable(made) and not hasattr(made, "clarion") else made


def _as_written(module: Any, *args: Any, **kwargs: Any) -> Any:
    return module._orig_mod(*args, **kwargs)


# NOTE [Uncompiled]: where Dynamo gives up (a GRU, say), it has compiled nothing at all, and what it was given runs as it is written,
# call after call, without Dynamo having anything new to read. Then it can be listened to as anything else.
_readings = 0  # code that Dynamo was asked to read
_uncompiled: weakref.WeakSet[Any] = weakref.WeakSet()


def _is_uncompiled(readings: int) -> bool:
    codes = getattr(sys.modules["torch._dynamo.convert_frame"], "output_codes", None)
    return readings == _readings and not getattr(codes, "seen", True)


def _is_asked() -> bool:
    """Does somebody want to know a line?"""
    session = diagnose._session
    return session is not None and session.listen_at is not None


def _aside(function: Any, written: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if held.handling or watching.unseen or (patching.resting and not patching.has_met()):
            return function(*args, **kwargs)
        heard = listening.ear.open
        if heard and _is_asked():
            return written(*args, **kwargs)
        if _unknown:
            return _untouched(function, args, kwargs)
        who, readings = args[0] if written is _as_written else call, _readings
        if heard and who in _uncompiled and _is_uncompiled(readings):
            return written(*args, **kwargs)
        twins.wanted, twins.noted = heard, not patching.resting
        if heard:
            _hear_numbers(True)
        patching.show_met(False)
        try:
            with watching.out_of_sight():
                result = function(*args, **kwargs)
            if heard and hub.entered is not None:
                _tell_unheard(result)
            if heard and _is_uncompiled(readings) and not getattr(who, "_forward_hooks", None):
                _uncompiled.add(who)
            return result
        except Exception:
            twins.explain()
            raise
        finally:
            twins.wanted = False
            patching.show_met(True)
            if heard:
                _hear_numbers(False)

    call.clarion = True  # type: ignore[attr-defined]
    engine.layers().passing_on.update((call.__code__, getattr(function, "__code__", None)))
    return call


def _untouched(function: Any, args: Any, kwargs: Any) -> Any:
    """PyTorch as it is without us: this Dynamo is not to meet anything of ours."""
    optimizers.hide(True)
    try:
        with patching.as_it_was(), watching.out_of_sight():
            return function(*args, **kwargs)
    finally:
        optimizers.hide(False)


@guarded
def _tell_unheard(result: Any) -> None:
    """Where Dynamo could not go on, what it was given to compile ran as it is, unheard: whatever left the graph meanwhile may have
    come back in what was computed there."""
    for t in hearing.tensors_in(list(result.values()) if isinstance(result, dict) else result):
        if t.grad_fn is not None and not nodes.has_twin(t):
            hub.entered(t, None)  # type: ignore[misc]
