"""Special functions that SciPy computes, where it is installed: the Bessel functions J, Y and K, and Airy's."""

from __future__ import annotations

from typing import Any

import numpy

from ...everywhere import from_host, on_host, scipy, special
from ...quiet import quietly
from ...registry import kernel

# operation: SciPy's function of one argument
_NAMES = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1",
    "modified_bessel_k0": "k0", "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip


def _declare(name: str, theirs: str) -> None:
    @kernel(f"special_{name}")
    @quietly
    def run(xp: Any, x: Any) -> Any:
        return xp.asarray(getattr(special(xp), theirs)(x)).astype(x.dtype, copy=False)


for _name, _theirs in _NAMES.items():
    _declare(_name, _theirs)
# The operations above and Airy's: what arrays without memory cannot hand to SciPy.
BY_SCIPY = (*[f"special_{_name}" for _name in _NAMES], "special_airy_ai")


@kernel("special_airy_ai")
@quietly
def airy_ai(xp: Any, x: Any) -> Any:
    values = scipy("special").airy(on_host(x))[0]  # on the host: not every array library has it
    return from_host(xp, numpy.asarray(values)).astype(x.dtype, copy=False)


@kernel("special_spherical_bessel_j0")
@quietly
def spherical_bessel_j0(xp: Any, x: Any) -> Any:
    return xp.where(xp.isinf(x), 0, xp.where(x == 0, 1, xp.sin(x) / xp.where(x == 0, 1, x))).astype(x.dtype, copy=False)
