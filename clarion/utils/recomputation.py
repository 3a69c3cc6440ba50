"""A checkpointed region: what stands in the graph for the values it dropped, and how it is run again to fill them in."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .. import errors
from ..autograd import retrace
from ..core import modes, passes, provenance
from ..core.devices import CPU, ndarray
from ..core.dtypes import FROM_NUMPY, Size
from ..core.function import Function
from ..core.messages import told
from ..core.node import Node
from ..core.saved import Replaced
from ..core.tensor import Tensor, created, new_tensor
from ..kernels.batched.array import chain_of, in_chain


class CheckpointError(errors.EngineError):
    """The recomputation of a checkpointed region saved other values than its forward pass.

    The region must do the same operations both times: no dependence on anything that changes in
    between (a counter, a global, the time, random numbers drawn elsewhere).
    """


@contextlib.contextmanager
def as_remembered(contexts: list[contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


class _Holder(Replaced):
    """Stands in the graph for a value that will be recomputed: run -> the value, or None once handed out."""

    __slots__ = ("__weakref__", "levels", "region", "values")
    levels: tuple[Any, ...]  # of `vmap`
    region: Region
    values: dict[int, Tensor | None]

    def value(self) -> Tensor:
        return self.region.unpack(self)

    packed = property(lambda self: self)
    unpack_hook = property(lambda self: self.region.unpack)


_OUTSIDE = -1  # stands for the number of a pass where there is none
_OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute gradients) is "
    "not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)


class GraphExecGroup:
    """Backward passes inside run a checkpointed region again once for all of them; they must not use the same values."""

    current: GraphExecGroup | None = None

    def __enter__(self) -> GraphExecGroup:
        if GraphExecGroup.current is not None:
            raise errors.EngineError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {GraphExecGroup.current}"
            )
        GraphExecGroup.current = self
        return self

    def __exit__(self, *_: object) -> None:
        GraphExecGroup.current = None


class _Stop(Exception):
    """Recomputation has provided everything."""


class _SaveInputs(Function):
    """Saves the tensor arguments of a region in the graph, where outer hooks can see them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(dummy: Tensor, *tensors: Tensor) -> Tensor:
        return new_tensor(dummy._array.copy())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Its output is only a place to keep the inputs: it has no tangent."""
        return None

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise errors.EngineError("the arguments of a checkpoint are not differentiated through this node")


class Region:
    """One checkpointed call: how to run it again, its holders, and what they held."""

    trace: retrace.Trace | None = None  # of the forward pass, where somebody listens
    again: retrace.Trace | None = None  # of the last recomputation
    told: Callable[[retrace.Trace | None], None]  # tells them of the second run

    def __init__(self, recompute: Callable[[tuple[Any, ...]], None], args: tuple[Any, ...], check: bool) -> None:
        self.recompute = recompute
        self.check = check
        self.early_stop = True
        self.debug = False
        self.place = provenance.here()
        self.contexts = [note() for note in retrace.remembered]
        self.holders: list[weakref.ref[_Holder]] = []
        self.metadata: list[tuple[Any, ...]] = []
        self.places: list[provenance.Place | None] = []
        self.done: set[int] = set()
        self.counts: dict[int, int] = {}
        self.forward_complete = False
        self.begun = False  # it was run again before its forward pass had come to its end: that saves more
        tensors = [a for a in args if isinstance(a, Tensor)]
        self._others = [None if isinstance(a, Tensor) else a for a in args]
        self._is_tensor = [isinstance(a, Tensor) for a in args]
        self._saver = _SaveInputs.apply(_dummy(), *tensors).grad_fn

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the call, tensors detached but as ready for gradients as they were."""
        saved = iter(self._saver.saved_tensors)
        return tuple(leaf_like(next(saved)) if t else o for t, o in zip(self._is_tensor, self._others, strict=True))

    def keep(self, tensor: Tensor, node: Node, as_output: bool = False) -> _Holder:
        """Forward pass: an empty holder takes the place of a saved value; what that looked like is noted."""
        holder = _Holder(tensor, as_output)
        holder.region, holder.values = self, {}
        holder.levels = chain_of(tensor._array) if modes.batches else ()
        self.holders.append(weakref.ref(holder))
        self.metadata.append(_describe(tensor))
        self.places.append(node.place)
        if self.trace is not None:
            self.trace.keep(tensor)
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """Backward pass: run the region once per pass (or group of them), then hand out what it filled in."""
        this = passes.running.this
        if this is not None and this.number in self.done and GraphExecGroup.current is None:
            value = holder.values.get(this.number)
            if value is not None:  # as it is mostly
                holder.values[this.number] = None
                return value
        run = id(GraphExecGroup.current) if GraphExecGroup.current is not None else self._run_number()
        try:
            if run not in self.done:
                self._run_again(run)
            return self._hand_out(holder, run)
        except CheckpointError as error:
            if not self.debug:
                raise
            raise CheckpointError(_debug_text(self.trace, self.again)) from error
        finally:
            if run == _OUTSIDE:  # somebody looks at saved values: they are computed for this once
                self.done.discard(run)

    def _run_number(self) -> int:
        return passes.current_run() if passes.running.this is not None else _OUTSIDE

    def _hand_out(self, holder: _Holder, run: int) -> Tensor:
        if run not in holder.values:
            raise CheckpointError(
                "torch.utils.checkpoint: this value was not recomputed; the region did something else"
            )
        value = holder.values[run]
        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{_OVERLAP if GraphExecGroup.current is not None else ''}If you are calling ctx.saved_tensors in "
                "backward, make sure to do so only once. Otherwise please open an issue with details on your use case."
            )
        holder.values[run] = None
        return value

    def _run_again(self, run: int) -> None:
        args = self.arguments()
        self.counts[run] = 0
        again = self.again = None if self.trace is None else retrace.Trace() if self.debug else retrace.begin()
        recording, hooks = modes.set_grad(True), modes.push_saved_hooks(_Filling(self, run))
        try:
            with contextlib.suppress(_Stop), as_remembered([*self.contexts, retrace.listening(again)]):
                self.recompute(args)
        finally:
            modes.set_saved_hooks(hooks)
            modes.set_grad(recording)
        self.done.add(run)
        self._check_match(run)
        self.told(again)

    def count_error(self, run: int, more: bool = False) -> CheckpointError:
        """The error of a run that saved fewer values than the first, or more."""
        count = f"at least {self.counts[run]}" if more else str(self.counts[run])
        missing = ""
        if not more and self.counts[run] < len(self.places):
            missing = (
                f"The first that was not saved again comes from {provenance.text(self.places[self.counts[run]])}.\n"
            )
        what = (
            "trying to save more tensors during recomputation than during the original forward pass."
            if more
            else "A different number of tensors was saved during the original forward and recomputation."
        )
        error = CheckpointError(
            f"torch.utils.checkpoint: {what}\nNumber of tensors saved during forward: {len(self.holders)}\n"
            f"Number of tensors saved during recomputation: {count}.\n{missing}"
            f"The region was checkpointed at {provenance.text(self.place)}. It must do the same both times: look for "
            "a branch on something that changes between the two runs."
        )
        differs = provenance.here() if more else self.places[self._first_difference(run)]
        return self._told(error, differs, (len(self.holders), self.counts[run]))

    def _told(
        self, error: CheckpointError, differs: provenance.Place | None, saved: tuple[int, int] | None
    ) -> CheckpointError:
        both = self.trace is not None and self.again is not None
        operation = self.trace.first_other_operation(self.again) if both else None  # type: ignore[union-attr, arg-type]
        return told(error, checkpoint=self.place, differs=differs, operation=operation, saved=saved)

    def _first_difference(self, run: int) -> int:
        """The first value that was not saved again, or looks different."""
        for i in range(self.counts[run]):
            value = self._recomputed(i, run)
            if value is not None and _describe(value) != self.metadata[i]:
                return i
        return min(self.counts[run], len(self.places) - 1)

    def _recomputed(self, i: int, run: int) -> Tensor | None:
        holder = self.holders[i]()
        return holder.values.get(run) if holder is not None else None

    def _check_match(self, run: int) -> None:
        if self.begun:
            return
        if self.counts[run] != len(self.holders):
            raise self.count_error(run)
        if not self.check:
            return
        wrong = ""
        for i in range(len(self.holders)):
            value = self._recomputed(i, run)
            if value is not None and _describe(value) != self.metadata[i]:
                wrong += (
                    f"tensor at position {i}:\nsaved metadata: {_metadata_text(self.metadata[i])}\n"
                    f"recomputed metadata: {_metadata_text(_describe(value))}\n"
                    f"saved at {provenance.text(self.places[i])}\n"
                )
        if wrong:
            error = CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during "
                f"the forward pass.\n{wrong}.\nThe region was checkpointed at {provenance.text(self.place)}."
            )
            raise self._told(error, self.places[self._first_difference(run)], None)


