"""`torch.compiler.set_stance`: whether compiled functions run as they are written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..errors import EngineError, NotSupportedError

# Under the last two PyTorch runs the first call as it is written: so does clarion, always.
_STANCES = ("default", "force_eager", "eager_on_recompile", "eager_then_compile", "aot_eager_then_compile")


class _Now:
    """What is chosen, for all threads."""

    stance = "default"
    eager = False
    busy = 0  # threads in which a function is being watched or recorded

    def choose(self, stance: str) -> str:
        """Choose a stance; returns the one before."""
        before, self.stance, self.eager = self.stance, stance, stance == "force_eager"
        return before


now = _Now()


class set_stance:  # it is called like a function
    """From the call on a stance holds; as a context or decorator for a block or a function only."""

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if force_backend is not None and stance != "default":
            raise EngineError("non-default stance cannot have force_backend set")
        if stance == "fail_on_recompile":
            raise NotSupportedError(
                "set_stance('fail_on_recompile'): clarion compiles a function anew for arguments of other shapes and does not "
                "refuse to; torch.compiler.reset() forgets what was compiled"
            )
        if stance not in _STANCES:
            raise EngineError(f"invalid torch.compile stance '{stance}'")
        self.stance = stance
        self._before = now.choose(stance)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        now.choose(self._before)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return function(*args, **kwargs)

        return call

    def __enter__(self) -> None:
        now.choose(self.stance)

    def __exit__(self, *_: object) -> None:
        now.choose(self._before)
