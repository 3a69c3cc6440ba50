"""`torch._C._autograd`: what programs ask of the engine's compiled part."""

from ..autograd.grad_mode import set_versions as _unsafe_set_version_counter  # noqa: F401
from ..core.saved import SavedTensor as SavedTensor
