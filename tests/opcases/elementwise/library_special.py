"""Rows of the special functions that SciPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

from ..row import Row

SHAPES = ((3, 4),)
EDGES = (((0,),), ((),), ((2, 0, 3),))


def _row(name: str, ref: Any, domain: tuple[float, float], grad: tuple[int, ...] | None = None) -> Row:
    def call(t: Any, x: Any, **kwargs: Any) -> Any:
        return getattr(t.special, name)(x, **kwargs)

    return Row(
        f"special_{name}", call, SHAPES, ref, domain, grad=grad, out=True, edge_shapes=EDGES if grad is None else ()
    )


ROWS = [
    _row("bessel_j0", sp.j0, (-3, 3), ()),
    _row("bessel_j1", sp.j1, (-3, 3), ()),
    _row("bessel_y0", sp.y0, (0.2, 3), ()),
    _row("bessel_y1", sp.y1, (0.2, 3), ()),
    _row("modified_bessel_i0", sp.i0, (-3, 3), ()),
    _row("modified_bessel_i1", sp.i1, (-3, 3), ()),
    _row("modified_bessel_k0", sp.k0, (0.2, 3), ()),
    _row("modified_bessel_k1", sp.k1, (0.2, 3), ()),
    _row("scaled_modified_bessel_k0", sp.k0e, (0.2, 3), ()),
    _row("scaled_modified_bessel_k1", sp.k1e, (0.2, 3), ()),
    _row("spherical_bessel_j0", lambda x: np.sin(x) / x, (0.2, 3), ()),
    _row("airy_ai", lambda x: sp.airy(x)[0], (-1, 3), ()),
    _row("i0e", sp.i0e, (0.2, 3)),
    _row("i1e", sp.i1e, (0.2, 3)),
    _row("erfcx", sp.erfcx, (-1, 2)),
    _row("ndtr", sp.ndtr, (-2, 2)),
    _row("ndtri", sp.ndtri, (0.1, 0.9)),
    _row("log_ndtr", sp.log_ndtr, (-2, 2)),
    _row("entr", sp.entr, (0.2, 3)),
    Row("special_xlog1py", lambda t, x, y, **k: t.special.xlog1py(x, y, **k), ((3, 4), (4,)), sp.xlog1py, (0.2, 2), out=True),
    Row("special_zeta", lambda t, x, y, **k: t.special.zeta(x, y, **k), ((3, 4), (4,)), sp.zeta, (1.5, 3), grad=(1,), out=True),
]  # fmt: skip
