"""`torch.storage`: the memory behind tensors."""

from .ops.memory import TypedStorage as TypedStorage
from .ops.memory import UntypedStorage as UntypedStorage
