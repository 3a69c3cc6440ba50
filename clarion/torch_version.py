"""`torch.torch_version`: versions that compare by their numbers."""

from .torch_alias import PYTORCH
from .torch_alias import TorchVersion as TorchVersion

__version__ = TorchVersion(f"{PYTORCH}+clarion")
