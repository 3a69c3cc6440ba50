"""`torch.storage`: the memory behind tensors."""

from .ops.creation.storage import TypedStorage as TypedStorage
from .ops.creation.storage import UntypedStorage as UntypedStorage
