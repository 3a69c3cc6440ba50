"""Steps that may turn out to be none: the device finds out whether they are, and the host hears it later (amp/grad_scaler.py)."""

from __future__ import annotations

from typing import Any

from ..core.devices import HALVES
from ..kernels import captures
from .optimizer import Optimizer


class MayBeUndone(Optimizer):
    """An optimizer whose updates leave everything as it is if a number of the device says so (kernels/unless.py)."""

    counters: tuple[str, ...]

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        raise NotImplementedError

    def _is_fresh(self, state: dict[str, Any], names: tuple[str, ...]) -> bool:
        raise NotImplementedError

    def can_be_undone(self) -> bool:
        """Can a step leave everything as it is if a number of the device says so, and the counters be set back later?"""
        for group in self.param_groups:
            names = self._kept(group)
            for param in group["params"]:
                if param._grad is not None:
                    array = param._array
                    if type(array) not in HALVES or array.dtype.itemsize > 4 or param._grad._array.dtype != array.dtype:
                        return False
                    if (names or self.counters) and self._is_fresh(self.state.get(param, {}), names):
                        return False
        return captures.current() is None

    def counted(self) -> list[tuple[Any, Any]]:
        """The counters of all parameters as they are, and their values. (They may lie elsewhere after a step: it gathers them.)"""
        found = [state[name] for state in self.state.values() for name in self.counters if name in state]
        return [(counter, counter._array.copy()) for counter in found]

    def settle(self) -> None:
        """Whether the last step was one is known from now on."""
        settle = self.__dict__.pop("_unsettled", None)
        if settle is not None:
            settle()

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer."""
        self.settle()
        return super().state_dict()
