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
from collections.abc import Iterator
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
from .patching import undo
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
            _tag_modules()
            made = original(model, **kwargs)
            if model is None:
                return lambda model: _wrapped(made(model), model)
            return _wrapped(made, model)

        return compile

    patch(torch, "compile", compiling)
    if "torch._dynamo.eval_frame" in sys.modules:  # something may have been compiled before
        _meet_dynamo(patch)


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
    with patching.as_it_was():
        from torch._dynamo import convert_frame, eval_frame, output_graph, trace_rules
        from torch._dynamo.variables.misc import AutogradFunctionVariable

    trace_rules.add(_FOLDER)  # what is ours is called, not compiled
    lines.generated = getattr(convert_frame, "output_codes", ())
    telling.set_dynamo = torch._C._dynamo.eval_frame.set_eval_frame
    twins.start(patch)
    marks.start(patch)
    patch(convert_frame.CatchErrorsWrapper, "__call__", _reading)
    patch(output_graph.OutputGraph, "__init__", _noting)
    patch(eval_frame.OptimizedModule, "__call__", lambda original: _aside(original, _as_written))
    _hear_of_earlier(eval_frame._TorchDynamoContext)
    if hasattr(AutogradFunctionVariable, "call_apply"):
        patch(AutogradFunctionVariable, "call_apply", _customised)
    ways = [patch(torch.Tensor, name, functools.partial(_leaving, how)) for name, how in listening.NUMBERS.items()]
    with watching.out_of_sight():  # which puts what stands there while we are awake aside
        ways.append(patch(torch.Tensor, "requires_grad", _flagging))
        _breaks[:] = [made for made in ways if made is not None]
        _hear_breaks(False)


def _tag_modules() -> None:
    """Dynamo puts something around `Module.__init__` when it first compiles, and reads that: it is not to be put around ours."""
    if not _unknown and getattr(torch.nn.Module, "___needs_generation_tag_patch", True):
        from torch._dynamo import mutation_guard

        with patching.as_it_was():
            mutation_guard.install_generation_tagging_init()
        watching.hear_of_modules()


# Where Dynamo ends a graph because a value becomes a number or an array, or `requires_grad` is set, no mode hears of it.
_breaks: list[Any] = []


def _hear_breaks(on: bool) -> None:
    for made in _breaks:
        made.put(made.new if on else made.original)


def _leaving(how: str, original: Any) -> Any:
    def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if not held.aside and not held.handling and lines.is_users_call(2):
            listening.heard_leaving(how, self, result)
        return result

    return leave


def _flagging(original: Any) -> Any:
    def write(self: Any, value: Any) -> None:
        original.__set__(self, value)
        if hub.flagged is not None and not held.aside and not held.handling and self.is_leaf and lines.is_users_call(2):
            patching.safely("tensors", hub.flagged, self, bool(value))

    return property(original.__get__, write)


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
# that, in which hooks are called, it makes nothing but a function that calls none. So what it makes of it is not used; and where the
# program has hooks there it is not asked to: of each it makes a graph, once more when that is called.
_STEP = optimizers.STEP


def _reading(original: Any) -> Any:
    from torch._dynamo import types
    from torch._dynamo.eval_frame import skip_code

    nothing = getattr(types, "ConvertFrameReturn", None)

    @functools.wraps(original)
    def __call__(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        global _readings
        _readings += 1
        if frame.f_code is _STEP and nothing is not None and optimizers.has_others(frame.f_locals.get("args", ())):
            skip_code(_STEP)
            return nothing()
        held.aside += 1
        optimizers.hide(True)
        try:
            with patching.as_it_was(), watching.out_of_sight():
                found = original(self, frame, *args, **kwargs)
            if frame.f_code is not _STEP:
                _note_given_up(frame.f_code, found)
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


def _note_given_up(code: Any, found: Any) -> None:
    """Dynamo made nothing of this code: it runs as it is, and nobody listens. NOTE [Uncompiled]"""
    if getattr(found, "guarded_code", found) is None:
        engine.given_up.add(code.co_filename)


def _met(codes: set[Any]) -> None:
    """Dynamo has read this code."""
    patching.met(codes)
    if watching.unseen:  # else nobody called it through us
        patching.show_met(False)


# NOTE [Earlier]: what was compiled before the session began, or by a `torch.compile` that was imported then, is not wrapped by us.
# But each call of it asks who wants to hear that it begins and ends. A module is called through its class.
def _hear_of_earlier(context: Any) -> None:
    def read(self: Any) -> Any:
        return [_begin, *vars(self)["enter_exit_hooks"]]

    def write(self: Any, value: Any) -> None:
        vars(self)["enter_exit_hooks"] = value

    if "enter_exit_hooks" not in vars(context):
        context.enter_exit_hooks = property(read, write)
        undo.append(lambda: delattr(context, "enter_exit_hooks"))


def _begin() -> Any:
    """Something compiled begins, which may be none that is wrapped. Gives what is to be called when it ends."""
    _tag_modules()
    if held.handling or watching.unseen or (patching.resting and not patching.has_met()):
        return _nothing
    around = _unseen(listening.ear.open)
    around.__enter__()
    return lambda: around.__exit__(None, None, None)


def _nothing() -> None:
    pass


def _wrapped(made: Any, model: Any) -> Any:
    if isinstance(made, torch.nn.Module):
        return made  # NOTE [Earlier]
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
        try:
            with _unseen(heard):
                result = function(*args, **kwargs)
        except Exception:
            twins.explain()
            raise
        if heard and hub.entered is not None:
            _tell_unheard(result)
        if heard and _is_uncompiled(readings) and not getattr(who, "_forward_hooks", None):
            _uncompiled.add(who)
        return result

    call.clarion = True  # type: ignore[attr-defined]
    if hasattr(
        function, "_torchdynamo_wrapper_id"
    ):  # by which Dynamo knows what it has wrapped (`explain`, a second compile)
        call._torchdynamo_wrapper_id = id(call)  # type: ignore[attr-defined]
    engine.layers().passing_on.update((call.__code__, getattr(function, "__code__", None)))
    return call


@contextlib.contextmanager
def _unseen(heard: bool) -> Iterator[None]:
    """What was compiled runs, and meets nothing of ours; `heard`: its twins tell what it does."""
    twins.wanted, twins.noted = heard, not patching.resting
    if heard:
        twins.ran = True
        _hear_breaks(True)
    patching.show_met(False)
    try:
        with watching.out_of_sight():
            yield
    finally:
        twins.wanted = False
        patching.show_met(True)
        if heard:
            _hear_breaks(False)


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