class _Filling:
    """The second run of a region: what it saves is put into the holders of the first, one by one, and stays as it is."""

    def __init__(self, region: Region, run: int) -> None:
        self.region, self.run = region, run

    def keep(self, tensor: Tensor, node: Node, as_output: bool = False) -> None:
        """The next saved value."""
        region, run = self.region, self.run
        position = region.counts[run]
        region.counts[run] = position + 1
        if region.again is not None:
            region.again.keep(tensor)
        if position < len(region.holders):
            holder = region.holders[position]()
            if holder is not None:
                value = holder.values[run] = _outside(tensor)
                if holder.levels and chain_of(value._array) != holder.levels:  # the second run mapped anew
                    value = holder.values[run] = new_tensor(in_chain(value._array, holder.levels))
            if region.early_stop and position + 1 == len(region.holders):
                raise _Stop
        elif not region.early_stop:
            if region.forward_complete:
                raise region.count_error(run, more=True)
            region.begun = True


def _outside(tensor: Tensor) -> Tensor:
    """A recomputed value without the history of the second run. (Nobody is told that it is detached.)"""
    if not tensor._rg:
        return tensor
    if type(tensor) is not Tensor:
        return tensor.detach()
    value = new_tensor(tensor._array)
    value._vc = tensor._counter()
    return value


