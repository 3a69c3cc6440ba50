"""`torch._inductor`: settings of a compiler of kernels that is not there."""

from . import config as config
