"""What a loader does with data pipes: one seed for the pipes of all workers, and a part of the samples for each of them.

Who has no pipes does not load their modules: a pipe is known by an attribute of its class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ....ops.random.generator import Generator
from ..dataset import IterableDataset
from ..sampler import fresh_seed
from .worker import get_worker_info


def is_pipe(dataset: Any) -> bool:
    """Is it a pipe?"""
    return hasattr(type(dataset), "_family")


def wrapped(dataset: Any, shuffle: bool | None) -> Any:
    """The pipe as workers are sent it, shuffled or not as the loader was told."""
    from ..datapipes import datapipe
    from ..graph_settings import apply_shuffle_settings

    if not isinstance(dataset, IterableDataset):
        return datapipe._MapDataPipeSerializationWrapper(dataset)
    apply_shuffle_settings(dataset, shuffle=shuffle)
    return datapipe._IterDataPipeSerializationWrapper(dataset)


def seeded(dataset: Any, generator: Generator | None) -> int | None:
    """Seed the pipes of a graph for an epoch; the seed, which workers are told. None: there are no pipes."""
    if not (is_pipe(dataset) and isinstance(dataset, IterableDataset)):
        return None
    seed = fresh_seed(generator)
    seed_pipes(dataset, seed)
    return seed


def seed_pipes(dataset: Any, seed: int | None) -> None:
    """Seed the pipes of a graph from a seed, if there is one."""
    if seed is not None:
        from ..graph_settings import apply_random_seed

        generator = Generator()
        generator.manual_seed(seed)
        apply_random_seed(dataset, generator)


def shard(dataset: Any, workers: int = 1, worker: int = 0) -> None:
    """Tell a pipe which part of the samples is this process's."""
    if is_pipe(dataset):
        from ..graph_settings import apply_sharding

        apply_sharding(dataset, workers, worker)


def init_fn_for(dataset: Any, init_fn: Callable[[int], None] | None, seed: int | None) -> Callable[[int], None] | None:
    """What a worker calls first: the user's function, and before it what its pipes need."""
    return functools.partial(_begin, init_fn, seed) if is_pipe(dataset) else init_fn


def _begin(init_fn: Callable[[int], None] | None, seed: int | None, worker: int) -> None:
    info = get_worker_info()
    assert info is not None
    seed_pipes(info.dataset, seed)
    shard(info.dataset, info.num_workers, worker)
    if init_fn is not None:
        init_fn(worker)
