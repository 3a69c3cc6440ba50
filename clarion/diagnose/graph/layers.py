"""What rules ask of modules: which are running, does a layer depend on train and eval mode, who trains it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from .. import engine
from ..source.places import Place


def depends_on_mode(module: Any) -> bool:
    """Does a module itself, without those inside it, compute something else in eval mode than in train mode?"""
    layers = engine.layers()
    if isinstance(module, layers.Dropout):
        return bool(module.p > 0)
    if isinstance(module, layers.Norm):
        return bool(module.track_running_stats)
    if isinstance(module, (layers.Attention, layers.Recurrent)):
        return bool(module.dropout > 0)
    if isinstance(module, layers.RReLU):
        return True
    forward = getattr(type(module).forward, "__code__", None)
    return forward is not None and not is_library(forward) and "training" in forward.co_names


def is_frozen_alone(module: Any) -> bool:
    """Is this a layer that people put into eval mode by itself, to freeze it?"""
    layers = engine.layers()
    return isinstance(module, (layers.Norm, layers.Dropout))


def is_library(code: CodeType) -> bool:
    """Is this the library's own code?"""
    return bool(engine.is_library(code.co_filename))


def trainer_of(module: Any) -> Any:
    """The optimizer that owns the first trainable parameter of a module that is owned at all; None if there is none."""
    for parameter in module.parameters():
        story = engine.story(parameter)
        if engine.requires_grad(parameter) and story is not None and story.owner is not None:
            owner = story.owner()
            if owner is not None and hasattr(owner, "_story"):
                return owner
    return None


def is_trained(module: Any) -> bool:
    """Has an optimizer, living or not, been given gradients for a parameter of this module?"""
    return any(
        engine.requires_grad(p) and engine.story(p) is not None and engine.story(p).owner and engine.story(p).deposits
        for p in module.parameters()
    )


# The stack -----------------------------------------------------------------------------------------
# Reading the variables of a frame keeps them alive until it ends (before Python 3.13), so only frames that end soon are
# asked: the calls of modules and their methods, never a training loop.


def called_on() -> Any:
    """The module that the user called `train()` or `eval()` on, while that runs: its submodules follow."""
    layers = engine.layers()
    codes = (layers.Module.train.__code__, *getattr(layers, "telling_train", ()))
    frame: Any = sys._getframe(1)
    found = None
    while frame is not None and engine.is_library(frame.f_code.co_filename):
        if frame.f_code in codes:
            found = frame
        frame = frame.f_back
    return None if found is None else found.f_locals["self"]


class Call:
    """A call of a module that is running, by the frame of its `__call__` or `forward`. (`engine.unframed` has others of its kind.)"""

    def __init__(self, module: Any, frame: FrameType) -> None:
        self.module, self._frame = module, frame

    @property
    def given(self) -> tuple[Any, Any] | None:
        """Its arguments, and those by name; None where somebody calls `forward` itself."""
        known = self._frame.f_locals
        called = self._frame.f_code is engine.layers().Module.__call__.__code__
        return (known["args"], known["kwargs"]) if called else None

    def hands(self, name: str, position: int) -> bool | None:
        """Is an argument of `forward` given, and not its default? None if another call, further out, knows that."""
        if self.given is None:
            return None if engine.unframed(roots=True) else False
        return name in self.given[1] or len(self.given[0]) >= position

    @property
    def this(self) -> Any:
        """Something of its own. (Frames have no identity that outlives them: lend it one.)"""
        return self._frame.f_locals.setdefault("a call of clarion", object())

    @property
    def by_library(self) -> bool:
        """Did somebody else call it, who knows what for: checkpointing?"""
        caller = caller_of(self._frame)
        return caller is None or is_library(caller.f_code)

    @property
    def place(self) -> Place | None:
        """The user's line that made it."""
        return place_outside(self._frame)

    def holds(self, switch: Any, frame: FrameType | None) -> bool:
        """Was recording switched inside of it, on the way to this frame?"""
        if getattr(switch.mode(), "inside", None) is not None:  # by what was compiled
            return True
        while frame is not None and frame is not self._frame:
            if id(frame) == switch.frame:
                return True
            frame = frame.f_back
        return False


def calls(frame: FrameType | None) -> Iterator[Any]:
    """The calls of modules that are running, the innermost first."""
    yield from engine.unframed()
    Module = engine.layers().Module
    while frame is not None:
        code = frame.f_code
        if code is Module.__call__.__code__ or (code.co_name == "forward" and code.co_argcount):
            found = frame.f_locals.get(code.co_varnames[0])
            if isinstance(found, Module):
                yield Call(found, frame)
        frame = frame.f_back


def around(frame: FrameType | None) -> Iterator[Any]:
    """The modules whose methods are running, the innermost first: those that are called, or `model.encode(x)`."""
    yield from (call.module for call in engine.unframed(roots=True))
    Module = engine.layers().Module
    while frame is not None:
        code = frame.f_code
        if code is Module.__call__.__code__ or (
            code.co_argcount and not is_library(code) and _is_method(frame, Module)
        ):
            found = frame.f_locals.get(code.co_varnames[0])
            if isinstance(found, Module):
                yield found
        frame = frame.f_back


def _is_method(frame: FrameType, base: type) -> bool:
    code = frame.f_code
    owner = frame.f_globals.get(code.co_qualname.partition(".")[0])
    return code.co_name == "forward" or (isinstance(owner, type) and issubclass(owner, base))


def caller_of(frame: FrameType) -> FrameType | None:
    """The frame that made this call, past those that an engine puts around what it has compiled."""
    outer, around = frame.f_back, getattr(engine.layers(), "passing_on", ())
    while outer is not None and outer.f_code in around:
        outer = outer.f_back
    return outer


def place_outside(frame: FrameType) -> Place | None:
    """The user's line that made this call."""
    outer = frame.f_back
    while outer is not None and is_library(outer.f_code):
        outer = outer.f_back
    return None if outer is None else (outer.f_code, outer.f_lasti)
