"""`torch.distributed.tensor`: tensors over several processes. How one would be laid out can be said; there are none."""

from ...absent import rest
from .placement_types import Partial as Partial
from .placement_types import Placement as Placement
from .placement_types import Replicate as Replicate
from .placement_types import Shard as Shard

__getattr__ = rest(__name__)
