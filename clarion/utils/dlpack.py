"""`torch.utils.dlpack`: memory shared with other array libraries."""

from ..ops.creation.dlpack import from_dlpack as from_dlpack
from ..ops.creation.dlpack import to_dlpack as to_dlpack
