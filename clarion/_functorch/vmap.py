"""`torch._functorch.vmap`: PyTorch's steps of a mapped call; clarion's stand in `func/mapping.py`."""

from __future__ import annotations

from ..absent import refusal
from ..core.tensor import Tensor as Tensor
from ..func.mapping import _name as _get_name  # noqa: F401
from ..func.mapping import restore_vmap as restore_vmap
from ..func.mapping import vmap as vmap
from ..pytree import TreeSpec as TreeSpec
from ..pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from ..pytree import tree_flatten as tree_flatten
from ..pytree import tree_map as tree_map
from ..pytree import tree_unflatten as tree_unflatten

_add_batch_dim = refusal("torch._C._functorch._add_batch_dim")
_maybe_remove_batch_dim = _remove_batch_dim = refusal("torch._C._functorch._remove_batch_dim")
_create_batched_inputs = refusal("torch._C._functorch._create_batched_inputs")
_process_batched_inputs = refusal("torch._C._functorch._process_batched_inputs")
_unwrap_batched = refusal("torch._C._functorch._unwrap_batched")
_validate_and_get_batch_size = refusal("torch._C._functorch._validate_and_get_batch_size")
