"""`torch.utils.data.datapipes`: datasets as pipes, each of which changes what the one before it gives."""

from . import iter as iter
from . import map as map
