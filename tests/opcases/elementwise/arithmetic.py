"""Arithmetic, powers and casts."""

from __future__ import annotations

import numpy as np

from ..row import Row

V, PAIR, TRIPLE = (3, 4), ((3, 4), (3, 4)), ((3, 4), (3, 4), (3, 4))
MORE = (((3, 4), (4,)), ((), ()), ((0, 4), (4,)), ((3, 1), (1, 4)))
INTS = ("int64", "int32", "uint8", "float16", "bfloat16", "complex64")
REALS = ("int64", "int32", "float16", "bfloat16")
APART = ((0.5, 2.0), (0.5, 2.0))

ROWS = [
    Row("add", lambda t, x, y, **k: t.add(x, y, **k), PAIR, np.add, inplace=lambda t, x, y: x.add_(y), out=True,
        dtypes=INTS, edge_shapes=MORE),
    Row("add", lambda t, x, y: x + y, PAIR, np.add, label="operator"),
    Row("add", lambda t, x: 2.5 + x, (V,), lambda x: 2.5 + x, label="number"),
    Row("add_scaled", lambda t, x, y, **k: t.add(x, y, alpha=2, **k), PAIR, lambda x, y: x + 2 * y,
        inplace=lambda t, x, y: x.add_(y, alpha=2), out=True, dtypes=INTS, edge_shapes=MORE),
    Row("sub", lambda t, x, y, **k: t.sub(x, y, **k), PAIR, np.subtract, inplace=lambda t, x, y: x.sub_(y), out=True,
        dtypes=INTS, edge_shapes=MORE),
    Row("sub_scaled", lambda t, x, y: t.sub(x, y, alpha=2), PAIR, lambda x, y: x - 2 * y,
        inplace=lambda t, x, y: x.sub_(y, alpha=2), dtypes=INTS, edge_shapes=MORE),
    Row("rsub", lambda t, x: 2 - x, (V,), lambda x: 2 - x, dtypes=INTS),
    Row("rsub_scaled", lambda t, x, y: t.rsub(x, y, alpha=3), PAIR, lambda x, y: y - 3 * x, dtypes=INTS, edge_shapes=MORE),
    Row("mul", lambda t, x, y, **k: t.mul(x, y, **k), PAIR, np.multiply, inplace=lambda t, x, y: x.mul_(y), out=True,
        dtypes=INTS, edge_shapes=MORE),
    Row("neg", lambda t, x, **k: t.neg(x, **k), (V,), np.negative, inplace=lambda t, x: x.neg_(), out=True, dtypes=INTS),
    Row("div", lambda t, x, y, **k: t.div(x, y, **k), PAIR, np.true_divide, domain=APART,
        inplace=lambda t, x, y: x.div_(y), out=True, dtypes=("float16", "bfloat16", "complex64"), edge_shapes=MORE),
    Row("div_mode", lambda t, x, y: t.div(x, y, rounding_mode=None), PAIR, np.true_divide, domain=APART),
    Row("div_floor", lambda t, x, y: t.div(x, y, rounding_mode="floor"), PAIR, np.floor_divide, domain=APART,
        grad=(), inplace=lambda t, x, y: x.div_(y, rounding_mode="floor"), edge_shapes=MORE),
    Row("div_trunc", lambda t, x, y: t.div(x, y, rounding_mode="trunc"), PAIR, lambda x, y: np.trunc(x / y),
        domain=APART, grad=(), inplace=lambda t, x, y: x.div_(y, rounding_mode="trunc"), edge_shapes=MORE),
    Row("floor_divide", lambda t, x, y: x // y, PAIR, np.floor_divide, domain=APART, grad=(), edge_shapes=MORE),
    Row("remainder", lambda t, x, y: t.remainder(x, y), PAIR, np.remainder, domain=((1.1, 1.9), (0.6, 1.0)),
        inplace=lambda t, x, y: x.remainder_(y)),
    Row("remainder_scalar", lambda t, x: x % 0.75, (V,), lambda x: x % 0.75, domain=(0.8, 1.4)),
    Row("remainder_of", lambda t, x: 2 % x, (V,), lambda x: 2 % x, domain=(0.6, 0.9), grad=()),
    Row("fmod", lambda t, x, y: t.fmod(x, y), PAIR, np.fmod, domain=((1.1, 1.9), (0.6, 1.0)),
        inplace=lambda t, x, y: x.fmod_(y)),
    Row("fmod_scalar", lambda t, x: t.fmod(x, 0.75), (V,), lambda x: np.fmod(x, 0.75), domain=(-1.4, -0.8)),
    Row("addcmul", lambda t, x, y, z, **k: t.addcmul(x, y, z, value=0.5, **k), TRIPLE, lambda x, y, z: x + 0.5 * y * z,
        inplace=lambda t, x, y, z: x.addcmul_(y, z, value=0.5), out=True, dtypes=("float16", "bfloat16", "complex64")),
    Row("addcdiv", lambda t, x, y, z, **k: t.addcdiv(x, y, z, value=0.5, **k), TRIPLE,
        lambda x, y, z: x + 0.5 * y / z, domain=((-2, 2), (-2, 2), (0.5, 2)),
        inplace=lambda t, x, y, z: x.addcdiv_(y, z, value=0.5), out=True, dtypes=("float16", "bfloat16")),
    Row("lerp", lambda t, x, y, **k: t.lerp(x, y, 0.3, **k), PAIR, lambda x, y: x + 0.3 * (y - x),
        inplace=lambda t, x, y: x.lerp_(y, 0.3), out=True, dtypes=("float16", "bfloat16"), edge_shapes=MORE[:3]),
    Row("lerp", lambda t, x, y: t.lerp(x, y, 0.8), PAIR, lambda x, y: x + 0.8 * (y - x), label="far"),
    Row("lerp_tensor", lambda t, x, y, w, **k: t.lerp(x, y, w, **k), TRIPLE, lambda x, y, w: x + w * (y - x),
        inplace=lambda t, x, y, w: x.lerp_(y, w), out=True, dtypes=("float16", "bfloat16")),
    Row("pow", lambda t, x, y, **k: t.pow(x, y, **k), PAIR, np.power, domain=((0.3, 2.0), (-2.0, 2.0)),
        inplace=lambda t, x, y: x.pow_(y), out=True, dtypes=("float16", "bfloat16"), edge_shapes=MORE[:3]),
    *[Row("pow_scalar", lambda t, x, e=e: x**e, (V,), lambda x, e=e: x**e, domain=(0.3, 2.0), label=str(e),
          inplace=lambda t, x, e=e: x.pow_(e)) for e in (0, 1, 2, 3, 0.5, -0.5, -1, 2.5)],
    Row("pow_scalar", lambda t, x: x**3, (V,), lambda x: x**3, dtypes=INTS, label="cube"),
    Row("pow_base", lambda t, x: 2**x, (V,), lambda x: 2.0**x, dtypes=("float16", "bfloat16")),
    Row("nonnegative_real", lambda t, x: t.pow(x, x), (V,), lambda x: x**x, domain=(0.3, 2.0)),
    Row("cast", lambda t, x: x.to(t.float32).to(t.float64), (V,), None, grad=()),
    # Where there is one device, nothing moves; tests/test_devices.py moves tensors to a second one.
    Row("transfer", lambda t, x: x.to("cpu"), (V,), lambda x: x),
]  # fmt: skip
