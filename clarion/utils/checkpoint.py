"""`torch.utils.checkpoint`."""

from ..checkpoint import CheckpointError as CheckpointError
from ..checkpoint import CheckpointFunction as CheckpointFunction
from ..checkpoint import checkpoint as checkpoint
from ..checkpoint import checkpoint_sequential as checkpoint_sequential
from ..checkpoint import noop_context_fn as noop_context_fn
from ..checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from ..checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
