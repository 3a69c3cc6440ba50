"""The von Mises distribution: angles around a mean angle."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .spellings import same_as
from .utils import broadcast_all, lazy_property

# log I_0 and log I_1 by polynomials in (x / 3.75)^2 below 3.75, and in 3.75 / x above: PyTorch's.
SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2),
)  # fmt: skip


def _polynomial(y: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    *rest, result = coefficients
    for each in reversed(rest):
        result = each + y * result
    return result  # type: ignore[return-value]


def log_bessel(x: Tensor, order: int) -> Tensor:
    """log I_order(x) for x > 0 and the orders 0 and 1."""
    small = _polynomial((x / 3.75).pow(2), SMALL[order])
    small = (x.abs() * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, LARGE[order]).log()
    return clarion.where(x < 3.75, small, large)  # type: ignore[no-any-return]


class VonMises(Distribution):
    """VonMises(loc, concentration): angles modulo 2 pi; draws lie between -pi and pi."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    mean = same_as("loc", "The mean on the circle.")
    mode = same_as("loc", "Where the density is highest.")

    @lazy_property
    def variance(self) -> Tensor:
        """The variance on the circle."""
        return 1 - (log_bessel(self.concentration, 1) - log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        height = self.concentration * (value - self.loc).cos()
        return height - math.log(2 * math.pi) - log_bessel(self.concentration, 0)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        """By Best and Fisher's rejection, in double precision: in single it may never end."""
        with modes.no_grad():
            loc, kappa = self.loc.double(), self.concentration.double()
            tau = 1 + (1 + 4 * kappa**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            r = clarion.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
            shape = self._extended_shape(sample_shape)
            x = clarion.zeros(shape, dtype=clarion.float64)
            done = clarion.zeros(shape, dtype=clarion.bool)
            while not done.all():
                u1, u2, u3 = clarion.rand((3, *shape), dtype=clarion.float64).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = clarion.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accept
            angle = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)  # type: ignore[no-any-return]
