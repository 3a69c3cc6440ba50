"""Activation checkpointing: drop what a region saved, and compute it again when backward asks for it.

A client of the way in which nodes save values only, as saved-tensor hooks are. In the forward pass every saved value is
replaced by an empty holder. When backward unpacks the first holder of a region, the region runs again (random state
replayed) and what it saves fills the holders in the same order; it stops as soon as the last is filled.

The region's tensor arguments are themselves saved by a small node, so that a checkpoint inside a
checkpoint drops them too: nesting needs nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import errors
from ..absent import rest
from ..autograd import retrace
from ..core import backward, modes, passes, provenance
from ..core.function import Function
from ..core.tensor import Tensor
from ..kernels.random import default_generator
from ..pytree import tree_leaves
from .recomputation import CheckpointError as CheckpointError
from .recomputation import GraphExecGroup as GraphExecGroup
from .recomputation import Region, as_remembered, leaf_like

__all__ = [  # noqa: F822  (the selective ones are loaded when they are asked for)
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip
_SELECTIVE = (
    "CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts", "_CachingTorchDispatchMode",
    "_CachedTorchDispatchMode",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _SELECTIVE:  # loaded when it is asked for: it stands on operations of ATen, which few programs name
        from . import selective_checkpoint

        return getattr(selective_checkpoint, name)
    return _rest(name)


_rest = rest(__name__)

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
    """Whether errors list all operations of both runs: overrides what `checkpoint(debug=)` says; None leaves it."""
    global _debug
    before = _debug
    _debug = enabled
    try:
        yield
    finally:
        _debug = before


def check_backward_validity(inputs: Any) -> None:
    """Say so if no input requires a gradient."""
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same values outside the graph, as ready for gradients as they were."""
    if not isinstance(inputs, tuple):
        raise errors.EngineError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(v.detach().requires_grad_(v.requires_grad) if isinstance(v, Tensor) else v for v in inputs)


class DefaultDeviceType:
    """The kind of device whose random numbers are replayed where no argument says."""

    _kind = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set it."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """Which it is."""
        return DefaultDeviceType._kind


def _generators(args: Any) -> list[Any]:
    """The devices other than the CPU that tensors among the arguments live on."""
    found = {
        a.get_device(): a for a in tree_leaves(args) if isinstance(a, Tensor) and a.device.type not in ("cpu", "meta")
    }
    return list(found)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Numbers of the devices that arguments live on (but the CPU), and the states of their random generators."""
    from ..cuda import get_rng_state

    numbers = _generators(args)
    return numbers, [get_rng_state(number) for number in numbers]


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Set the states that `get_device_states` gave."""
    from ..cuda import set_rng_state

    for number, state in zip(devices, states, strict=True):
        set_rng_state(state, number)


def noop_context_fn() -> tuple[Any, Any]:
    """No contexts around forward and recomputation."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _noted() -> tuple[Any, Any]:
    """Which random numbers come next: something that tells whether others were drawn since, and the state."""
    return default_generator.moment(), default_generator.get_state()


@contextlib.contextmanager
def _replayed(noted: tuple[Any, Any] | None) -> Iterator[None]:
    """Random numbers as they were; afterwards as if nothing had been drawn."""
    if noted is None:
        yield
        return
    moment, state = noted
    before = state
    if default_generator.moment() != moment:
        before = default_generator.get_state()
        default_generator.set_state(state)
    now = default_generator.moment()
    try:
        yield
    finally:
        if before is not state or default_generator.moment() != now:
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
    state = _noted() if preserve else None

    def recompute(values: tuple[Any, ...]) -> None:
        with _replayed(state), recompute_context:
            run(values)

    region = Region(recompute, flat, determinism_check == "default")
    region.early_stop = _early_stop and early_stop
    region.debug = debug if _debug is None else _debug
    trace = region.trace = retrace.Trace() if region.debug else retrace.begin()
    region.told = functools.partial(retrace.tell, function, region.place, preserve, trace)
    hooks = modes.push_saved_hooks(region)
    try:
        with forward_context, retrace.listening(trace):
            result = function(*args, **kwargs)
    finally:
        modes.set_saved_hooks(hooks)
    region.forward_complete = True
    return result


# The older way: a custom Function whose backward runs the region again and calls backward inside backward ----


class CheckpointFunction(Function):
    """use_reentrant=True."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = _noted() if preserve else None
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
        inputs = tuple(leaf_like(next(saved)) if t else o for t, o in zip(ctx.is_tensor, ctx.others, strict=True))
        again = None if ctx.trace is None else retrace.begin()
        with _replayed(ctx.state), modes.enable_grad(), as_remembered(ctx.contexts), retrace.listening(again):
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
