"""`no_grad()` and its like inside of what `torch.compile` made: marks (NOTE [Marks] in marks.py), told as the modes themselves are.

Dynamo makes two nodes of a block, which set whether is recorded. So the twin does not record there, either; where only the marks
are told, each sets it for those behind it.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import torch
from torch.utils import _contextlib

from ..events import hub
from . import graphs, lines
from .patching import safely


class Block:
    """A mode of the program's, and the object that stands for it from entering to leaving."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.is_entered = False  # by `with`? Else it is a statement
        self.inside = False  # of a module's `forward`?
        self.mode: Any = None


class Switching:
    """A mode is entered or left."""

    behind: Any = None
    effect: Any = None

    def __init__(self, block: Block, entered: bool, records: bool, caller: Any, function: Any) -> None:
        self._block, self._entered, self._records = block, entered, records
        self._caller, self._function = caller or graphs.call, function

    def tell(self) -> None:
        """Tell it, from its line. NOTE [Leaks] of the switches: what is compiled has no frame that could end, so it is told as if it
        stood above a function."""
        torch._C._set_grad_enabled(self._records)
        if self._entered and not self._block.is_entered:
            _statements.append(self)
        self._caller(decorate_context, (self._function or self._block, self.switch, self._entered), {})

    def switch(self, entered: bool) -> None:
        """Enter it, or leave it."""
        block = self._block
        mode = block.mode
        if mode is None and entered:
            mode = block.mode = block.cls.__new__(block.cls)
            mode.inside = block.inside  # `graph/layers.py` looks for it
        if not entered:
            block.mode = None
        if hub.mode is not None and mode is not None:
            safely("gradient modes", hub.mode, mode, entered)

    def stay(self) -> None:
        """It is a statement, and what is compiled is over: nobody will undo it."""
        torch._C._set_grad_enabled(self._records)
        self._caller(self.switch, (True,), {})
        self._block.mode.inside = None  # of nothing any more
        self._block.mode = None


_statements: list[Switching] = []  # of the graph that runs


def ended() -> None:
    """What is compiled has run: what it has switched by statements stays as the last one left it."""
    if not _statements:
        return
    last, recording = _statements[-1], torch.is_grad_enabled()
    while _statements:
        _statements.pop().switch(False)
    last.stay()
    torch._C._set_grad_enabled(recording)


def decorate_context(func: Any, switch: Any, entered: bool) -> None:
    """`engine.decorates` looks for this frame."""
    switch(entered)


def start(patch: Any, note: Any, caller_of: Any) -> None:
    """Patch the places where Dynamo reads that a mode is made, entered and left."""
    from torch._dynamo.variables.ctx_manager import GradModeVariable, InferenceModeVariable
    from torch._dynamo.variables.torch import TorchCtxManagerClassVariable

    def noted(block: Block, tx: Any, entered: bool) -> None:
        # While Dynamo reads, it keeps the mode that the code would have. (It does not enter inference mode.)
        records = torch.is_grad_enabled() and not (entered and issubclass(block.cls, torch.inference_mode))
        note(tx.output, Switching(block, entered, records, caller_of(tx), _decorated(tx)))

    def making(original: Any) -> Any:
        @functools.wraps(original)
        def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            made = original(self, tx, args, kwargs)
            with contextlib.suppress(Exception):  # what Dynamo keeps differs from version to version
                if isinstance(made, (GradModeVariable, InferenceModeVariable)) and _is_users(tx):
                    block = Block(self.value)
                    block.inside = _is_inside(tx)
                    _blocks[id(made)] = made, block
                    if self.value is torch.set_grad_enabled:  # it acts when it is made
                        noted(block, tx, True)
            return made

        return call_function

    def switching(entered: bool, original: Any) -> Any:
        @functools.wraps(original)
        def switch(self: Any, tx: Any, *args: Any) -> Any:
            found = original(self, tx, *args)
            with contextlib.suppress(Exception):
                _, block = _blocks.get(id(self), (None, None))
                if block is not None:
                    block.is_entered = True
                    noted(block, tx, entered)
            return found

        return switch

    patch(TorchCtxManagerClassVariable, "call_function", making)
    for cls in (GradModeVariable, InferenceModeVariable):
        patch(cls, "enter", functools.partial(switching, True))
        patch(cls, "exit", functools.partial(switching, False))


_blocks: dict[int, tuple[Any, Block]] = {}  # by the variable that stands for it in what Dynamo reads


def forget() -> None:
    """What Dynamo has read is read."""
    _blocks.clear()


def _is_inside(tx: Any) -> bool:
    """Is it the `forward` of a module that is read, or something that it calls?"""
    while tx is not None and tx.f_code.co_name != "forward":
        tx = getattr(tx, "parent", None)
    return tx is not None


def _is_users(tx: Any) -> bool:
    file = tx.f_code.co_filename
    return file == _contextlib.__file__ or not lines._is_engine(file)


def _decorated(tx: Any) -> Any:
    """The function above which the mode stands, if it is a decorator."""
    if tx.f_code.co_filename != _contextlib.__file__:
        return None
    if tx.parent is None:
        return tx.output.local_scope.get("func")
    return tx.funcvar.get_function().__wrapped__
