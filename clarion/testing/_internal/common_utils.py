"""`torch.testing._internal.common_utils`: a test case that compares tensors, and what sets the scene for it."""

from __future__ import annotations

import contextlib
import random
import unittest
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import get_default_dtype
from ...core.dtypes import set_default_dtype as become_default
from ...core.tensor import Tensor
from ...random import fork_rng, manual_seed
from .. import assert_close

__all__ = ["SEED", "TestCase", "freeze_rng_state", "run_tests", "set_default_dtype", "set_rng_seed"]

SEED = 1234


def set_rng_seed(seed: int | None = None) -> None:
    """The same random numbers, of all three sources."""
    seed = SEED if seed is None else seed
    manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Random numbers go on after the block as if it had not been."""
    with fork_rng():
        yield


@contextlib.contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    """Another default type within the block."""
    before = get_default_dtype()
    become_default(dtype)
    try:
        yield
    finally:
        become_default(before)


class TestCase(unittest.TestCase):
    """unittest's, whose `assertEqual` compares numbers and tensors within the tolerances of their types, in any nesting."""

    precision: float = 0
    rel_tol: float = 0

    def setUp(self) -> None:
        """Every test begins with the same random numbers."""
        set_rng_seed()

    def assertEqual(  # type: ignore[override]
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
    ) -> None:
        """Equal, or nearly so where they are numbers."""
        options = {
            "atol": atol, "rtol": rtol, "equal_nan": equal_nan, "check_device": exact_device, "check_dtype": exact_dtype,
            "check_layout": exact_layout, "check_stride": exact_stride,
        }  # fmt: skip
        self._equal(x, y, msg, options)

    def _equal(self, x: Any, y: Any, msg: Any, options: dict[str, Any]) -> None:
        x, y = _beside(x, y), _beside(y, x)
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(set(x), set(y), msg)
            for key in x:
                self._equal(x[key], y[key], msg, options)
        elif _is_list(x) and _is_list(y):
            super().assertEqual(len(x), len(y), msg)
            for one, other in zip(x, y, strict=True):
                self._equal(one, other, msg, options)
        elif _is_number(x) and _is_number(y):
            numbers = not (isinstance(x, Tensor) and isinstance(y, Tensor))
            options = {**options, "check_dtype": options["check_dtype"] and not numbers}
            assert_close(x, y, msg=None if msg is None else str(msg), **options)
        else:
            super().assertEqual(x, y, msg)

    def assertNotEqual(self, x: Any, y: Any, msg: Any = None, **options: Any) -> None:  # type: ignore[override]
        """`assertEqual` would fail."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, **options)


def _beside(value: Any, other: Any) -> Any:
    """Numbers as a tensor, where they are compared with one."""
    is_plain = isinstance(value, (int, float, complex, list, tuple))
    return other.new_tensor(value) if is_plain and isinstance(other, Tensor) else value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_number(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray | np.generic | int | float | complex)


def run_tests(argv: Any = None) -> None:
    """Run the tests of the program."""
    unittest.main(argv=argv)
