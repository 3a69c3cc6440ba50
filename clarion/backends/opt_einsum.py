"""`torch.backends.opt_einsum`: the order of products in `einsum` is NumPy's greedy one; the package is not asked."""

from __future__ import annotations

from ..absent import rest
from .switches import no, switches

enabled, strategy = False, None
set_flags, flags = switches(__name__, enabled=None, strategy=None)
is_available = no


def get_opt_einsum() -> None:
    """The package: it is not asked."""


__getattr__ = rest(__name__)
