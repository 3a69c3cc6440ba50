"""Tangents on the samples of PyTorch's operator database: `python -m tests.compare.forward_opdb [NAME ...]`.

Every floating tensor of a sample becomes a dual, in both libraries; the tangents of the results must agree. What PyTorch has
no forward derivative of is left out.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import clarion

from . import resolve
from .check import explain, flatten
from .convert import Converter, Missing, describe_sample, from_array, name_of, to_numpy
from .opdb import RANDOM, UNINITIALISED
from .opnames import EXTRA, REQUIRED


class Duals(Converter):
    """Converts a sample; the tensors that require a gradient become duals."""

    def _tensor(self, tensor: Any) -> Any:
        known = id(tensor) in self._tensors
        made = super()._tensor(tensor)
        if known or not tensor.requires_grad:
            return made
        fw = forward_ad(self.lib)
        rng = np.random.default_rng(len(self._tensors))
        values = rng.standard_normal(tuple(tensor.shape))
        if tensor.is_complex():
            values = values + 1j * rng.standard_normal(tuple(tensor.shape))
        dual = fw.make_dual(made.detach(), from_array(self.lib, np.asarray(values), name_of(tensor.dtype)))
        self._tensors[id(tensor)] = (dual, tensor)
        return dual


def forward_ad(lib: Any) -> Any:
    """The module of either library."""
    return importlib.import_module(f"{lib.__name__}.autograd.forward_ad")


def tangents(lib: Any, op: Any, sample: Any, inplace: bool) -> list[Any]:
    """(output, tangent) as arrays, of one sample."""
    fw = forward_ad(lib)
    with fw.dual_level():
        convert = Duals(lib, exact_views=op.name.startswith("as_strided"))
        first, args, kwargs = convert(sample.input), convert(sample.args), convert(sample.kwargs)
        if inplace:
            target = first.clone()
            resolve.inplace(op, lib)(target, *args, **kwargs)
            result: Any = target
        else:
            result = resolve.function(op, lib)(first, *args, **kwargs)
        found = []
        for out in flatten(sample.output_process_fn_grad(result) if lib is torch else result):
            if not isinstance(out, lib.Tensor) or not (out.is_floating_point() or out.is_complex()):
                continue
            primal, tangent = fw.unpack_dual(out)
            zeros = np.zeros(tuple(primal.shape))
            found.append((to_numpy(lib, primal), zeros if tangent is None else to_numpy(lib, tangent)))
        return found


def compare(op: Any, sample: Any, inplace: bool) -> str | None:
    """What differs, if anything."""
    try:
        expected = tangents(torch, op, sample, inplace)
    except Exception:
        return None  # PyTorch refuses the sample, or has no forward derivative
    try:
        found = tangents(clarion, op, sample, inplace)
    except Missing:
        return None
    except Exception as error:
        return explain(error)
    for (_, a), (_, b) in zip(found, expected, strict=True):
        if a.shape != b.shape:
            return f"shape {a.shape} instead of {b.shape}"
        if not np.allclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True):
            return f"{a.reshape(-1)[:4]} instead of {b.reshape(-1)[:4]}"
    return None


def run(op: Any, dtype: Any, limit: int) -> list[str]:
    """The failures of one entry."""
    failures = []
    for n, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=True)):
        if n >= limit:
            break
        if op.name in RANDOM and RANDOM[op.name](sample.kwargs):
            continue
        for inplace in (False, True) if op.inplace_variant and isinstance(sample.input, torch.Tensor) else (False,):
            difference = compare(op, sample, inplace)
            if difference is not None:
                kind = "in place" if inplace else "function"
                failures.append(f"{op.name} {dtype} #{n} {kind}: {difference}  <- {describe_sample(sample)}")
    return failures


def main() -> int:
    """Run the entries named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=int, default=10, help="samples per entry (default: 10)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    names = args.names or [*REQUIRED, *EXTRA]
    failed, began = 0, time.time()
    for op in op_db:
        if op.name not in names or not op.supports_forward_ad or op.name in UNINITIALISED:
            continue
        for dtype in (torch.float64, torch.complex128):
            if dtype not in op.dtypes:
                continue
            for failure in run(op, dtype, args.limit):
                failed += 1
                print(failure[:300], flush=True)
    print(f"{failed} differences, {time.time() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
