"""Passes and steps of PyTorch's while the session rests: of an ordinary one nothing is told.

Of each pass its loss is looked at; steps are counted. Where one optimizer steps once after every pass, steps are not heard of
at all: they are counted as passes, until the pass before one that is to be told. In the smallest loops every microsecond is felt.
"""

from __future__ import annotations

import functools
import threading
from math import inf, nan
from threading import get_ident
from time import thread_time
from typing import Any

import torch
from torch._C import TensorBase

from .. import diagnose
from ..events import ANY_WIDTH, hub
from . import engine, home, lines, optimizers
from .backward import Pass, elsewhere
from .nodes import held, hooks
from .patching import safely

_requires_grad = TensorBase.requires_grad.__get__
_sequence = torch.autograd._get_sequence_nr
_TOLD = 64  # one pass in so many is told, unless steps are counted as passes,
_SOON = 16  # and sooner when a rest has just begun
_SHORT = 250e-6  # in loops that take less of the processor, counting the nodes of every pass would be felt:
_skipped = 0  # 3: those of one in four are counted there
_limit = inf  # losses beyond this are told
_begun = (0, 0)  # the number of nodes when a pass began, and which one comes after it
_width: int | None = None  # how many had been made since the one before began, if that is known,
_widths: Any = ANY_WIDTH  # and how many are ordinary
_settled = 0  # passes before this one are all looked at
_ended = 0  # the number of nodes when the last pass ended, where every pass is counted
_mark = (0, 0)  # elsewhere: the number of nodes and of passes, now and then,
_rate = 0.0  # and how many nodes each pass had
_threads: Any = getattr(threading, "_active", (None, None))  # Python's threads: mostly there is one
_passes = 0
_told = 0  # of them, when the last one was told
_clock = (0.0, 0)  # a time of this thread, and the passes till then
_next = _TOLD  # the pass that is to be told
_rested = 0  # passes before this rest began
_alone: tuple[Any, int] | None = None  # the optimizer's story whose steps are counted as passes, since which
_alike: Any = None  # is asked of the pass that is looked at after so many
_pace: tuple[Any, int, int] | None = None  # the story that was looked at last, the passes and its steps till then
_OFTEN = 7  # one less than the steps after which that is done


def forget() -> None:
    """A new session begins."""
    global _passes, _told, _next, _skipped, _limit, _alone, _pace, _settled, _alike, _rested
    _alike = None
    _passes, _told, _next, _skipped, _limit, _alone, _pace, _settled, _rested = 0, 0, _TOLD, 0, inf, None, None, 0, 0


def rest(on: bool) -> None:
    """The session rests, or no longer."""
    global _alone, _pace, _clock, _next, _mark, _begun, _rested
    _alone = _pace = None
    if on:
        _rested = _passes
        _begun = _sequence(), _passes + 1
        _clock, _mark, _next = (thread_time(), _passes), (_sequence(), _passes), _passes + _SOON
        optimizers.hear(None, _stepped)
    else:
        optimizers.hear(optimizers.step_began, optimizers.stepped)


# Passes --------------------------------------------------------------------------------------------


def running(original: Any) -> Any:
    """A pass is told if its loss is out of all proportion, and one in some; and why it was refused."""

    @functools.wraps(original)
    def _engine_run_backward(roots: Any, *args: Any, **kwargs: Any) -> Any:
        global _passes, _ended, _begun
        if len(_threads) > 1 and get_ident() != home.number and not home.pass_begins():
            return elsewhere(original, roots, *args, **kwargs)
        _passes += 1
        if optimizers.unsettled:
            optimizers.settle()
        turn = _passes & _skipped
        alike = uncounted = turn and _settled < _passes < _next
        if not uncounted:
            alike = _is_alike()
        elif turn == _skipped:  # the next one is counted
            _begun = _sequence(), _passes + 1
        try:
            value = roots[0].item() if roots[0].is_cpu else 0.0 if uncounted else nan
        except (RuntimeError, AttributeError):  # several elements, no values, no tensor
            value = 0.0 if uncounted or isinstance(roots[0], torch.Tensor) else nan
        ordinary = -inf < value < _limit and alike
        if not ordinary or _passes >= _next:
            _look(ordinary, roots, args, kwargs)
        try:
            result = original(roots, *args, **kwargs)
        except RuntimeError as error:
            if hub.refused is not None and not held.aside:
                held.ended = min(held.ended, 0.5 - (_estimated_end() if _skipped else _ended))
                safely("backward passes", Pass(roots, kwargs.get("accumulate_grad", False)).refused, error)
            raise
        if not _skipped:
            _ended = _sequence()
        return result

    return _engine_run_backward


def _is_alike() -> bool:
    """Were as many nodes made since the pass before as ever? (Yes, if nobody counted them then.)"""
    global _begun, _width
    (nodes, expected), _begun = _begun, (_sequence(), _passes + 1)
    _width = _begun[0] - nodes if expected == _passes else None
    return _width is None or _width in _widths


