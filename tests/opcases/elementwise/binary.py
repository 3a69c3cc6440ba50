"""Functions of two tensors, beyond arithmetic."""

from __future__ import annotations

import numpy as np
import scipy.special

from ..row import Row

V, PAIR = (3, 4), ((3, 4), (3, 4))
MORE = (((3, 4), (4,)), ((), ()), ((0, 4), (4,)), ((3, 1), (1, 4)))
HALVES = ("float16", "bfloat16")
POSITIVE = ((-2.0, 2.0), (0.5, 2.0))

ROWS = [
    Row("atan2", lambda t, x, y, **k: t.atan2(x, y, **k), PAIR, np.arctan2, inplace=lambda t, x, y: x.atan2_(y), out=True,
        dtypes=HALVES, edge_shapes=MORE),
    Row("hypot", lambda t, x, y, **k: t.hypot(x, y, **k), PAIR, np.hypot, inplace=lambda t, x, y: x.hypot_(y), out=True,
        dtypes=HALVES, edge_shapes=MORE),
    Row("logaddexp", lambda t, x, y, **k: t.logaddexp(x, y, **k), PAIR, np.logaddexp, out=True, dtypes=HALVES, edge_shapes=MORE),
    Row("logaddexp2", lambda t, x, y, **k: t.logaddexp2(x, y, **k), PAIR, np.logaddexp2, out=True, dtypes=HALVES,
        edge_shapes=MORE),
    Row("heaviside", lambda t, x, y, **k: t.heaviside(x, y, **k), PAIR, np.heaviside, grad=(), out=True, edge_shapes=MORE),
    Row("nextafter", lambda t, x, y, **k: t.nextafter(x, y, **k), PAIR, np.nextafter, grad=(), out=True, edge_shapes=MORE),
    Row("ldexp", lambda t, x, y, **k: t.ldexp(x, y, **k), PAIR, lambda x, y: x * 2.0**y, out=True, dtypes=HALVES,
        edge_shapes=MORE),
    Row("xlogy", lambda t, x, y, **k: t.xlogy(x, y, **k), PAIR, scipy.special.xlogy, domain=POSITIVE,
        inplace=lambda t, x, y: x.xlogy_(y), out=True, dtypes=HALVES),
    Row("xlogy_number", lambda t, x: t.xlogy(1.5, x), (V,), lambda x: scipy.special.xlogy(1.5, x), domain=(0.5, 2.0)),
    Row("xlogy_by", lambda t, x: t.xlogy(x, 1.5), (V,), lambda x: scipy.special.xlogy(x, 1.5)),
    Row("copysign", lambda t, x, y, **k: t.copysign(x, y, **k), PAIR, np.copysign, out=True, dtypes=HALVES, edge_shapes=MORE),
    Row("copysign_scalar", lambda t, x: t.copysign(x, -1.0), (V,), lambda x: np.copysign(x, -1.0)),
    Row("complex", lambda t, x, y: t.view_as_real(t.complex(x, y)), PAIR, lambda x, y: np.stack([x, y], -1)),
    Row("polar", lambda t, x, y: t.view_as_real(t.polar(x, y)), PAIR,
        lambda x, y: np.stack([x * np.cos(y), x * np.sin(y)], -1), domain=((0.5, 2.0), (-2.0, 2.0))),
]  # fmt: skip
