"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution


class MixtureSameFamily(Distribution):
    """MixtureSameFamily(mixture, components): the last batch dimension of `components` is drawn from `mixture`."""

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ArgumentValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ArgumentValueError(
                "The Component distribution need to be an instance of torch.distributions.Distribution"
            )
        batch = component_distribution.batch_shape[:-1]
        for ours, theirs in zip(reversed(mixture_distribution.batch_shape), reversed(batch), strict=False):
            if ours != 1 and theirs != 1 and ours != theirs:
                raise ArgumentValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        weights, parts = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if weights != parts:
            raise ArgumentValueError(
                f"`mixture_distribution component` ({weights}) does not equal `component_distribution.batch_shape[-1]` "
                f"({parts})"
            )
        self._num_component = weights
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(Size((*batch_shape, self._num_component)))
        new._mixture_distribution = self._mixture_distribution.expand(Size(batch_shape))
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """Which component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _weights(self) -> Tensor:
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * self._event_ndims))  # type: ignore[no-any-return]

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """Mean of the variances, plus variance of the means."""
        dim, parts, weights = -1 - self._event_ndims, self._component_distribution, self._weights()
        between = (parts.mean - self._pad(self.mean)).pow(2.0)
        return (weights * parts.variance).sum(dim) + (weights * between).sum(dim)

    def cdf(self, x: Tensor) -> Tensor:  # type: ignore[override]
        parts = self._component_distribution.cdf(self._pad(x))
        return (parts * self._mixture_distribution.probs).sum(-1)  # type: ignore[no-any-return]

    def log_prob(self, x: Tensor) -> Tensor:  # type: ignore[override]
        if self._validate_args:
            self._validate_sample(x)
        parts = self._component_distribution.log_prob(self._pad(x))
        return (parts + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)  # type: ignore[no-any-return]

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        with modes.no_grad():
            which = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            index = which.reshape((*which.shape, *[1] * (self._event_ndims + 1)))
            ones = [1] * (which.dim() + 1)
            return drawn.gather(dim, index.repeat((*ones, *self.event_shape))).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"