def _look(ordinary: bool, roots: Any, args: Any, kwargs: Any) -> None:
    """A pass begins that is not to be passed over: tell it, unless it is ordinary and its step alone is waited for."""
    global _skipped, _clock, _next, _mark, _rate, _pace
    if _passes >= _next:
        (then, before), _clock = _clock, (thread_time(), _passes)
        _skipped = 3 if _clock[0] - then < (_passes - before) * _SHORT else 0
        _next = _passes + min(_TOLD, max(_SOON, _passes - _rested))
        (nodes_then, _), _mark = _mark, (_sequence(), _passes)
        _rate = (_mark[0] - nodes_then) / (_passes - before)
        ordinary = ordinary and _glanced(roots[0])
    if _hear_steps() and ordinary:
        return
    _pace = None  # on a GPU every pass is told: nothing is gained there by not hearing of steps
    _, retain, create = args[:3]
    told = hub.backward_began is not None and not held.aside
    if told and (not isinstance(roots[0], torch.Tensor) or _requires_grad(roots[0])):
        held.backward, held.roots = lines.here(), roots
        facts = (None,) * len(roots), bool(retain or create), bool(create), kwargs.get("accumulate_grad", False)
        safely("backward passes", hub.backward_began, roots, *facts)
        held.roots = ()


def glance(alike: Any, pause: int) -> None:
    """From now on one pass in `_TOLD` is told, too, if the node that it begins from is not `alike`."""
    global _alike
    _alike = alike


def _glanced(root: Any) -> bool:
    try:
        fn = root.grad_fn if _alike is not None and not held.aside else None
    except (RuntimeError, AttributeError):  # a view that was written to under no_grad, a GradientEdge
        return True
    return fn is None or hasattr(fn, "variable") or _alike(fn)


def _estimated_end() -> int:
    """The number of nodes when the last pass ended, if passes make as many as they did."""
    nodes, passes = _mark
    return nodes + int((_passes - 1 - passes) * _rate)


def passes_untold() -> int:
    """Passes since the last that was told, this one with them."""
    global _told
    since, _told = _passes - _told, _passes
    return max(since, 1)


def expect_losses(limit: float) -> None:
    """From now on a loss below this is nothing to speak of."""
    global _limit
    _limit = limit


def expect_widths(known: Any, settled: int = 0) -> None:
    """From now on a pass before which another number of nodes was made is told; until so many are counted, that is asked of all."""
    global _widths, _settled
    _widths, _settled = ANY_WIDTH if known is None else known, settled


def width() -> tuple[int | None, int]:
    """How many nodes were made since the pass before, if that is known, and how many passes there were."""
    return _width, _passes


def expect_step(steps: int) -> None:
    """One of so many steps is to be told."""
    global _next
    _next = min(_next, _passes + max(1, steps))


# Steps ---------------------------------------------------------------------------------------------


def _stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
    story = optimizer.__dict__.get("_story")
    if story is None:
        optimizers.stepped(optimizer, args, kwargs)
        return
    story.untold += 1
    if story.untold >= story.pause:
        optimizers.stepped(optimizer, args, kwargs)
        _compare(story)
        return
    optimizers.steps += 1
    if not story.untold & _OFTEN:
        _compare(story)


def _compare(story: Any) -> None:
    """Has every pass been followed by one step of this optimizer? Then passes alone are heard of, until the next step that is to be told."""
    global _pace, _alone, _next
    session = diagnose._session
    if session is None or not session.resting or get_ident() != home.number:
        return
    steps = story.steps + story.untold
    before, _pace = _pace, (story, _passes, steps)
    if (
        before is None
        or before[0] is not story
        or hooks.seen
        or optimizers.scaled
        or len(session.ledger.optimizers) != 1
    ):
        return
    if _passes - before[1] == steps - before[2] > 0:
        due = _passes + max(1, story.pause - story.untold)
        _alone, _next = (story, _passes), min(due, _next) if _passes - _rested < _TOLD else due
        optimizers.hear()


def _hear_steps() -> bool:
    """A pass begins, and its step is to be heard. Is that new?"""
    global _alone
    if _alone is None:
        return False
    (story, since), _alone = _alone, None
    story.untold += _passes - since - 1
    optimizers.hear(None, _stepped)
    return True


def count_steps() -> None:
    """Somebody asks how many there were, or the rest is over."""
    global _alone
    if _alone is not None:
        story, since = _alone
        story.untold += _passes - since
        _alone = story, _passes


engine.passes_untold = passes_untold
engine.expect_losses = expect_losses
engine.expect_widths = expect_widths
engine.width = width
engine.glance = glance
engine.count_steps = count_steps
engine.expect_step = expect_step
