"""`torch.utils._pytree`: nested containers with leaves."""

from ..pytree import LeafSpec as LeafSpec
from ..pytree import PyTree as PyTree
from ..pytree import TreeSpec as TreeSpec
from ..pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from ..pytree import register_pytree_node as register_pytree_node
from ..pytree import tree_all as tree_all
from ..pytree import tree_all_only as tree_all_only
from ..pytree import tree_any as tree_any
from ..pytree import tree_any_only as tree_any_only
from ..pytree import tree_flatten as tree_flatten
from ..pytree import tree_iter as tree_iter
from ..pytree import tree_leaves as tree_leaves
from ..pytree import tree_map as tree_map
from ..pytree import tree_map_ as tree_map_
from ..pytree import tree_map_only as tree_map_only
from ..pytree import tree_structure as tree_structure
from ..pytree import tree_unflatten as tree_unflatten
