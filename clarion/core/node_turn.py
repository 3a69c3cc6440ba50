"""What happens around a node when its turn comes: hooks, retained and captured gradients, anomaly mode."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..events import hub
from ..kernels.coo import Coo
from . import modes, provenance
from .devices import xp_of
from .hooks import run_tensor_hooks
from .leaves import accumulated
from .node import Node
from .passes import Pass
from .tensor import Tensor
from .user_hooks import check_tuple, guarded, run_prehooks, to_tensor, to_world


def before_node(this: Pass, node: Node, g: Any) -> Any:
    """Tensor hooks, then retained gradients, then prehooks of the node if it is to run.

    A gradient that is asked for is what the hooks made of it if the pass ends here; if the node runs, what came to it.
    """
    many = type(g) is tuple
    parts = list(g) if many else [g]
    numbers = range(len(parts)) if many else _numbers(node)
    hooks = node.hooks
    runs = this.needed is None or node in this.needed
    if runs:
        _capture(this, node, numbers, parts)
    for i, nr in enumerate(numbers):
        if hooks is not None and nr in hooks.tensor:  # of several outputs, those without a gradient get None
            given = None if parts[i] is None else to_tensor(parts[i])
            parts[i] = to_world(this, guarded(this, run_tensor_hooks, hooks.tensor[nr], given))
        if hooks is not None and nr in hooks.retain and parts[i] is not None:
            keeper = hooks.retain[nr]()
            if keeper is not None:
                keeper._grad = accumulated(this, keeper._grad, parts[i], keeper._array)
    if not runs:
        _capture(this, node, numbers, parts)
    if hooks is not None and hooks.pre and runs:
        before = tuple(to_tensor(p) if p is not None else None for p in parts)
        parts = [to_world(this, p) for p in run_prehooks(this, hooks, before)]
    return tuple(parts) if many else parts[0]


def _capture(this: Pass, node: Node, numbers: Sequence[int], parts: list[Any]) -> None:
    """Keep the gradients of outputs that were asked for."""
    if this.capture is not None:
        for nr, part in zip(numbers, parts, strict=True):
            for position in this.capture.get(node if nr == 0 else (node, nr), ()):
                this.captured[position] = part


def _numbers(node: Node) -> Sequence[int]:
    op = getattr(type(node), "op", None)
    return op.grad_outputs if op is not None and node.n_out > 1 else (0,)


def after_node(this: Pass, node: Node, result: Any, g: Any) -> Any:
    """Post hooks: `hook(grad_inputs, grad_outputs)`."""
    inputs = tuple(None if r is None else to_tensor(r) for r in result)
    parts = () if g is None else g if type(g) is tuple else (g,)
    outputs = tuple(None if x is None else to_tensor(x) for x in parts)
    assert node.hooks is not None
    for hook in tuple(node.hooks.post.values()):
        changed = guarded(this, hook, inputs, outputs)
        if changed is not None:
            changed = changed if isinstance(changed, tuple) else (changed,)
            check_tuple(hook, inputs, changed)
            inputs = changed
    return [None if t is None else to_world(this, t) for t in inputs]


# Anomaly mode --------------------------------------------------------------------------------------


def apply_checked(this: Pass, node: Node, g: Any, edges: Any) -> Any:
    """Anomaly mode: an error names the forward line, and NaN gradients are refused where they are born."""
    if not modes.state.anomaly:
        return _apply_told(this, node, g, edges)
    try:
        result = node.apply_tensors(g, edges) if this.create_graph else node.apply_raw(g, edges)
    except Exception as error:
        _warn_forward(node)
        raise error
    if modes.state.anomaly_check_nan:
        for i, r in enumerate(result):
            array = r._array if isinstance(r, Tensor) else r
            if array is not None and array.dtype.kind in "fc" and xp_of(array).isnan(array).any():
                _warn_forward(node)
                raise errors.EngineError(
                    f"Function '{type(node).__name__}' returned nan values in its {i}th output.\n"
                    f"The operation was recorded at {provenance.text(node.place)}."
                )
    return result


def _apply_told(this: Pass, node: Node, g: Any, edges: Any) -> Any:
    """Somebody watches every node of this pass."""
    result = node.apply_tensors(g, edges) if this.create_graph else node.apply_raw(g, edges)
    if hub.ran is not None:
        hub.ran(node, g, result if not Coo.met else [r.dense() if type(r) is Coo else r for r in result])
    return result


def _warn_forward(node: Node) -> None:
    """Say where a node that failed was recorded; and where those were whose gradients it was recorded for."""
    text, told = f"Error detected in {type(node).__name__}.", " Traceback of forward call that caused the error:\n"
    at: Node | None = node
    while at is not None:
        kept = at.__dict__.get("_metadata", {})
        if kept.get("traceback_"):
            text += told + "".join(kept["traceback_"])
        else:
            text += (
                " No forward pass information available. Enable detect anomaly during forward pass for more information. "
                f"It was recorded at {provenance.text(at.place)}."
            )
        try:
            warnings.warn(text, UserWarning, stacklevel=2)
        except UserWarning as refused:  # warnings are errors here: what went wrong in the node is still the news
            print(f"Warning: {refused}", file=sys.stderr)
        at = kept.get("parent_")
        text = f"\n\nPrevious calculation was induced by {type(at).__name__}."
        told = " Traceback of forward call that induced the previous calculation:\n"
