"""`torch.utils`."""

from . import dlpack as dlpack
