"""`DataLoader`, and its iterator in the main process."""

from __future__ import annotations

import math
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from ...core.devices import is_available
from ...errors import ArgumentTypeError, ArgumentValueError
from ...ops.random.generator import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import DatasetKind
from ._utils.pin_memory import pin_memory
from ._utils.pipes import is_pipe, seeded, shard, wrapped
from ._utils.worker import get_worker_info as get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, fresh_seed

T_co = TypeVar("T_co", covariant=True)


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of a stream: only the dataset knows when it ends."""

    def __iter__(self) -> Any:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a dataset, loaded here or by worker processes.

    dataset                  samples by key (anything with `__getitem__` and `__len__`), or an IterableDataset
    batch_size               samples per batch; None: samples one by one, as they are
    shuffle                  another random order in every epoch
    sampler, batch_sampler   an order of one's own: of keys, or of lists of keys
    num_workers              processes that load ahead; 0: load in this one
    collate_fn               a list of samples into a batch (default_collate; default_convert for batch_size=None)
    pin_memory               batches come in page-locked memory, which a GPU reads by itself: x.to("cuda", non_blocking=True)
    drop_last                leave out a last batch that is not full
    timeout                  seconds to wait for a batch of a worker; 0: for ever
    worker_init_fn           called with the worker's number in each worker, after it was seeded
    multiprocessing_context  "fork", "spawn", "forkserver", or a context
    generator                what order and workers' seeds are drawn from
    prefetch_factor          batches that each worker loads ahead (2)
    persistent_workers       keep workers from one epoch to the next
    in_order                 False: batches come as they are ready
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    batch_sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: Any
    _initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.prefetch_factor = _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = wrapped(dataset, shuffle) if is_pipe(dataset) else dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = DatasetKind.Iterable if isinstance(dataset, IterableDataset) else DatasetKind.Map
        if self._dataset_kind == DatasetKind.Iterable:
            _check_stream(None if is_pipe(dataset) else shuffle, sampler, batch_sampler)
        _check_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if self._dataset_kind == DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self._initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None: the way of the platform."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers <= 0:
                raise ArgumentValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ArgumentValueError(
                        f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, BaseContext):
                raise ArgumentTypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self._multiprocessing_context = context

    _FIXED = frozenset(["batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"])

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in self._FIXED:
            raise ArgumentValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None or self._iterator.ended:
            self._iterator = self._get_iterator()
        else:
            self._iterator.restart(self)
        return self._iterator  # type: ignore[no-any-return]

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        from ._utils.parallel import _MultiProcessingDataLoaderIter

        return _MultiProcessingDataLoaderIter(self)

    def __len__(self) -> int:
        if self._dataset_kind == DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more workers than processors."""
        if not self.num_workers:
            return
        known = hasattr(os, "sched_getaffinity")
        processors = len(os.sched_getaffinity(0)) if known else os.cpu_count()
        if processors is None:
            advice = "DataLoader is not able to compute a suggested max number of worker in current system."
        elif self.num_workers > processors:
            advice = (
                f"Our suggested max number of worker in current system is {processors}"
                f"{'' if known else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create."
            )
        else:
            return
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {advice} Please be aware that "
            "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


# What is wrong with the arguments -----------------------------------------------------------------------------


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> int | None:
    """The prefetch factor to use."""
    if num_workers < 0:
        raise ArgumentValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ArgumentValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ArgumentValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ArgumentValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ArgumentValueError("persistent_workers option needs num_workers > 0")
    return 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ArgumentValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}\n"
                "The order of a stream is the dataset's own affair: shuffle inside its __iter__."
            )


def _check_batches(batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any) -> None:
    if sampler is not None and shuffle:
        raise ArgumentValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ArgumentValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ArgumentValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


_collate_fn_t = Callable[[list[Any]], Any]


# Iterators ------------------------------------------------------------------------------------------------------


class _BaseDataLoaderIter:
    """One pass over a loader. What it draws at the start, and in which order, is PyTorch's."""

    ended = False

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._pin_memory = loader.pin_memory and is_available("cuda")
        if loader.pin_memory and not self._pin_memory:
            _warn_pin_memory(loader.pin_memory_device)
        self._shared_seed = seeded(self._dataset, loader.generator)
        self._start(loader)
        self._base_seed = fresh_seed(loader.generator)

    def _start(self, loader: DataLoader[Any]) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        if self._pin_memory:
            data = pin_memory(data)
        self._num_yielded += 1
        if self._IterableDataset_len_called is not None and self._num_yielded > self._IterableDataset_len_called:
            self._warn_longer()
        return data

    def _warn_longer(self) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._IterableDataset_len_called}(when accessing "
            f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset "
                "replica at each worker. Split the stream by torch.utils.data.get_worker_info() in its __iter__."
            )
        warnings.warn(text, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Loads in this process, when asked."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError(
                "_SingleProcessDataLoaderIter requires timeout == 0: only workers (num_workers > 0) can be waited for"
            )
        shard(self._dataset)
        self._fetcher = DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._fetcher.fetch(self._next_index())


def _warn_pin_memory(device: str) -> None:
    if device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{device}'.",
            stacklevel=6,
        )
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
        stacklevel=6,
    )


def __getattr__(name: str) -> Any:
    """Names of PyTorch's file whose classes lie in others here."""
    if name == "_MultiProcessingDataLoaderIter":
        from ._utils.parallel import _MultiProcessingDataLoaderIter

        return _MultiProcessingDataLoaderIter
    if name == "_DatasetKind":
        return DatasetKind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
