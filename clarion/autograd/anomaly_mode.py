"""Anomaly mode: the backward pass stops at the node that first returns NaN, and names its forward line."""

from __future__ import annotations

import warnings
from typing import Any

from ..core import modes


class detect_anomaly:
    """Context manager: check every gradient for NaN, and keep the forward traceback of every node."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = modes.state.anomaly, modes.state.anomaly_check_nan
        modes.set_anomaly(True, self.check_nan)

    def __exit__(self, *_: Any) -> None:
        modes.set_anomaly(*self._before)


class set_detect_anomaly:
    """Switch anomaly mode on or off: takes effect at once, and ends with the block if used as a context manager."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = modes.state.anomaly, modes.state.anomaly_check_nan
        modes.set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        modes.set_anomaly(*self._before)


def is_anomaly_enabled() -> bool:
    """Is anomaly mode on in this thread?"""
    return modes.state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Does anomaly mode look for NaN?"""
    return modes.state.anomaly_check_nan
