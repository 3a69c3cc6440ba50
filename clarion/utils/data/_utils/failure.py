"""An exception of a worker on its way to the main process."""

from __future__ import annotations

import pickle
import traceback
from typing import Any


class _PlainText(str):
    """The message of a KeyError, which would otherwise be shown in quotes and on one line."""

    def __repr__(self) -> str:
        return str(self)


class Failure:
    """What was raised, as a type and a text that can be pickled, and where."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.where = where
        self.name = type(error).__name__
        self.text = "".join(traceback.format_exception(error))
        self.kind: Any = type(error)
        try:
            pickle.dumps(self.kind)
        except Exception:  # defined inside a function: the other process cannot know it
            self.kind = RuntimeError

    def reraise(self) -> None:
        """Raise the same type, with the traceback of where it happened in the text."""
        message = f"Caught {self.name} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            message = _PlainText(message)
        try:
            if getattr(self.kind, "message", None):  # its first argument is no text
                error = self.kind(message=message)
            else:
                error = self.kind(message)
        except Exception:  # it cannot be made from a text alone
            error = RuntimeError(message)
        raise error from None
