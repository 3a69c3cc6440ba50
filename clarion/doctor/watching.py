"""PyTorch's own functions, patched to tell what happens: backward passes, optimizers, modules, gradient modes.

Every patch calls what was there, whatever becomes of our part; `stop()` puts everything back.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from sys import _getframe
from typing import Any

import torch
from torch._C import TensorBase

from ..events import heard, hub
from . import (
    backward,
    engine,
    hearing,
    home,
    later,
    lines,
    listening,
    memory,
    modes,
    nodes,
    optimizers,
    patching,
    ranks,
    resting,
    runs,
    twins,
    versions,
)
from .nodes import held
from .patching import itself, patch, safely, telling, undo
from .vocabulary import Operation


def start() -> None:
    """Patch everything."""
    versions.lacking.clear()
    lines.begin(torch.__path__[0])
    listening.remember_functions()
    home.move()
    nodes.forget()
    engine.forget()
    memory.forget()
    later.post.forget()
    backward.forget()
    resting.forget()
    _modes()
    _modules()
    optimizers.start()
    _tensors()
    backward.start(resting.running)
    from . import checkpoints, compiled

    checkpoints.start(patch)
    compiled.start(patch)


def stop() -> None:
    """Put back what was there."""
    global _wanted
    _wanted = False
    listening.set_open(False)
    _set_properties(False)
    _set_module_hooks(False)
    while undo:
        undo.pop()()


def take_out(what: str, error: BaseException) -> None:
    """Our side broke: nothing is told any more."""
    from .. import diagnose

    session = diagnose._session
    if session is not None:
        session.failures.setdefault(f"{what} on PyTorch", error)
        session.stop()
    stop()


# How much is heard -----------------------------------------------------------------------------------


def watch(on: bool, at_rest: bool = False) -> None:
    """The session changed its mode: hear every call, or only what is patched, or (at rest) less than that."""
    global _wanted
    _wanted = on
    patching.rest(at_rest)
    resting.rest(at_rest)
    _listen()


def _listen() -> None:
    """What Dynamo must not see: it stands where the code that it reads, or has compiled, would meet it."""
    on = _wanted and not unseen
    listening.set_open(on)
    _set_module_hooks(on and heard("module_entered"))
    _set_properties(not _wanted and not unseen and heard("looked"))


@contextlib.contextmanager
def out_of_sight() -> Iterator[None]:
    """Something that was compiled runs, or is being compiled."""
    hide(True)
    try:
        yield
    finally:
        hide(False)


def hide(on: bool) -> None:
    """Nothing of ours is seen for a while."""
    global unseen
    unseen += 1 if on else -1
    runs.hide(unseen > 0)
    _listen()


_wanted = False  # is every call to be heard?
unseen = 0
engine.watch = watch
twins.is_asked = lambda: _wanted
_hooks: list[Any] = []
_properties: list[str] = []


def _set_module_hooks(on: bool) -> None:
    if on and not _hooks:
        module = torch.nn.modules.module
        _hooks.append(module.register_module_forward_pre_hook(_entered))
        _hooks.append(module.register_module_forward_hook(_left, always_call=False))
    elif not on:
        while _hooks:
            _hooks.pop().remove()


def _entered(module: Any, inputs: Any) -> None:
    if hub.module_entered is not None and not held.aside and not held.running:
        safely("modules", hub.module_entered, module)


def _left(module: Any, inputs: Any, output: Any) -> None:
    if hub.module_left is not None and not held.aside and not held.running:
        safely("modules", hub.module_left, module, output)


def _set_properties(on: bool) -> None:
    """While awake, reading and setting `.grad` is told by properties of Python; at rest there are none."""
    if on is bool(_properties):
        return
    if not on:
        while _properties:
            delattr(torch.Tensor, _properties.pop())
        return
    torch.Tensor.grad = property(_read_grad, _write_grad, _delete_grad)  # type: ignore[assignment]
    torch.Tensor.requires_grad = property(TensorBase.requires_grad.__get__, _write_requires_grad)  # type: ignore[assignment]
    _properties.extend(["grad", "requires_grad"])


def _read_grad(self: Any) -> Any:
    found = _grad.__get__(self)
    if hub.looked is not None and lines.is_users_call(2) and not held.aside and self.is_leaf:
        safely("gradients", hub.looked, self)
    return found


def _write_grad(self: Any, value: Any) -> None:
    if lines.is_users_call(2) and not held.aside:
        safely("gradients", listening.told_new_grad, self, value)
    _grad.__set__(self, value)


def _delete_grad(self: Any) -> None:
    _write_grad(self, None)


def _write_requires_grad(self: Any, value: Any) -> None:
    _requires_grad.__set__(self, value)
    if hub.flagged is not None and not held.aside and self.is_leaf:
        safely("tensors", hub.flagged, self, bool(value))


_grad, _requires_grad = TensorBase.grad, TensorBase.requires_grad


# Gradient modes --------------------------------------------------------------------------------------


class _OwnFiles(dict[str, bool]):
    """Does PyTorch enter a mode for itself in this file? Answered at once: an optimizer's step switches twice."""

    def __missing__(self, file: str) -> bool:
        found = self[file] = not file.endswith("contextlib.py") and lines._is_engine(file)
        return found


