"""Judges low-precision results that differ by more than the usual tolerance.

PyTorch's own float32 result is only near the truth, and in some samples (a
softmax of large logits) it is further off than any fixed tolerance allows.
Then the same sample in float64 is the judge: a library is right if it is not
further from it than PyTorch is, give or take a factor.
"""

import numpy as np
import torch

from .check import TOLERANCE, flatten, grad, weights_for
from .convert import from_array, to_numpy

PRECISE = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
    torch.complex32: torch.complex128,
}

# Two roundings of the same formula differ by about this factor.
FACTOR = 4.0


def precise(sample):
    """The sample with all low-precision tensors and dtypes widened."""

    def widen(value):
        if isinstance(value, torch.dtype):
            return PRECISE.get(value, value)
        if value.dtype not in PRECISE:
            return value
        # Inside the sample's own no_grad, so the flag has to be set again.
        return value.to(PRECISE[value.dtype]).detach().requires_grad_(value.requires_grad)

    return sample.transform(widen)


def _numbers(lib, result, leaves, weights):
    """Outputs and gradients as arrays; `weights` are (array, dtype name) pairs."""
    outputs = [item for item in flatten(result) if isinstance(item, lib.Tensor)]
    tensors = list(outputs)
    roots = [item for item in outputs if item.requires_grad]
    if leaves and roots and weights:
        made = [from_array(lib, *weight) for weight in weights]
        tensors += [g for g in grad(lib, roots, leaves, made) if g is not None]
    return [to_numpy(lib, tensor) for tensor in tensors]


def as_good(case, finder):
    """Whether the library is as near to the precise result as PyTorch is."""
    expected, leaves = case.call(torch, finder)
    roots = [item for item in flatten(expected) if getattr(item, "requires_grad", False)]
    weights = weights_for(roots, seed=1)
    exact, exact_leaves = case.with_sample(precise(case.sample)).call(torch, finder)
    # All three start from the same weights, rounded to the low precision.
    rounded = [to_numpy(torch, from_array(torch, *weight)) for weight in weights]
    wide = [(array, "complex128" if array.dtype.kind == "c" else "float64") for array in rounded]
    actual, lib_leaves = case.call(case.lib, finder)
    truth = _numbers(torch, exact, exact_leaves, wide)
    theirs = _numbers(torch, expected, leaves, weights)
    ours = _numbers(case.lib, actual, lib_leaves, weights)
    if not len(truth) == len(theirs) == len(ours):
        return False
    return all(_near(*arrays, case.elementwise) for arrays in zip(truth, theirs, ours, strict=True))


def _near(truth, theirs, ours, elementwise):
    if ours.dtype.kind not in "fc":
        return np.array_equal(theirs, ours)
    finite = np.isfinite(truth) & np.isfinite(theirs)
    with np.errstate(all="ignore"):
        if not np.array_equal(theirs[~finite], ours[~finite], equal_nan=True):
            return False
        their_error = np.abs(theirs[finite] - truth[finite])
        our_error = np.abs(ours[finite] - truth[finite])
        if elementwise:
            # One element PyTorch rounds badly must not excuse the others.
            rtol, atol = TOLERANCE[str(ours.dtype)]
            return bool(np.all(our_error <= FACTOR * their_error + rtol * np.abs(truth[finite]) + atol))
    return bool(our_error.max(initial=0) <= FACTOR * their_error.max(initial=0))
