"""PyTorch's optimizers and what clips gradients, patched to tell what happens."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch.optim.optimizer import (
    _global_optimizer_post_hooks,
    _global_optimizer_pre_hooks,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from ..events import hub
from . import fills, lines, listening, memory, twins
from .home import at_home
from .nodes import held
from .patching import itself, patch, safely, telling, undo


def start() -> None:
    """Patch them."""
    global _hidden
    _hidden = 0
    telling(torch.optim.Optimizer, "__init__", after=_optimizer_made)
    patch(torch.optim.Optimizer, "zero_grad", _clearing, itself)
    hear(step_began, stepped)
    undo.append(hear)
    patch(torch.amp.GradScaler, "_maybe_opt_step", _skipping)
    _clipping()


# NOTE [Hooks]: PyTorch goes through the hooks of all optimizers while it calls them. Meanwhile none may come or go, or it
# raises; but another one may take the place of one that is there.
_hooks: list[Any] = [None, None]  # ours: before a step, after it
_registers = register_optimizer_step_pre_hook, register_optimizer_step_post_hook
_heard: tuple[Any, Any] = None, None
_hidden = 0
unsettled = False  # is there one that hears nothing, or one still to come? At the next pass that is done
STEP = torch.optim.Optimizer.profile_hook_step(lambda self: None).__code__  # type: ignore[attr-defined]


def hear(before: Any = None, after: Any = None) -> None:
    """From now on these hear of steps, and nobody else of ours."""
    global _heard
    _heard = before, after
    settle()


def settle() -> None:
    """Bring our hooks in line with who hears, as far as that can be done now: NOTE [Hooks]."""
    global unsettled
    unsettled = False
    stepping: bool | None = None
    for which, hears in enumerate((None, None) if _hidden else _heard):
        hook = _hooks[which]
        if hook is not None and hears is not None:
            hook.hooks_dict_ref()[hook.id] = hears
        elif hook is not None or hears is not None:
            stepping = is_stepping() if stepping is None else stepping
            if hook is None and not stepping:
                _hooks[which] = _registers[which](hears)
            elif stepping:
                unsettled = True
                if hook is not None:
                    hook.hooks_dict_ref()[hook.id] = _nothing
            else:
                hook.remove()
                _hooks[which] = None


def is_stepping() -> bool:
    """Are the hooks around an optimizer's step being called? (Not so while it runs itself, and a closure in it: LBFGS.)"""
    frame: Any = sys._getframe(1)
    inner: Any = None
    while frame is not None and (frame.f_code is not STEP or _runs(frame, inner)):
        frame, inner = frame.f_back, frame
    return frame is not None


def _runs(around: Any, inner: Any) -> bool:
    """Is it the step itself that the function around it has called?"""
    step = around.f_locals.get("func")
    if inner is None or inner.f_code is not getattr(step, "__code__", None):
        return False
    within = getattr(step, "__wrapped__", None)  # a decorator's function runs for many
    return within is None or inner.f_locals.get("func") is within


def has_others(args: Any) -> bool:
    """Does the program have hooks of its own around the step of the first of these?"""
    ours = {hook.id for hook in _hooks if hook is not None}
    names = "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"
    return any(getattr(args[0], name, None) for name in names if args) or any(
        set(hooks) - ours for hooks in (_global_optimizer_pre_hooks, _global_optimizer_post_hooks)
    )


def _nothing(*args: Any) -> None:
    pass


def hide(on: bool) -> None:
    """Nobody of ours hears of steps for a while."""
    global _hidden
    _hidden += 1 if on else -1
    settle()


def _optimizer_made(result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    if hub.optimizer_made is not None and at_home(True):
        safely("optimizers", hub.optimizer_made, optimizer)


def _clearing(original: Any) -> Any:
    @functools.wraps(original)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if hub.cleared is not None and not held.aside:
            safely("gradients", hub.cleared, [p for group in self.param_groups for p in group["params"]])
        original(self, set_to_none)

    return zero_grad


def _skipping(original: Any) -> Any:
    @functools.wraps(original)
    def _maybe_opt_step(self: Any, optimizer: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        global scaled
        scaled, before = True, steps
        result = original(self, optimizer, state, *args, **kwargs)
        if steps == before and hub.step_skipped is not None:
            safely("optimizers", hub.step_skipped, optimizer)
        return result

    return _maybe_opt_step


steps = 0  # of all optimizers
scaled = False  # has a GradScaler stepped? Whether it left one out is seen by their number


def step_began(optimizer: Any, args: Any, kwargs: Any) -> None:
    """An optimizer is about to step."""
    listening.settle()
    if not at_home():
        return
    if hub.step_began is not None:
        safely("optimizers", hub.step_began, optimizer)
    fills.step_began()


def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
    """An optimizer has stepped."""
    global steps
    steps += 1
    if not at_home():
        return
    twins.stepped()
    fills.stepped()
    if listening.ear.open:
        safely("optimizers", _written, optimizer, lines.here())
    if hub.stepped is not None:
        safely("optimizers", hub.stepped, optimizer)
    listening.settle()


def _written(optimizer: Any, place: Any) -> None:
    for group in optimizer.param_groups:
        for leaf in group["params"]:
            memory.written(leaf, place)


def _clipping() -> None:
    module = torch.nn.utils.clip_grad

    def told(parameters: Any, limit: Any) -> None:
        if hub.clipped is not None and not held.aside:
            found = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            safely("clipping", hub.clipped, found, float(limit))

    def clipping(original: Any) -> Any:
        @functools.wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(parameters, torch.Tensor):
                parameters = list(parameters)
            told(parameters, args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value", 0.0)))
            norm = args[1] if len(args) > 1 else kwargs.get("total_norm")
            result = original(parameters, *args, **kwargs)
            norm = norm if isinstance(norm, torch.Tensor) else result  # which older versions give back
            if hub.limited is not None and isinstance(norm, torch.Tensor) and not held.aside:
                safely("clipping", hub.limited, norm)
            return result

        return clip

    if hasattr(module, "_clip_grads_with_norm_"):  # what all of them call, however they were imported
        patch(module, "_clip_grads_with_norm_", clipping, itself)
    else:
        for owner in (module, torch.nn.utils):
            patch(owner, "clip_grad_norm_", clipping, itself)
    for owner in (module, torch.nn.utils):
        patch(owner, "clip_grad_value_", clipping, itself)
