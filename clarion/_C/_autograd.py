"""`torch._C._autograd`: what programs ask of the engine's compiled part."""

from ..autograd.grad_mode import set_versions as _unsafe_set_version_counter  # noqa: F401
from ..core import modes, passes
from ..core.saved import SavedTensor as SavedTensor


def _saved_tensors_hooks_is_enabled() -> bool:
    """May saved-tensor hooks be used?"""
    return modes.state.saved_hooks_disabled is None


def _get_current_graph_task_keep_graph() -> bool:
    """Does the backward pass that is running in this thread keep what was saved? Outside of one: yes."""
    return passes.running.this is None or passes.running.this.retain
