"""What the tests of the table share: the same inputs for clarion, PyTorch and the reference, and fair comparison."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from .opcases import Row

# rtol, atol of a value computed in one type against the same computed in float64
CLOSE = {"float64": (1e-9, 1e-10), "complex128": (1e-9, 1e-10), "float32": (2e-4, 2e-5), "complex64": (2e-4, 2e-5),
         "float16": (2e-2, 2e-2), "bfloat16": (8e-2, 8e-2)}  # fmt: skip
NO_NUMPY_TYPE = {"bfloat16": "float32"}


def draw(row: Row, shapes: Any = None) -> list[Any]:
    """The input arrays of a row (for other shapes, if given): always the same ones."""
    rng = np.random.default_rng(zlib.crc32(repr((row.id, shapes)).encode()))
    if row.inputs is not None and shapes is None:
        return [np.asarray(a) for a in row.inputs(rng)]
    shapes = row.shapes if shapes is None else shapes
    domains = row.domain if isinstance(row.domain[0], tuple) else [row.domain] * len(shapes)
    return [rng.uniform(low, high, shape) for (low, high), shape in zip(domains, shapes, strict=True)]


def as_type(array: Any, dtype: str) -> Any:
    """Floating values in another type (whole and small for integers); indices and masks stay what they are."""
    if array.dtype.kind not in "fc":
        return array
    if dtype == "bool":
        return array > 0
    kind = np.dtype(NO_NUMPY_TYPE.get(dtype, dtype)).kind
    if kind in "ui":
        whole = np.round(2 * np.nan_to_num(array.real, posinf=9, neginf=-9))
        return (np.abs(whole) if kind == "u" else whole).astype(dtype)
    if kind == "c" and array.dtype.kind == "f":
        return (array + 0.5j * np.cos(3 * array)).astype(dtype)
    if array.dtype.kind == "c" and kind == "f":  # complex inputs follow the precision
        return array.astype({"float32": "complex64"}.get(dtype, "complex128"))
    return array.astype(NO_NUMPY_TYPE.get(dtype, dtype))


def tensors(t: Any, arrays: list[Any], dtype: str = "float64") -> list[Any]:
    """The arrays as tensors of library `t`."""
    made = []
    for array in arrays:
        tensor = t.from_numpy(np.array(as_type(array, dtype)))  # a copy
        lowered = dtype in NO_NUMPY_TYPE and array.dtype.kind == "f"
        made.append(tensor.to(getattr(t, dtype)) if lowered else tensor)
    return made


def differentiable(row: Row, made: list[Any]) -> list[int]:
    """Numbers of the inputs that a row differentiates."""
    if row.grad is not None:
        return list(row.grad)
    return [i for i, x in enumerate(made) if x.is_floating_point() or x.is_complex()]


def leaves(t: Any, row: Row, arrays: list[Any], dtype: str = "float64") -> list[Any]:
    """Like `tensors`, with requires_grad where the row differentiates."""
    made = tensors(t, arrays, dtype)
    for i in differentiable(row, made):
        made[i].requires_grad_(True)
    return made


def results(value: Any) -> list[Any]:
    """The tensors of a result, which may be one or several."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def numpy_of(t: Any, tensor: Any) -> Any:
    """Values of a tensor of either library; types that NumPy lacks come back wider."""
    tensor = tensor.detach()
    if str(tensor.dtype).endswith("bfloat16"):
        tensor = tensor.to(t.float32)
    return np.array(tensor.resolve_conj().numpy(force=True))


def type_name(tensor: Any) -> str:
    """float32 and the like, whichever library it comes from."""
    return str(tensor.dtype).rpartition(".")[2]


def weighted_sum(t: Any, value: Any) -> Any:
    """One real number from all differentiable results, each element with its own weight."""
    total = 0
    for out in results(value):
        if not out.requires_grad:
            continue
        weights = np.linspace(0.5, 1.5, max(out.numel(), 1))[: out.numel()].reshape(tuple(out.shape))
        parts = (
            [out]
            if not out.is_complex()
            else [t.view_as_real(t.resolve_conj(out) if hasattr(t, "resolve_conj") else out)]
        )
        weight = weights if not out.is_complex() else np.stack([weights, 0.3 * weights], -1)
        total = total + (parts[0] * t.from_numpy(np.array(weight)).to(parts[0].dtype)).sum()
    return total


def gradients(t: Any, row: Row, call: Any, inputs: list[Any]) -> list[Any]:
    """Gradients of the differentiable inputs, None where nothing flows."""
    wanted = [x for x in inputs if x.requires_grad]
    total = weighted_sum(t, call(t, *inputs))
    if not wanted or isinstance(total, int):
        return []
    return list(t.autograd.grad(total, wanted, allow_unused=True))


def assert_close(actual: Any, expected: Any, dtype: str, what: str = "") -> None:
    """Equal within what the type can hold; shapes exactly."""
    assert actual.shape == np.shape(expected), f"{what}: shape {actual.shape}, expected {np.shape(expected)}"
    rtol, atol = CLOSE.get(dtype, (0, 0))
    np.testing.assert_allclose(actual, expected, rtol, atol, err_msg=what)
