"""Activation checkpointing: drop what a region saved, and compute it again when backward asks for it.

A client of the saved-tensor hooks only. In the forward pass every saved value is replaced by an empty
holder. When backward unpacks the first holder of a region, the region runs again (random state
replayed) under hooks that fill the holders in the same order, and stops as soon as the last is filled.

The region's tensor arguments are themselves saved by a small node, so that a checkpoint inside a
checkpoint drops them too: nesting needs nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import errors
from ..autograd import retrace
from ..autograd.graph import saved_tensors_hooks
from ..core import backward, modes, passes, provenance
from ..core.function import Function
from ..core.messages import told
from ..core.tensor import Tensor, created, new_tensor
from ..kernels.random import default_generator


class CheckpointError(errors.EngineError):
    """The recomputation of a checkpointed region saved other values than its forward pass.

    The region must do the same operations both times: no dependence on anything that changes in
    between (a counter, a global, the time, random numbers drawn elsewhere).
    """


_early_stop = True


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether recomputation stops at the last value it has to provide."""
    global _early_stop
    before = _early_stop
    _early_stop = enable
    try:
        yield
    finally:
        _early_stop = before


_debug: bool | None = None


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accepted for compatibility: errors always name the lines, so there is nothing to turn on."""
    global _debug
    before = _debug
    _debug = enabled
    try:
        yield
    finally:
        _debug = before


@contextlib.contextmanager
def _as_remembered(contexts: list[contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


class _Holder:
    """Stands in the graph for a value that will be recomputed: run -> the value, or None once handed out."""

    __slots__ = ("__weakref__", "position", "values")

    def __init__(self, position: int) -> None:
        self.position = position
        self.values: dict[int, Tensor | None] = {}


class _Stop(Exception):
    """Recomputation has provided everything."""


class _SaveInputs(Function):
    """Saves the tensor arguments of a region in the graph, where outer hooks can see them."""

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


class _Region:
    """One checkpointed call: how to run it again, its holders, and what they held."""

    trace: retrace.Trace | None = None  # of the forward pass, where somebody listens
    again: retrace.Trace | None = None  # of the last recomputation
    told: Callable[[retrace.Trace | None], None]  # tells them of the second run

    def __init__(self, recompute: Callable[[tuple[Any, ...]], None], args: tuple[Any, ...], check: bool) -> None:
        self.recompute = recompute
        self.check = check
        self.early_stop = _early_stop
        self.place = provenance.here()
        self.contexts = [note() for note in retrace.remembered]
        self.holders: list[weakref.ref[_Holder]] = []
        self.metadata: list[tuple[Any, ...]] = []
        self.places: list[Any] = []
        self.done: set[int] = set()
        self.counts: dict[int, int] = {}
        self.forward_complete = False
        tensors = [a for a in args if isinstance(a, Tensor)]
        self._others = [None if isinstance(a, Tensor) else a for a in args]
        self._is_tensor = [isinstance(a, Tensor) for a in args]
        self._saver = _SaveInputs.apply(_dummy(), *tensors).grad_fn

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the call, tensors detached but as ready for gradients as they were."""
        saved = iter(self._saver.saved_tensors)
        return tuple(_leaf_like(next(saved)) if t else o for t, o in zip(self._is_tensor, self._others, strict=True))

    def pack(self, tensor: Tensor) -> _Holder:
        """Forward pass: keep an empty holder and what the value looked like."""
        holder = _Holder(len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.metadata.append(_describe(tensor))
        self.places.append(provenance.here())
        if self.trace is not None:
            self.trace.keep(tensor)
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """Backward pass: run the region once per pass, then hand out what it filled in."""
        try:
            run = passes.current_run()
        except errors.EngineError:
            run = -id(holder)  # somebody looks at saved values outside backward: recompute for them alone
        if run not in self.done:
            self._run_again(run)
        if run not in holder.values:
            raise CheckpointError(
                "torch.utils.checkpoint: this value was not recomputed; the region did something else"
            )
        value = holder.values[run]
        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
                "are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue "
                "with details on your use case."
            )
        holder.values[run] = None
        return value

    def _run_again(self, run: int) -> None:
        args = self.arguments()
        self.counts[run] = 0
        again = self.again = None if self.trace is None else retrace.begin()

        def fill(tensor: Tensor) -> Tensor:
            position = self.counts[run]
            self.counts[run] += 1
            if again is not None:
                again.keep(tensor)
            if position >= len(self.holders):
                if not self.early_stop:
                    raise self._count_error(run, more=True)
                return tensor.detach()
            holder = self.holders[position]()
            if holder is not None:
                holder.values[run] = tensor.detach()
            if self.early_stop and self.counts[run] == len(self.holders):
                raise _Stop
            return tensor.detach()

        hooks = saved_tensors_hooks(fill, lambda value: value)
        around = _as_remembered([*self.contexts, retrace.listening(again)])
        with contextlib.suppress(_Stop), hooks, modes.enable_grad(), around:
            self.recompute(args)
        self.done.add(run)
        self._check_match(run)
        self.told(again)

    def _count_error(self, run: int, more: bool = False) -> CheckpointError:
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
        if self.counts[run] != len(self.holders):
            raise self._count_error(run)
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


