"""The diagnoses on PyTorch itself: `import clarion.doctor; clarion.doctor.watch()`, and train as ever.

watch()                  from now on, to the end of the program; the summary comes at its end
with watch() as seen:    for a block; `seen.findings` is what was found
watch(strict=True)       raise clarion.DiagnosisError instead of warning
watch(thorough=True)     also what costs more
watch(listen_at=1200)    listen closely around this step, where a first run could not say the line
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..children import follow
from ..diagnose.finding import Finding as Finding
from ..errors import DiagnosisError as DiagnosisError
from ..errors import DiagnosisWarning as DiagnosisWarning

__all__ = ["DiagnosisError", "DiagnosisWarning", "Finding", "Watch", "findings", "watch"]


class Watch:
    """PyTorch is being watched, here and in the processes that the program starts; as a context, until it ends."""

    def __init__(self, strict: bool, thorough: bool, listen_at: int | None) -> None:
        self._watching, self._session, self._joined = _begun(strict, thorough, listen_at)
        self._leave_children: Callable[[], None] | None = None
        if self._watching is not None and not self._joined:
            how = {"strict": strict, "thorough": thorough, "listen_at": listen_at}
            self._leave_children = follow(f"{__name__}:watch", afterwards=True, **how)
        self._before = len(self._session.findings), self._session.strict, self._session.listen_at
        if self._joined:
            self._session.strict = self._session.strict or strict
            self._session.listen_at = listen_at or self._session.listen_at

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return list(self._session.findings[self._before[0] :])

    def stop(self) -> None:
        """Put PyTorch back as it was; whoever waits for the end of the program speaks now. Not while another watch goes on."""
        if not self._joined:
            if self._leave_children is not None:
                self._watching.end(self._session)
                self._leave_children()
                self._leave_children = None
            return
        _, self._session.strict, self._session.listen_at = self._before

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _begun(strict: bool, thorough: bool, listen_at: int | None) -> tuple[Any, Any, bool]:
    """What watches, its session, and has that begun before? On a PyTorch that cannot be watched, the program goes on unwatched."""
    from .versions import check

    try:
        check()
        from . import watching

        running = watching.running(thorough)
        return watching, running or watching.begin(strict, thorough, listen_at), running is not None
    except Exception as error:
        warnings.warn(f"Nothing is watched: {error}", RuntimeWarning, stacklevel=4)
        nothing = SimpleNamespace(findings=[], failures={}, silenced=set(), strict=strict, listen_at=listen_at)
        return None, nothing, False


def watch(*, strict: bool = False, thorough: bool = False, listen_at: int | None = None) -> Watch:
    """Watch what this process trains with PyTorch, and those that it starts.

    Where one runs already, it goes on: this one sees what is found from now on, and ends without ending the other.
    """
    return Watch(strict, thorough, listen_at)


def findings() -> list[Finding]:
    """What was found so far."""
    from .. import diagnose

    return diagnose.findings()


def __getattr__(name: str) -> Any:
    if name == "LightningCallback":
        from .lightning import LightningCallback

        return LightningCallback
    if name == "TrainerCallback":
        from .transformers import TrainerCallback

        return TrainerCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
