"""Compares what two libraries returned for one call: values and derivatives.

Every function returns None when all is equal, or (kind, message) for the first
difference; kind is one of value, shape, dtype, type, requires_grad, grad, gradgrad.
"""

import traceback

import numpy as np
import torch

from .convert import from_array, lookup, name_of, to_numpy

# (rtol, atol) by the dtype of the result; other dtypes must be equal.
TOLERANCE = {
    "float64": (1e-7, 1e-9),
    "float32": (1.3e-6, 1e-5),
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-3),
    "complex128": (1e-7, 1e-9),
    "complex64": (1.3e-6, 1e-5),
    "complex32": (2e-3, 1e-3),
}

# Second derivatives are compared only up to this many input elements.
SMALL = 5000


def explain(error):
    """An exception in one line, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = ""
    if frames:
        path = "/".join(frames[-1].filename.split("/")[-2:])
        where = f" ({path}:{frames[-1].lineno} {frames[-1].name})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}{where}"


def flatten(result):
    """The tensors and scalars in a result, in order."""
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in flatten(item)]
    return [result]


def _field_names(result):
    """Field names of a named tuple, PyTorch's own kind included."""
    if hasattr(result, "_fields"):
        return list(result._fields)
    if hasattr(result, "n_sequence_fields"):
        inherited = set(dir(tuple)) | {"n_fields", "n_sequence_fields", "n_unnamed_fields"}
        return [name for name in dir(result) if name not in inherited and name[0] != "_"]
    return []


def same_results(lib, expected, actual, values=True, elementwise=False):
    """Compares results of any nesting.  With values=False only shapes, dtypes
    and flags are compared (random numbers, uninitialised memory)."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return "type", f"expected {_outline(expected)}, got {_outline(actual)}"
        if isinstance(expected, tuple) != isinstance(actual, tuple):
            return "type", f"expected a {type(expected).__name__}, got {_outline(actual)}"
        lost = [name for name in _field_names(expected) if not hasattr(actual, name)]
        if lost:
            return "type", f"result has no field {', '.join(lost)}"
        for position, pair in enumerate(zip(expected, actual, strict=True)):
            difference = same_results(lib, *pair, values, elementwise)
            if difference:
                return difference[0], f"output {position}: {difference[1]}"
        return None
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, lib.Tensor):
            return "type", f"expected a Tensor, got {_outline(actual)}"
        difference = same_tensors(lib, expected, actual, values, elementwise)
        if not difference and expected.requires_grad != actual.requires_grad:
            message = f"expected {expected.requires_grad}, got {actual.requires_grad}"
            difference = "requires_grad", message
        return difference
    return _same_scalars(expected, actual) if values else None


def _outline(result):
    if isinstance(result, (list, tuple)):
        return f"{type(result).__name__} of {len(result)}"
    return type(result).__name__


def _same_scalars(expected, actual):
    if type(expected) is not type(actual):
        return "type", f"expected {expected!r}, got {_outline(actual)} {actual!r}"
    if isinstance(expected, (float, complex)):
        equal = np.isclose(actual, expected, rtol=1e-6, atol=1e-9, equal_nan=True)
    else:
        equal = expected == actual
    return None if equal else ("value", f"expected {expected!r}, got {actual!r}")


def same_tensors(lib, expected, actual, values=True, elementwise=False, second=False):
    """`elementwise` results must be right in every element by itself.  A sum or
    a gradient may lose digits by cancellation, so there the error is measured
    against the largest element.  For `second` derivatives ten times as much is
    allowed, and anything is right where PyTorch's own formula breaks down to NaN."""
    if tuple(expected.shape) != tuple(actual.shape):
        return "shape", f"expected {tuple(expected.shape)}, got {tuple(actual.shape)}"
    dtype = name_of(expected.dtype)
    if dtype != name_of(actual.dtype):
        return "dtype", f"expected {dtype}, got {name_of(actual.dtype)}"
    if not values:
        return None
    want, got = to_numpy(torch, expected), to_numpy(lib, actual)
    if dtype in TOLERANCE:
        rtol, atol = (bound * (10 if second else 1) for bound in TOLERANCE[dtype])
        finite = want[np.isfinite(want)]
        if not elementwise and finite.size:
            atol = max(atol, rtol * float(np.abs(finite).max()))
        with np.errstate(all="ignore"):
            close = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
            close = close | np.isnan(want) if second else close
    else:
        close = got == want
    if np.all(close):
        return None
    return "value", _first_difference(want, got, np.asarray(close))


