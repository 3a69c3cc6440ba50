"""`torch.utils`."""

from . import data as data
from . import dlpack as dlpack
