"""`torch.quasirandom`: Sobol' sequences, points that fill the unit cube more evenly than random ones.

Number for number PyTorch's, scrambled ones too. The direction numbers of Joe and Kuo come with SciPy.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import clarion

from .core.tensor import Tensor, created
from .errors import ArgumentValueError, NotSupportedError

__all__ = ["SobolEngine"]


@lru_cache(maxsize=1)
def _directions() -> tuple[Any, Any]:
    """Of each dimension a primitive polynomial, as bits, and the numbers to begin with."""
    try:
        import scipy.stats
    except ImportError:
        raise NotSupportedError(
            "SobolEngine needs SciPy, which brings the direction numbers: pip install scipy"
        ) from None
    with np.load(Path(scipy.stats.__file__).with_name("_sobol_direction_numbers.npz")) as file:
        return file["poly"], file["vinit"]


def _initial_state(dimension: int, bits: int) -> Any:
    """For each dimension and bit the number that is exclusive-ored in."""
    polynomials, beginnings = _directions()
    state = np.ones((dimension, bits), np.int64)
    for d in range(1, dimension):
        polynomial = int(polynomials[d])
        degree = polynomial.bit_length() - 1
        row = beginnings[d, :degree].tolist()
        for j in range(degree, bits):
            new = row[j - degree]
            for k in range(degree):
                if polynomial >> (degree - 1 - k) & 1:
                    new ^= row[j - k - 1] << (k + 1)
            row.append(new)
        state[d] = row[:bits]
    return state << np.arange(bits - 1, -1, -1)


class SobolEngine:
    """Draws the points of a Sobol' sequence one after the other, plain or scrambled."""

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ArgumentValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = created(_initial_state(dimension, self.MAXBIT))
        self.shift = created(np.zeros(dimension, np.int64))
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        """A random shift, and for each dimension a random triangular matrix of bits that mixes the digits."""
        generator = None
        if self.seed is not None:
            generator = clarion.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        shift = clarion.randint(2, (self.dimension, bits), generator=generator)._array
        self.shift = created((shift << np.arange(bits)).sum(-1))
        mixing = clarion.randint(2, (self.dimension, bits, bits), generator=generator)._array
        mixing = np.tril(mixing) | np.eye(bits, dtype=np.int64)
        weights = np.arange(bits - 1, -1, -1)
        digits = self.sobolstate._array[:, :, None] >> weights & 1
        mixed = digits @ mixing.swapaxes(-1, -2) & 1
        self.sobolstate = created((mixed << weights).sum(-1))

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Tensor:
        """The next n points, of shape (n, dimension)."""
        kind = clarion.get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:
            points = self._ahead(n - 1)
            first = self._first_point.to(kind)
            result = clarion.cat((first, self._scaled(points, kind)), dim=-2) if n > 1 else first
        else:
            result = self._scaled(self._ahead(n), kind)
        self.num_generated += n
        if out is not None:
            return out.resize_as_(result).copy_(result)  # type: ignore[no-any-return]
        return result

    def _ahead(self, count: int) -> Any:
        """`count` points after the last one, as whole numbers; each differs from the one before in one direction."""
        done = max(self.num_generated - 1, 0)
        if count < 1:
            return np.empty((0, self.dimension), np.int64)
        numbers = np.arange(done, done + count)
        lowest_zero = np.log2(~numbers & (numbers + 1)).astype(np.int64)
        steps = self.sobolstate._array.T[lowest_zero]
        steps[0] ^= self.quasi._array
        points = np.bitwise_xor.accumulate(steps, axis=0)
        self.quasi = created(points[-1].copy())
        return points

    def _scaled(self, points: Any, kind: Any) -> Any:
        return created(points).to(kind) * 2.0**-self.MAXBIT

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Tensor:
        """The next 2**m points; together with those before they must be a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ArgumentValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been "
                f"previously generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin anew."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next n points."""
        self._ahead(n if self.num_generated else n - 1)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        said = [f"dimension={self.dimension}"]
        said += ["scramble=True"] if self.scramble else []
        said += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(said)})"
