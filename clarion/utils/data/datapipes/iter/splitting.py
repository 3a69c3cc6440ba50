"""One pipe as several, which are read from one iterator of it: what one of them is ahead of the others is buffered."""

from __future__ import annotations

import copy as copying
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .._decorator import functional_datapipe
from .._hook_iterator import _SnapshotState
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, _check_unpickable_fn

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


def _as_it_is(sample: Any) -> Any:
    return sample


_COPIES = {None: _as_it_is, "shallow": copying.copy, "deep": copying.deepcopy}


def _at_least_one(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """Several pipes, each of which gives all samples (functional name: ``fork``)."""

    def __new__(  # type: ignore[misc]
        cls, datapipe: IterDataPipe[Any], num_instances: int, buffer_size: int = 1000, copy: str | None = None
    ) -> Any:
        _at_least_one(num_instances)
        if num_instances == 1:
            return datapipe
        whole = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(whole, number) for number in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """Several pipes, each of which gives the samples of one class (functional name: ``demux``)."""

    def __new__(  # type: ignore[misc]
        cls,
        datapipe: IterDataPipe[Any],
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        _at_least_one(num_instances)
        _check_unpickable_fn(classifier_fn)
        whole = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(whole, number) for number in range(num_instances)]


class _Container(IterDataPipe[Any]):
    """What the children of a fork read from."""

    main_datapipe: IterDataPipe[Any]
    num_instances: int

    def _warn_unlimited(self, name: str, buffer_size: int) -> None:
        if buffer_size < 0:
            warnings.warn(
                f"Unlimited buffer size is set for `{name}`, please be aware of OOM at random places",
                UserWarning,
                stacklevel=4,
            )

    def _begin(self) -> None:
        self._datapipe_iterator: Iterator[Any] | None = None
        self._child_stop = [True] * self.num_instances

    def _start(self, instance_id: int) -> None:
        """The first child that is read begins a new iteration of the source, for all of them."""
        if self._datapipe_iterator is None and self._child_stop[instance_id]:
            self._datapipe_iterator = iter(self.main_datapipe)
            self._snapshot_state = _SnapshotState.Iterating
            self._child_stop = [False] * self.num_instances

    def reset(self) -> None:
        self._begin()


class _ForkerIterDataPipe(_Container):
    _passing = (
        "_datapipe_iterator", "_child_stop", "buffer", "child_pointers", "slowest_ptr", "leading_ptr", "end_ptr",
    )  # fmt: skip

    def __init__(
        self, datapipe: IterDataPipe[Any], num_instances: int, buffer_size: int = 1000, copy: str | None = None
    ) -> None:
        self.main_datapipe = datapipe
        self.num_instances = num_instances
        self.buffer_size = buffer_size
        self._warn_unlimited("fork", buffer_size)
        if copy not in _COPIES:
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.copy_fn = _COPIES[copy]
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        self.buffer: deque[Any] = deque()
        self.child_pointers = [0] * self.num_instances  # how many samples each has had
        self.slowest_ptr = 0
        self.leading_ptr = 0
        self.end_ptr: int | None = None

    def __len__(self) -> int:
        return len(self.main_datapipe)  # type: ignore[arg-type]

    def get_length_by_instance(self, instance_id: int) -> int:
        """Each child gives all samples."""
        return len(self)

    def is_every_instance_exhausted(self) -> bool:
        """Have all children given all samples?"""
        return self.end_ptr is not None and all(self._child_stop)

    def _sample(self, place: int) -> Any:
        """The sample at a place (counted from 1): buffered, or the next one of the source."""
        if self.buffer and place <= self.leading_ptr:
            return self.buffer[place - self.slowest_ptr - 1]
        self.leading_ptr = place
        assert self._datapipe_iterator is not None
        sample = next(self._datapipe_iterator)
        self.buffer.append(sample)
        return sample

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """The samples, for one child."""
        self._start(instance_id)
        try:
            while not self._child_stop[instance_id]:
                self.child_pointers[instance_id] += 1
                place = self.child_pointers[instance_id]
                if place == self.end_ptr:
                    break
                try:
                    sample = self._sample(place)
                except StopIteration:
                    self._datapipe_iterator = None
                    self.end_ptr = self.leading_ptr
                    break
                if place == self.slowest_ptr + 1 and self.slowest_ptr < (slowest := min(self.child_pointers)):
                    self.slowest_ptr = slowest
                    self.buffer.popleft()
                if 0 <= self.buffer_size < self.leading_ptr - self.slowest_ptr:
                    raise BufferError(
                        f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient."
                    )
                yield self.copy_fn(sample)
        finally:
            self._child_stop[instance_id] = True
            if all(self._child_stop):
                self._datapipe_iterator = None
                self._cleanup()

    def _cleanup(self) -> None:
        while self.buffer:
            StreamWrapper.close_streams(self.buffer.popleft())

    def __del__(self) -> None:
        if "buffer" in self.__dict__:
            self._cleanup()


class _ChildDataPipe(IterDataPipe[Any]):
    """One of the pipes that a fork gives."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: Any, instance_id: int) -> None:
        if not hasattr(main_datapipe, "get_next_element_by_instance"):
            raise AssertionError("main_datapipe must implement _ContainerTemplate")
        self.main_datapipe = main_datapipe
        self.instance_id = instance_id

    def __iter__(self) -> Iterator[Any]:
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self.main_datapipe.get_length_by_instance(self.instance_id)  # type: ignore[no-any-return]

    def _set_main_datapipe_valid_iterator_id(self) -> int:
        """A child that is iterated again begins another round: the others' iterators are of the one before."""
        whole = self.main_datapipe
        if whole._valid_iterator_id is None:
            whole._valid_iterator_id = 0
        elif whole._valid_iterator_id == self._valid_iterator_id:
            whole._valid_iterator_id += 1
            if not whole.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and each "
                    "child DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=2,
                )
            whole.reset()
        self._valid_iterator_id = whole._valid_iterator_id
        return self._valid_iterator_id  # type: ignore[return-value]

    def _check_valid_iterator_id(self, number: int) -> bool:
        return number == self._valid_iterator_id == self.main_datapipe._valid_iterator_id


