"""`torch.utils._contextlib`: contexts that are decorators, too."""

from ..core.modes import _Mode as _DecoratorContextManager

__all__ = ["_DecoratorContextManager"]
