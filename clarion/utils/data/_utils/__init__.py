"""The parts of `torch.utils.data._utils` that programs reach for."""

from . import collate as collate
from . import worker as worker
