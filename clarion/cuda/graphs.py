"""Whole steps captured on the GPU: `CUDAGraph`, `graph`. (Parts of a model: graphed.py.)

    fast = clarion.cuda.graph(step)     # forward, backward, clipping, optimizer
    for x, y in loader:
        loss = fast(x, y)               # from the third call on: one launch

The first calls run as they are written; then the work of one call is noted, and later calls replay it. Arguments are copied to where
the graph reads them; other shapes or plain values are captured anew. What would make a replay differ from the step itself (a value read
on the host, random numbers drawn there, a learning rate scheduler inside) is refused, with the line.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..core import provenance
from ..core.tensor import Tensor, new_tensor
from ..errors import EngineError
from ..kernels.captures import current
from ..kernels.cuda.arena import Arena
from ..kernels.cuda.capture import Capture
from ..kernels.cuda.memory import Pool
from ..pytree import tree_flatten, tree_unflatten

SMALL = 1 << 20  # bytes of a result that is copied, so that the next replay does not overwrite it in the caller's hands


class CUDAGraph:
    """A graph of work: `capture_begin()`, `capture_end()`, `replay()`."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._capture: Capture | None = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin to note work down."""
        if current() is not None:
            raise EngineError("a graph is being captured already in this thread")
        self._capture = Capture(pool)
        self._capture.begin()

    def capture_end(self) -> None:
        """End to note work down."""
        self._there().end()

    def replay(self) -> None:
        """Do all of it, in one launch."""
        self._there().replay()

    def reset(self) -> None:
        """Forget the graph and its memory."""
        self._capture = None

    def pool(self) -> Pool:
        """Where the graph's memory comes from; another graph may share it."""
        return self._there().pool

    def _there(self) -> Capture:
        if self._capture is None:
            raise EngineError("Called CUDAGraph::replay without a preceding successful capture.")
        return self._capture


def graph_pool_handle() -> Pool:
    """A pool that several graphs may share."""
    return Arena()


class graph:
    """`with graph(g):` captures into the CUDAGraph `g`; `graph(step)` makes a step that is captured and replayed."""

    def __new__(cls, what: Any, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls) if isinstance(what, CUDAGraph) else Captured(what, *args, **kwargs)

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        self.cuda_graph, self._pool = cuda_graph, pool

    def __enter__(self) -> None:
        self.cuda_graph.capture_begin(self._pool)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.cuda_graph.capture_end()
        else:
            self.cuda_graph._there().abandon()


class _Entry:
    """What is known of calls with arguments of one kind."""

    def __init__(self) -> None:
        self.calls = 0
        self.capture: Capture | None = None
        self.inputs: list[Tensor] = []
        self.outputs: list[Any] = []
        self.shape: Any = None


class Captured:
    """A function whose work is captured and replayed."""

    def __init__(self, function: Callable[..., Any], warmup: int = 2) -> None:
        self.function, self.warmup = function, warmup
        self._entries: dict[Any, _Entry] = {}
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, shape = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        key = (str(shape), tuple([_kind(leaf) for leaf in leaves]))
        entry = self._entries.setdefault(key, _Entry())
        if entry.capture is None:
            entry.calls += 1
            if entry.calls <= self.warmup:
                return self.function(*args, **kwargs)
            self._capture(entry, leaves, shape)
            entry.capture.replay(refresh=False)  # type: ignore[attr-defined]
            return self._results(entry)
        from ..core import modes

        with modes.no_grad():
            for place, value in zip(entry.inputs, tensors, strict=True):
                if place is not value:
                    place.copy_(value)  # type: ignore[attr-defined]
        entry.capture.replay()
        return self._results(entry)

    def _capture(self, entry: _Entry, leaves: list[Any], shape: Any) -> None:
        static = [new_tensor(leaf._array.copy()) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        entry.inputs = [leaf for leaf in static if isinstance(leaf, Tensor)]
        args, kwargs = tree_unflatten(static, shape)
        capture = Capture()
        capture.begin()
        try:
            result = self.function(*args, **kwargs)
        except BaseException as error:
            capture.abandon()
            raise _refusal(error) from error
        capture.end()
        entry.outputs, entry.shape = tree_flatten(result)
        entry.capture = capture

    @staticmethod
    def _results(entry: _Entry) -> Any:
        given = [
            new_tensor(out._array.copy()) if isinstance(out, Tensor) and out._array.nbytes <= SMALL else out
            for out in entry.outputs
        ]
        return tree_unflatten(given, entry.shape)


def _kind(leaf: Any) -> Any:
    return (leaf._array.shape, leaf._array.dtype) if isinstance(leaf, Tensor) else leaf


def _refusal(error: BaseException) -> BaseException:
    """What to say of a step that cannot be captured: the line, and what to change."""
    if not isinstance(error, Exception):
        return error
    return EngineError(
        f"This step cannot be captured: {type(error).__name__}: {error}\n"
        f"at {provenance.text(provenance.of_error(error))}\n"
        "A captured step runs on the GPU alone: no .item(), float(), print of a value, no branch on one, no random numbers drawn on the "
        "host, no new learning rate inside. Move that line out of the step, or run the step as it is."
    )


def __getattr__(name: str) -> Any:
    """PyTorch has these names here, too."""
    if name in ("make_graphed_callables", "is_current_stream_capturing"):
        from . import present

        return getattr(present, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