def _dummy() -> Tensor:
    import numpy as np

    return created(np.zeros((0,), np.float32), requires_grad=True)


def leaf_like(tensor: Tensor) -> Tensor:
    """An argument for the second run: the same, outside the graph of the first."""
    if not tensor._rg and modes.dual is None:
        return tensor
    leaf = tensor.detach()
    if modes.special and modes.dual is not None:
        modes.dual.carry(tensor, leaf)
    leaf._rg = tensor._rg
    return leaf


def _describe(tensor: Tensor) -> tuple[Any, ...]:
    array = tensor._array
    return array.shape, array.dtype, CPU if type(array) is ndarray else tensor.device


def _metadata_text(described: tuple[Any, ...]) -> str:
    shape, dtype, device = described
    return str({"shape": Size(shape), "dtype": FROM_NUMPY[dtype], "device": device})


def _debug_text(first: retrace.Trace | None, again: retrace.Trace | None) -> str:
    """`debug=True`: the operations of both runs, each with its line."""
    runs = []
    for title, trace in (("during the original forward", first), ("during recomputation", again)):
        done = [] if trace is None else trace.operations
        lines = "\n".join(
            f"{name}   ({i + 1} of {len(done)}) at {provenance.text(place)}" for i, (name, place, _) in enumerate(done)
        )
        runs.append(f"Operations executed {title}:\n\n{lines}")
    return (
        " An error happened while unpacking tensors; dumping logs of latest computation\n"
        "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n"
        "Scroll all the way down for guidance on how to navigate these logs.\n\n"
        + "\n\n".join(runs)
        + "\n\n ERROR: Detected non-determinism while running activation checkpointing\n\n"
        " You are seeing this error because you passed `debug=True` to checkpoint and\n"
        " the tensors saved during the original forward differ from those saved during\n"
        " recomputation: compare the operations above to see where the two runs part."
    )
