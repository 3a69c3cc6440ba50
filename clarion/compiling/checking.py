"""`compile(…, check=True)`: every replay beside the function itself, and an error where they differ."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np

from ..core import provenance
from ..core.devices import to_host
from ..core.tensor import Tensor
from ..core.versions import VersionCounter
from ..kernels import mt19937
from ..pytree import tree_flatten, tree_unflatten
from .replay import Unfit

# Relative to the largest element: steps may be computed in another order, nothing else.
TOLERANCE = {"f": 2e-4, "d": 1e-8, "e": 1e-2}


class Snapshot:
    """Everything that a call may change, as it was."""

    def __init__(self, ready: Any, leaves: list[Any]) -> None:
        tensors = {id(t): t for t, _ in ready.watch.tensors}
        tensors |= {id(t): t for t in leaves if isinstance(t, Tensor)}
        self.gradients = {id(tensor._grad) for tensor in tensors.values() if tensor._grad is not None}
        for tensor in list(tensors.values()):
            if tensor._grad is not None:
                tensors[id(tensor._grad)] = tensor._grad
        self.tensors = [
            (t, t._array, t._array.copy("K"), t._grad, None if t._vc is None else t._vc.n) for t in tensors.values()
        ]
        self.random = mt19937.default_generator.get_state()
        philox = sys.modules.get("clarion.kernels.cuda.philox")  # where a GPU's come from
        self.elsewhere: Any = None if philox is None else philox.default_generator
        self.drawn = None if self.elsewhere is None else self.elsewhere.get_state()

    def restore(self) -> None:
        """Put all of it back."""
        for tensor, array, values, grad, version in self.tensors:
            tensor._array = array
            array[...] = values
            tensor._grad = grad
            if version is None:
                tensor._vc = None
            elif tensor._vc is not None:
                tensor._vc.n = version
        mt19937.default_generator.set_state(self.random)
        if self.elsewhere is not None:
            self.elsewhere.set_state(self.drawn)

    def values(self) -> list[tuple[str, Any]]:
        """What is there now: tensors, gradients, versions."""
        found: list[tuple[str, Any]] = []
        for i, (tensor, *_) in enumerate(self.tensors):
            if id(tensor) in self.gradients:  # (what has become of them stands with their leaves)
                continue
            found.append((f"tensor {i} of shape {tensor._array.shape}", _values(tensor._array)))
            found.append(
                (f"the gradient of tensor {i}", None if tensor._grad is None else _values(tensor._grad._array))
            )
        return found


def _values(array: Any) -> Any:
    """The values as they are now, on the host."""
    found = to_host(array)
    return found.copy() if found is array else found


def compared(compiled: Any, ready: Any, leaves: list[Any], args: Any, kwargs: Any) -> Any:
    """Replay, put everything back, run the function itself, and compare. What stays is the function's own."""
    before = Snapshot(ready, leaves)
    found = None
    with contextlib.suppress(Unfit):
        found = ready.call(leaves)
    if found is None:
        return compiled.function(*args, **kwargs)
    replayed, _ = found
    after = before.values()
    outs, shape = tree_flatten(replayed)
    outs = [_values(o._array) if isinstance(o, Tensor) else o for o in outs]
    before.restore()
    result = compiled.function(*args, **kwargs)
    own, own_shape = tree_flatten(result)
    if str(shape) != str(own_shape):
        raise _mismatch(compiled, ready, "the result", replayed, result)
    for i, (a, b) in enumerate(zip(outs, own, strict=True)):
        _compare(compiled, ready, f"result {i}", a, _values(b._array) if isinstance(b, Tensor) else b)
    for (name, a), (_, b) in zip(after, before.values(), strict=True):
        _compare(compiled, ready, name, a, b)
    return tree_unflatten(own, own_shape)


def _compare(compiled: Any, ready: Any, name: str, a: Any, b: Any) -> None:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if (a is None) != (b is None) or (not isinstance(a, np.ndarray) and a != b):
            raise _mismatch(compiled, ready, name, a, b)
        return
    if a.shape != b.shape or a.dtype != b.dtype:
        raise _mismatch(compiled, ready, name, a, b)
    if not a.size:
        return
    if a.dtype.kind not in "fc":
        if not np.array_equal(a, b):
            raise _mismatch(compiled, ready, name, a, b)
        return
    wide_a, wide_b = (x.astype(np.complex128 if a.dtype.kind == "c" else np.float64) for x in (a, b))
    finite = np.isfinite(wide_b)
    scale = float(np.abs(wide_b[finite]).max()) if finite.any() else 0.0
    close = np.isclose(
        wide_a,
        wide_b,
        rtol=TOLERANCE.get(a.dtype.char, 1e-2),
        atol=TOLERANCE.get(a.dtype.char, 1e-2) * scale,
        equal_nan=True,
    )
    if not close.all():
        raise _mismatch(compiled, ready, name, a, b)


def _mismatch(compiled: Any, ready: Any, name: str, a: Any, b: Any) -> Exception:
    from .function import CompileError

    places = {provenance.text(step.place) for step in ready.steps[-1:]}
    return CompileError(
        f"{compiled.name}, compiled, computes something else than the function itself: {name}\n"
        f"compiled: {a}\nas written: {b}\nlast step at {', '.join(places)}"
    )


__all__ = ["Snapshot", "VersionCounter", "compared"]
