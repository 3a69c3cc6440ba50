"""`torch.distributed.tensor.placement_types`: how a tensor would lie on several processes. Libraries write it into defaults."""

from __future__ import annotations

from dataclasses import dataclass

from ...absent import rest


@dataclass(frozen=True)
class Placement:
    """How a tensor lies on the processes of one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """In parts, along this dimension?"""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whole on each?"""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """As terms of a sum?"""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """In parts along a dimension."""

    dim: int


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on each process."""


@dataclass(frozen=True)
class Partial(Placement):
    """As terms that have yet to be put together."""

    reduce_op: str = "sum"


__getattr__ = rest(__name__)