def _modes() -> None:
    from torch.autograd import grad_mode
    from torch.utils import _contextlib

    engine.mode_files = frozenset([__file__, modes.__file__, grad_mode.__file__, _contextlib.__file__])
    own = _OwnFiles()
    own[grad_mode.__file__], own[_contextlib.__file__] = True, False  # decorators are the user's

    def entering(original: Any) -> Any:
        @functools.wraps(original)
        def __enter__(self: Any) -> Any:
            result = original(self)
            if hub.mode is not None and not own[_getframe(1).f_code.co_filename] and not held.aside:
                safely("gradient modes", hub.mode, self, True)
            return result

        return __enter__

    def leaving(original: Any) -> Any:
        @functools.wraps(original)
        def __exit__(self: Any, *error: Any) -> Any:
            result = original(self, *error)
            if hub.mode is not None and not own[_getframe(1).f_code.co_filename] and not held.aside:
                safely("gradient modes", hub.mode, self, False)
            return result

        return __exit__

    def setting(original: Any) -> Any:
        @functools.wraps(original)
        def __init__(self: Any, mode: bool) -> None:
            original(self, mode)
            if hub.mode is not None and not own[_getframe(1).f_code.co_filename] and not held.aside:
                safely("gradient modes", hub.mode, self, True)

        return __init__

    for cls in (torch.no_grad, torch.enable_grad, torch.set_grad_enabled, torch.inference_mode):
        patch(cls, "__enter__", entering)
        patch(cls, "__exit__", leaving)
    patch(torch.set_grad_enabled, "__init__", setting)


# Modules and parameters ------------------------------------------------------------------------------


def _modules() -> None:
    Module = torch.nn.Module
    hear_of_modules()
    telling(Module, "__setattr__", after=_attribute_set)
    telling(Module, "load_state_dict", before=_state_loaded)
    telling(Module, "zero_grad", before=_module_cleared, at_rest=itself)
    telling(torch, "save", before=_written)
    patch(Module, "train", _training)
    patch(Module, "state_dict", _taking)
    patch(torch.nn.Parameter, "__new__", lambda original: _parameter(getattr(original, "__func__", original)))


def hear_of_modules() -> None:
    """Patch what every module runs first; again, if somebody else has taken the place meanwhile."""
    if not patching.stands(torch.nn.Module, "__init__"):
        telling(torch.nn.Module, "__init__", after=_module_made)


def _module_made(result: Any, module: Any, *args: Any, **kwargs: Any) -> None:
    if hub.module_made is not None and home.at_home(True):
        safely("modules", hub.module_made, module)


def _attribute_set(result: Any, module: Any, name: str, value: Any) -> None:
    held = isinstance(value, (torch.Tensor, list, tuple, dict, set)) or name == "requires_grad"
    if held and hub.attribute_set is not None:
        if name in module.__dict__:
            safely("modules", hub.attribute_set, module, name, value)


