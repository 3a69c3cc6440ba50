"""`torch.return_types`: the named tuples of operations with several results."""

from .core.return_types import *  # noqa: F403
