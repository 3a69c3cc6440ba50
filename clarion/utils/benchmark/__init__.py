"""`torch.utils.benchmark`: how long a statement takes."""

from __future__ import annotations

from typing import Any

from .compare import Compare as Compare
from .measurement import Measurement as Measurement
from .measurement import TaskSpec as TaskSpec
from .measurement import select_unit as select_unit
from .measurement import trim_sigfig as trim_sigfig
from .measurement import unit_to_english as unit_to_english
from .timer import Timer as Timer


def __getattr__(name: str) -> Any:
    if name in (
        "CallgrindStats",
        "FunctionCounts",
        "FuzzedParameter",
        "FuzzedTensor",
        "Fuzzer",
        "ParameterAlias",
        "Language",
    ):
        raise AttributeError(
            f"clarion does not have torch.utils.benchmark.{name}: there are Timer, Measurement and Compare"
        )
    raise AttributeError(f"clarion.utils.benchmark has no attribute {name!r}")