def _state_loaded(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> None:
    if hub.state_loaded is not None:
        safely("modules", hub.state_loaded, module, state_dict)


def _module_cleared(module: Any, *args: Any, **kwargs: Any) -> None:
    if hub.cleared is not None:
        safely("gradients", hub.cleared, list(module.parameters()))


def _written(obj: Any, *args: Any, **kwargs: Any) -> None:
    if hub.state_written is not None:
        safely("files", hub.state_written, obj)


def _training(original: Any) -> Any:
    @functools.wraps(original)
    def train(self: Any, mode: bool = True) -> Any:  # `graph/layers.py` looks for this frame
        if hub.training_set is not None and not held.aside:
            safely("modules", hub.training_set, self, bool(mode))
            for inner in () if "training" in vars(self) else self.children():
                safely("modules", hub.training_set, inner, bool(mode))  # whose mode it shows, as what is compiled does
        return original(self, mode)

    return train


def _taking(original: Any) -> Any:
    @functools.wraps(original)
    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer = not held.taking
        held.taking += 1
        try:
            found = original(self, *args, **kwargs)
        finally:
            held.taking -= 1
        if outer and hub.state_taken is not None:
            safely("modules", hub.state_taken, self, found)
        return found

    return state_dict


def _parameter(original: Any) -> Any:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(cls, *args, **kwargs)
        if hub.made is not None and isinstance(made, torch.nn.Parameter) and home.at_home(True):
            safely("parameters", hub.made, made)
            data = args[0] if args else kwargs.get("data")
            if listening.ear.open and hub.entered is not None and data is not None and data.grad_fn is not None:
                safely("parameters", hub.entered, made, data)
        return made

    return staticmethod(__new__)


# Tensors ---------------------------------------------------------------------------------------------


def _tensors() -> None:
    def flagging(original: Any) -> Any:
        def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
            result = original(self, requires_grad)
            if hub.flagged is not None and not held.aside and not held.handling and self.is_leaf:
                safely("tensors", hub.flagged, self, bool(requires_grad))
            return result

        return requires_grad_

    patch(torch.Tensor, "requires_grad_", flagging)

    def entering(original: Any) -> Any:  # no mode hears of it
        @functools.wraps(original)
        def from_numpy(array: Any) -> Any:
            made = original(array)
            if (listening.ear.open or twins.wanted) and not held.aside:
                safely("tensors", _made_of, made, array)
            return made

        return from_numpy

    patch(torch, "from_numpy", entering)
    for name in ("register_hook", "retain_grad"):
        telling(torch.Tensor, name, before=_hooked)

    def applying(original: Any) -> Any:
        original = original.__func__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if not listening.ear.open or held.aside or listening.stands_aside():
                result = original(cls, *args, **kwargs)
            else:
                before = torch.autograd._get_sequence_nr()
                held.aside += 1
                try:
                    result = original(cls, *args, **kwargs)
                finally:
                    held.aside -= 1
                safely("custom Functions", _applied, cls, args, result, before)
            own = cls.__module__.startswith("torch.")  # what Dynamo makes of one
            if hub.customised is not None and not own and not held.aside and torch.is_grad_enabled():
                safely("custom Functions", hub.customised, cls, args, result)
            return result

        return classmethod(apply)

    patch(torch.autograd.Function, "apply", applying)

    def tracing(original: Any) -> Any:  # it writes down the lines of Python that it comes from: not ours
        @functools.wraps(original)
        def trace(*args: Any, **kwargs: Any) -> Any:
            with out_of_sight():
                return original(*args, **kwargs)

        return trace

    patch(torch.jit, "trace", tracing)
    patch(torch.autograd.Variable, "__new__", _wrapping)
    telling(torch.autograd.graph.saved_tensors_hooks, "__enter__", before=_packing)
    telling(torch.autograd.graph.saved_tensors_hooks, "__exit__", before=_packed)


def _wrapping(original: Any) -> Any:
    """`Variable(tensor, requires_grad=True)`, of which no mode hears."""

    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(cls, *args, **kwargs)
        if not held.aside and isinstance(made, torch.Tensor) and made.is_leaf:
            if args and listening.ear.open and hub.entered is not None:
                safely("tensors", hub.entered, made, args[0])
            if made.requires_grad and hub.flagged is not None:
                safely("tensors", hub.flagged, made, True)
        return made

    return staticmethod(__new__)


def _made_of(made: Any, array: Any) -> None:
    if hub.entered is not None:
        hub.entered(made, array)
    memory.exported(made, array, "from_numpy", lines.here())


def _hooked(t: Any, *args: Any, **kwargs: Any) -> None:
    if hub.hooked is not None and not t.is_leaf:
        safely("gradients", hub.hooked, t)


def _packing(hooks: Any) -> None:
    nodes.hooks.seen = True  # NOTE [Packed] in nodes.py
    nodes.hooks.depth += 1


def _packed(hooks: Any, *error: Any) -> None:
    nodes.hooks.depth = max(nodes.hooks.depth - 1, 0)


def _applied(cls: Any, args: Any, result: Any, before: int) -> None:
    outs = list(hearing.tensors_in(result))
    if not outs:
        return
    if cls.__name__ == "CheckpointFunction" and outs[0].grad_fn is not None:
        from . import checkpoints

        checkpoints.forward_done(outs[0].grad_fn, result)
    inputs = list(hearing.tensors_in(list(args)))
    views = hearing.place_new_nodes(outs, before, lines.here())
    if hub.recorded is not None:
        for view in views:
            hub.recorded(view, inputs, outs[0])
    if hub.applied is not None:
        hub.applied(Operation(cls.__name__), inputs, [], outs)


# The life of a session -------------------------------------------------------------------------------


def running(thorough: bool) -> Any:
    """The session that PyTorch feeds now, if it looks at what is wanted; else None."""
    from .. import diagnose

    session = diagnose._session
    if session is None or session.mode == "off" or diagnose.engine.current is not engine:
        return None
    return session if session.thorough or not thorough else None


def begin(strict: bool, thorough: bool, listen_at: int | None) -> Any:
    """Start a session that PyTorch's engine feeds."""
    from .. import diagnose

    diagnose._stop()
    stop()
    try:
        start()
    except Exception:
        stop()
        raise
    diagnose.engine.use(engine)
    return diagnose.begin_session(strict, thorough, listen_at, _prepare)


def _prepare(session: Any) -> None:
    """What a session must know of this engine."""
    session.lacking = versions.lacking
    session.silenced.update(rule for _, rules in versions.lacking.values() for rule in rules)
    memory.followed = session.ledger.departures.marks
    session.audience = ranks.audience


def end(session: Any) -> None:
    """Finish the session, and put PyTorch back as it was."""
    from .. import diagnose

    if diagnose._session is session:
        if session.mode != "off":
            session.finish()
            session.stop()
        diagnose.engine.release()
    stop()
    ranks.tidy()
