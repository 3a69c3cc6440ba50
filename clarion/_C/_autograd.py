"""`torch._C._autograd`: what programs ask of the engine's compiled part."""

from ..autograd.grad_mode import set_versions as _unsafe_set_version_counter  # noqa: F401
from ..core import modes
from ..core.saved import SavedTensor as SavedTensor


def _saved_tensors_hooks_is_enabled() -> bool:
    """May saved-tensor hooks be used?"""
    return modes.state.saved_hooks_disabled is None
