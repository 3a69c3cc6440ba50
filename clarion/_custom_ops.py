"""`torch._custom_ops`: older names of `torch.library`."""

from .library import custom_op as custom_op
from .library import impl as impl
from .library import register_fake as impl_abstract  # noqa: F401
