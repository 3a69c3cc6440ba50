"""`torch.nn.parallel`: several devices and processes. There is one of each, so the wrappers call the module."""

from ...absent import rest
from .data_parallel import DataParallel as DataParallel
from .data_parallel import data_parallel as data_parallel
from .distributed import DistributedDataParallel as DistributedDataParallel

__getattr__ = rest(__name__)