class _DemultiplexerIterDataPipe(_Container):
    _passing = (
        "_datapipe_iterator", "_child_stop", "current_buffer_usage", "child_buffers", "main_datapipe_exhausted",
    )  # fmt: skip

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool,
        buffer_size: int,
    ) -> None:
        self.main_datapipe = datapipe
        self.num_instances = num_instances
        self.buffer_size = buffer_size
        self._warn_unlimited("demux", buffer_size)
        self.classifier_fn = classifier_fn
        self.drop_none = drop_none
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        self.current_buffer_usage = 0
        self.child_buffers: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self.main_datapipe_exhausted = False

    def _start(self, instance_id: int) -> None:
        if self._datapipe_iterator is None and self._child_stop[instance_id]:
            self.main_datapipe_exhausted = False
        super()._start(instance_id)

    def get_length_by_instance(self, instance_id: int) -> int:
        """Nobody knows how many samples a class has."""
        raise TypeError

    def is_every_instance_exhausted(self) -> bool:
        """Have all children given all their samples?"""
        return self.main_datapipe_exhausted and all(self._child_stop)

    def _class_of(self, sample: Any) -> int | None:
        found = self.classifier_fn(sample)
        if found is None and self.drop_none:
            return None
        if found is None or not 0 <= found < self.num_instances:
            raise ValueError(
                f"Output of the classification fn should be between 0 and {self.num_instances - 1}. {found} is returned."
            )
        return found

    def _find_next(self, instance_id: int) -> Any:
        """The next sample of a class; those of others before it are buffered."""
        if self._datapipe_iterator is None:
            raise ValueError(
                "_datapipe_iterator has not been set, likely because this private method is called directly without "
                "invoking get_next_element_by_instance() first."
            )
        while True:
            sample = next(self._datapipe_iterator)
            found = self._class_of(sample)
            if found is None:
                StreamWrapper.close_streams(sample)
            elif found == instance_id:
                return sample
            else:
                self.child_buffers[found].append(sample)
                self.current_buffer_usage += 1
                if 0 <= self.buffer_size < self.current_buffer_usage:
                    raise BufferError(
                        f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient."
                    )

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """The samples of one class."""
        self._start(instance_id)
        try:
            while not self._child_stop[instance_id]:
                if self.child_buffers[instance_id]:
                    self.current_buffer_usage -= 1
                    yield self.child_buffers[instance_id].popleft()
                    continue
                if self.main_datapipe_exhausted:
                    break
                try:
                    sample = self._find_next(instance_id)
                except StopIteration:
                    self.main_datapipe_exhausted = True
                    self._datapipe_iterator = None
                    break
                yield sample
        finally:
            self._child_stop[instance_id] = True
            if all(self._child_stop):
                self._datapipe_iterator = None
            if self.child_buffers[instance_id]:
                self._cleanup(instance_id)

    def _cleanup(self, instance_id: int | None = None) -> None:
        for number in range(self.num_instances) if instance_id is None else [instance_id]:
            while self.child_buffers[number]:
                StreamWrapper.close_streams(self.child_buffers[number].popleft())

    def __del__(self) -> None:
        if "child_buffers" in self.__dict__:
            self._cleanup()
