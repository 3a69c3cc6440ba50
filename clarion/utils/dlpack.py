"""`torch.utils.dlpack`: memory shared with other array libraries."""

from ..ops.creation.from_data import from_dlpack as from_dlpack
from ..ops.creation.from_data import to_dlpack as to_dlpack
