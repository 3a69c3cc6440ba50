"""The base of all distributions."""

from __future__ import annotations

import warnings
from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, NotSupportedError
from . import constraints
from .utils import lazy_property


class Distribution:
    """A batch of distributions.

    arg_constraints   the parameters: each is an attribute, whose constraint says where it may lie and how many of its
                      dimensions (`event_dim`) are one parameter; the others are the batch
    support           where values may lie
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether arguments are checked where a distribution is not told."""
        if value not in (True, False):
            raise ArgumentValueError(f"set_default_validate_args() expects True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None) -> None:  # noqa: B008
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()  # a distribution can be a Module as well

    def _check_parameters(self) -> None:
        try:
            known = self.arg_constraints
        except NotImplementedError:
            known = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in known.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # the other way to give the same parameter
            value = getattr(self, name)
            if not constraints.holds(constraint, value):
                raise ArgumentValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    # Shapes --------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch: one distribution each."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions in a larger batch; parameters are expanded, not copied."""
        new = self._get_checked_instance(self._defining_class(), _instance)
        batch_shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                tail = value.shape[value.dim() - constraint.event_dim :]
                new.__dict__[name] = value.expand((*batch_shape, *tail))
        self._expand_rest(new, batch_shape)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        """What a family keeps besides its parameters."""

    def _defining_class(self) -> type:
        """The family of this package that the class belongs to."""
        here = __name__.rpartition(".")[0]
        return next(cls for cls in type(self).__mro__ if cls.__module__.startswith(here))

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotSupportedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    # What each family answers ----------------------------------------------------------------------

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The parameters and where they may lie."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Where values may lie."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        """Values drawn without gradient, of shape sample_shape + batch_shape + event_shape."""
        with modes.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        """Values drawn so that they are differentiable in the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """The older spelling of sample((n,))."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability (density) of a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a value not above this one."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The value below which a draw lies with this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along dimension 0."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    # Checks --------------------------------------------------------------------------------------

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ArgumentValueError("The value argument to log_prob must be a Tensor")
        given, expected = value.shape, Size((*self._batch_shape, *self._event_shape))
        start = len(given) - len(self._event_shape)
        if given[start:] != self._event_shape:
            raise ArgumentValueError(
                f"The right-most size of value must match event_shape: {given} vs {self._event_shape}."
            )
        for i, j in zip(reversed(given), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ArgumentValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {given} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not constraints.holds(support, value):
            raise ArgumentValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        parts = [f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in shown.items()]
        return f"{self.__class__.__name__}({', '.join(parts)})"


def standard_normal(shape: Any, dtype: Any) -> Tensor:
    """Standard normal numbers."""
    return clarion.empty(shape, dtype=dtype).normal_()
