"""The same steps compiled: by clarion, by PyTorch (which wants a C++ compiler), and jitted by JAX where it is installed."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .harness import WORKLOADS, Steps

# What is compiled whole: steps of training, and a chain of operations.
NAMES = (
    "seeds_training_loop", "elementwise_chain", "mlp_tiny_training", "mlp_large_training", "transformer_training",
    "character_gpt", "cnn_training", "lstm_training",
)  # fmt: skip


def compiled_steps(name: str, clarion: Any, torch: Any | None) -> Steps:
    """The compiled forms of a workload that exist here; what does not is said on standard error."""
    if name not in NAMES:
        return {}
    steps: Steps = {"clarion compiled": clarion.compile(WORKLOADS[name](clarion))}
    if torch is not None and shutil.which("g++") is not None:
        steps["PyTorch compiled"] = torch.compile(WORKLOADS[name](torch))
    jax_step = _in_jax(name)
    if jax_step is not None:
        steps["JAX jitted"] = jax_step
    return {kind: step for kind, step in steps.items() if _runs(kind, name, step)}


def _in_jax(name: str) -> Callable[[], object] | None:
    try:
        from . import in_jax
    except ImportError:
        return None
    prepare = in_jax.WORKLOADS.get(name)
    return None if prepare is None else prepare()


def _runs(kind: str, name: str, step: Callable[[], object]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                step()
    except Exception as error:
        print(f"{name}, {kind}: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
        return False
    return True
