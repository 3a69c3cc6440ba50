"""Pipes brought back to where they stood."""

from __future__ import annotations

from typing import Any

from ...graph_settings import apply_random_seed
from .._hook_iterator import _SnapshotState


def _simple_graph_snapshot_restoration(datapipe: Any, n_iterations: int, rng: Any = None) -> None:
    """Go on with a pipe after its first `n_iterations` samples: they are computed once more."""
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph if your graph has "
            "not been restored."
        )
    datapipe.reset()
    apply_random_seed(datapipe, rng)
    iterator = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(iterator)
        except StopIteration as end:
            raise RuntimeError(
                f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of samples available."
            ) from end
    datapipe._fast_forward_iterator = iterator
    datapipe._snapshot_state = _SnapshotState.Restored