def _dummy() -> Tensor:
    import numpy as np

    return created(np.zeros((0,), np.float32), requires_grad=True)


def _leaf_like(tensor: Tensor) -> Tensor:
    leaf = tensor.detach()
    if modes.special and modes.dual is not None:
        modes.dual.carry(tensor, leaf)
    leaf._rg = tensor._rg
    return leaf


def _describe(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.dtype, tensor.device


def _metadata_text(described: tuple[Any, ...]) -> str:
    return str(dict(zip(("shape", "dtype", "device"), described, strict=True)))


def noop_context_fn() -> tuple[Any, Any]:
    """No contexts around forward and recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _replayed(state: Any) -> Iterator[None]:
    """Random numbers as they were; afterwards as if nothing had been drawn."""
    if state is None:
        yield
        return
    before = default_generator.get_state()
    default_generator.set_state(state)
    try:
        yield
    finally:
        default_generator.set_state(before)


def _split_kwargs(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """One flat tuple of arguments, and a function of it."""
    names, count = tuple(kwargs), len(args)

    def run(flat: tuple[Any, ...]) -> Any:
        return fn(*flat[:count], **dict(zip(names, flat[count:], strict=True)))

    return run, (*args, *kwargs.values())


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)` without keeping what it saves: backward computes it again."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if "
            "you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise errors.ArgumentValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise errors.ArgumentValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return _reentrant(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise errors.ArgumentValueError(
            f"determinism_check should be one of ['default', 'none'] but got {determinism_check}"
        )
    forward_context, recompute_context = context_fn()
    if not (modes.special == 0 or modes.recording()):
        with forward_context:
            return function(*args, **kwargs)
    run, flat = _split_kwargs(function, args, kwargs)
    state = default_generator.get_state() if preserve else None

    def recompute(values: tuple[Any, ...]) -> None:
        with _replayed(state), recompute_context:
            run(values)

    region = _Region(recompute, flat, determinism_check == "default")
    region.early_stop = region.early_stop and early_stop
    trace = region.trace = retrace.begin()
    region.told = functools.partial(retrace.tell, function, region.place, preserve, trace)
    with saved_tensors_hooks(region.pack, region.unpack), forward_context, retrace.listening(trace):
        result = function(*args, **kwargs)
    region.forward_complete = True
    return result


# The older way: a custom Function whose backward runs the region again and calls backward inside backward ----


class CheckpointFunction(Function):
    """use_reentrant=True."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = default_generator.get_state() if preserve else None
        ctx.contexts = [note() for note in retrace.remembered]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        ctx.place, ctx.trace = provenance.here(), retrace.begin()
        with modes.no_grad(), retrace.listening(ctx.trace):
            outputs = function(*args)
        _keep_outputs(ctx.trace, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not passes.accumulates_everything():
            raise errors.EngineError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        saved = iter(ctx.saved_tensors)
        inputs = tuple(_leaf_like(next(saved)) if t else o for t, o in zip(ctx.is_tensor, ctx.others, strict=True))
        again = None if ctx.trace is None else retrace.begin()
        with _replayed(ctx.state), modes.enable_grad(), _as_remembered(ctx.contexts), retrace.listening(again):
            outputs = ctx.function(*inputs)
        _keep_outputs(again, outputs)
        retrace.tell(ctx.function, ctx.place, ctx.state is not None, ctx.trace, again)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise errors.EngineError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward.backward(tuple(o for o, _ in pairs), tuple(g for _, g in pairs))
        return None, None, *(a._grad if isinstance(a, Tensor) else None for a in inputs)


def _keep_outputs(trace: retrace.Trace | None, outputs: Any) -> None:
    if trace is not None:
        for output in (outputs,) if isinstance(outputs, Tensor) else outputs:
            if isinstance(output, Tensor):
                trace.keep(output)


def _reentrant(function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
    if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=3)
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Tensor, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a sequence of functions in `segments` parts, all but the last checkpointed."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
            "version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, "
            "but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
            "more details on the differences between the two variants.",
            UserWarning,
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise errors.ArgumentValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    parts: Sequence[Callable[..., Any]] = (
        list(functions.children()) if hasattr(functions, "children") else list(functions)
    )

    def chain(start: int, end: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for part in parts[start : end + 1]:
                value = part(value)
            return value

        return run

    size = len(parts) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(chain(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return chain(end + 1, len(parts) - 1)(input)
