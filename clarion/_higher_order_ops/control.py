"""`torch.cond`, `torch.while_loop` and `map`: a choice and loops as functions. They run as the same words of Python do, and autograd sees what ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..errors import EngineError
from ..ops.faces.api import FUNCTIONS
from ..pytree import tree_flatten, tree_leaves, tree_unflatten


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """`true_fn(*operands)` if `pred` (a bool, or a tensor with one element) is true, else `false_fn(*operands)`."""
    if not isinstance(pred, (bool, int, float, Tensor)) or (isinstance(pred, Tensor) and pred.numel() != 1):
        raise EngineError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise EngineError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not all(
        isinstance(leaf, (Tensor, int)) for leaf in tree_leaves(operands)
    ):
        raise EngineError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got "
            f"{operands}."
        )
    return true_fn(*operands) if pred else false_fn(*operands)


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """`f(x, *args)` for each part of `xs` along the first dimension; the results stacked. Containers are gone through."""
    leaves, spec = tree_flatten(xs)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise EngineError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [leaf.shape for leaf in leaves]
    count = shapes[0][0]
    if count == 0:
        raise EngineError("Leading dimensions of mapped xs cannot be 0.")
    if any(shape[0] != count for shape in shapes):
        raise EngineError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    results = [tree_flatten(f(tree_unflatten([leaf[i] for leaf in leaves], spec), *args)) for i in range(count)]
    parts = zip(*[found for found, _ in results], strict=True)
    return tree_unflatten([None if part[0] is None else FUNCTIONS["stack"](part) for part in parts], results[0][1])


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """`carried_inputs` after `body_fn` has been applied to them for as long as `cond_fn` says so."""
    if not callable(cond_fn) or not callable(body_fn):
        raise EngineError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)) or not all(
        isinstance(leaf, (Tensor, int, float)) for leaf in tree_leaves(carried_inputs)
    ):
        raise EngineError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor or int leaves, "
            f"but got {carried_inputs}."
        )
    values = tuple(carried_inputs)
    while _goes_on(cond_fn(*values)):
        new = body_fn(*values)
        if not isinstance(new, (tuple, list)) or [_looks(leaf) for leaf in tree_leaves(new)] != [
            _looks(leaf) for leaf in tree_leaves(values)
        ]:
            raise EngineError(
                "body_fn of while_loop must return a tuple of values that look like its arguments: "
                f"it got {[_looks(leaf) for leaf in tree_leaves(values)]} and gave {[_looks(leaf) for leaf in tree_leaves(new)]}."
            )
        values = tuple(new)
    return values


def _goes_on(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, Tensor) or value.numel() != 1:
        found = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise EngineError(f"Expected cond_fn to return a scalar tensor or a bool but got {found}.")
    return bool(value)


def _looks(leaf: Any) -> Any:
    """What of a value stays the same from round to round."""
    return (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, Tensor) else type(leaf).__name__
