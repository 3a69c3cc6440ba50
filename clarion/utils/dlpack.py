"""`torch.utils.dlpack`: memory shared with other array libraries."""

from ..ops.fromdata import from_dlpack as from_dlpack
from ..ops.fromdata import to_dlpack as to_dlpack