def _first_difference(want, got, close):
    place = tuple(int(i) for i in np.argwhere(~close)[0]) if close.ndim else ()
    at = f" at {list(place)}" if place else ""
    share = f" ({np.count_nonzero(~close)} of {close.size} differ)" if close.size > 1 else ""
    return f"expected {_number(want[place])}, got {_number(got[place])}{at}{share}"


def _number(value):
    return str(value) if value.dtype.kind in "biu" else f"{value:.9g}"


def weights_for(tensors, seed):
    """Fixed random values in the shapes and dtypes of some tensors."""
    rng = np.random.default_rng(seed)
    made = []
    for tensor in tensors:
        array = rng.standard_normal(tuple(tensor.shape))
        if tensor.dtype.is_complex:
            array = array + 1j * rng.standard_normal(tuple(tensor.shape))
        made.append((np.asarray(array), name_of(tensor.dtype)))
    return made


def grad(lib, outputs, inputs, weights, **options):
    return lookup(lib, "autograd.grad")(outputs, inputs, weights, allow_unused=True, **options)


class Derivatives:
    """First and second derivatives of one call, in both libraries."""

    def __init__(self, lib, expected, actual, leaves, lib_leaves, values=True):
        self.lib, self.values = lib, values
        self.leaves, self.lib_leaves = leaves, lib_leaves
        pairs = zip(flatten(expected), flatten(actual), strict=True)
        pairs = [pair for pair in pairs if getattr(pair[0], "requires_grad", False)]
        self.outputs = [expected for expected, _ in pairs]
        self.lib_outputs = [actual for _, actual in pairs]

    def compare(self, second):
        if not self.leaves or not self.outputs:
            return None
        second = second and sum(leaf.numel() for leaf in self.leaves) <= SMALL
        arrays = weights_for(self.outputs, seed=1)
        weights = [from_array(torch, *array, requires_grad=second) for array in arrays]
        try:
            grads = grad(torch, self.outputs, self.leaves, weights, create_graph=second)
        except RuntimeError:
            return None  # not differentiable in PyTorch: nothing to compare with
        try:
            lib_weights = [from_array(self.lib, *array, requires_grad=second) for array in arrays]
            lib_grads = grad(self.lib, self.lib_outputs, self.lib_leaves, lib_weights, create_graph=second)
        except Exception as error:
            return "grad", explain(error)
        difference = self._same_grads(grads, lib_grads)
        if difference or not second:
            return difference
        return self._second(grads, lib_grads, weights, lib_weights)

    def _second(self, grads, lib_grads, weights, lib_weights):
        curved = [g if g is not None and g.requires_grad else None for g in grads]
        lib_curved = [g if g is not None and g.requires_grad else None for g in lib_grads]
        arrays = weights_for([g for g in curved if g is not None], seed=2)
        if not arrays:
            return None
        inputs = self.leaves + weights
        torch_weights = [from_array(torch, *array) for array in arrays]
        try:
            expected = grad(torch, [g for g in curved if g is not None], inputs, torch_weights)
        except RuntimeError:
            return None
        # A gradient that PyTorch attaches to the graph may be a constant here:
        # it then contributes nothing, which the comparison of values judges.
        places = [i for i, g in enumerate(curved) if g is not None]
        chosen = [(lib_curved[i], array) for i, array in zip(places, arrays, strict=True)]
        chosen = [(g, array) for g, array in chosen if g is not None]
        actual = [None] * len(inputs)
        try:
            if chosen:
                outputs = [g for g, _ in chosen]
                again = [from_array(self.lib, *array) for _, array in chosen]
                actual = grad(self.lib, outputs, self.lib_leaves + lib_weights, again)
        except Exception as error:
            return "gradgrad", explain(error)
        return self._same_grads(expected, actual, second=True)

    def _same_grads(self, expected, actual, second=False):
        for position, (want, got) in enumerate(zip(expected, actual, strict=True)):
            message = self._same_grad(want, got, second)
            if message:
                return "gradgrad" if second else "grad", f"input {position}: {message}"
        return None

    def _same_grad(self, want, got, second):
        if want is None and got is None:
            return None
        if want is None or got is None:
            given, lib = (want, torch) if got is None else (got, self.lib)
            zeros = not np.any(to_numpy(lib, given))
            # Which second derivatives are None depends on how a formula is written.
            if second and (zeros or np.isnan(to_numpy(lib, given)).all()):
                return None
            text = "zeros" if zeros else "a tensor"
            return f"expected None, got {text}" if want is None else f"expected {text}, got None"
        difference = same_tensors(self.lib, want, got, self.values, second=second)
        return difference and f"{difference[0]}: {difference[1]}"
