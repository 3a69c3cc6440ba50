"""`torch.utils.data.graph_settings`: order, seeds and shards of all pipes of a graph."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ...ops.random.generator import Generator
from .datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from .graph import DataPipeGraph, traverse_dps
from .sampler import fresh_seed

__all__ = [
    "apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes",
]  # fmt: skip


def get_all_graph_pipes(graph: DataPipeGraph) -> list[Any]:
    """The pipes of a graph, each once."""
    found: dict[int, Any] = {}

    def walk(graph: DataPipeGraph) -> None:
        for number, (pipe, below) in graph.items():
            if number not in found:
                found[number] = pipe
                walk(below)

    walk(graph)
    return list(found.values())


def _has_methods(pipe: Any, *names: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def _is_sharding_datapipe(pipe: Any) -> bool:
    return isinstance(pipe, _ShardingIterDataPipe) or _has_methods(pipe, "apply_sharding")


def apply_sharding(
    datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
) -> Any:
    """Tell the pipes that shard which part is theirs; there may be one of them on each way to the source."""

    def walk(graph: DataPipeGraph, before: Any) -> None:
        for pipe, below in graph.values():
            applied = before
            if _is_sharding_datapipe(pipe):
                if before is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. Sharding "
                        f"already applied to {before} while trying to apply to {pipe}"
                    )
                if len(inspect.signature(pipe.apply_sharding).parameters) < 3:
                    pipe.apply_sharding(num_of_instances, instance_id)
                else:
                    pipe.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)
                applied = pipe
            walk(below, applied)

    walk(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Turn the shuffling of a graph on or off; with no shuffler in it, one is put at its end."""
    if shuffle is None:
        return datapipe
    pipes = get_all_graph_pipes(traverse_dps(datapipe))
    shufflers = [pipe for pipe in pipes if _has_methods(pipe, "set_shuffle", "set_seed")]
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that "
            "the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Generator) -> Any:
    """The old name of `apply_random_seed`."""
    warnings.warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. Please use "
        "`apply_random_seed` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe: Any, rng: Generator | None) -> Any:
    """Seed all pipes of a graph that draw numbers, from one generator."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has_methods(pipe, "set_seed"):
            pipe.set_seed(fresh_seed(rng))
    return datapipe
