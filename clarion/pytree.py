"""Nested containers with leaves: `torch.utils._pytree`. Tuples, lists, dictionaries, named tuples, deques, and what is registered.

Everything else is a leaf; so is None.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .errors import ArgumentTypeError, ArgumentValueError

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and put together."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]  # -> children, context
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None = None  # -> (key, child) pairs, context


def _sequence_flatten(tree: Any) -> tuple[list[Any], Any]:
    return list(tree), None


def _dict_flatten(tree: Any) -> tuple[list[Any], Any]:
    return list(tree.values()), list(tree)


def _list_unflatten(children: Iterable[Any], context: Any) -> list[Any]:
    return list(children)


def _tuple_unflatten(children: Iterable[Any], context: Any) -> tuple[Any, ...]:
    return tuple(children)


def _dict_unflatten(children: Iterable[Any], keys: Any) -> dict[Any, Any]:
    return dict(zip(keys, children, strict=True))


def _ordereddict_unflatten(children: Iterable[Any], keys: Any) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(keys, children, strict=True))


def _defaultdict_flatten(tree: Any) -> tuple[list[Any], Any]:
    return list(tree.values()), [tree.default_factory, list(tree)]


def _defaultdict_unflatten(children: Iterable[Any], context: Any) -> defaultdict[Any, Any]:
    return defaultdict(context[0], zip(context[1], children, strict=True))


def _deque_flatten(tree: Any) -> tuple[list[Any], Any]:
    return list(tree), tree.maxlen


def _deque_unflatten(children: Iterable[Any], length: Any) -> deque[Any]:
    return deque(children, maxlen=length)


def _namedtuple_flatten(tree: Any) -> tuple[list[Any], Any]:
    return list(tree), type(tree)


def _namedtuple_unflatten(children: Iterable[Any], kind: Any) -> Any:
    return kind(*children)


# Named tuples of all classes are one kind, under the name of the function that makes the classes.
SUPPORTED_NODES: dict[Any, NodeDef] = {
    each.type: each
    for each in (
        NodeDef(tuple, _sequence_flatten, _tuple_unflatten),
        NodeDef(list, _sequence_flatten, _list_unflatten),
        NodeDef(dict, _dict_flatten, _dict_unflatten),
        NodeDef(namedtuple, _namedtuple_flatten, _namedtuple_unflatten),
        NodeDef(OrderedDict, _dict_flatten, _ordereddict_unflatten),
        NodeDef(defaultdict, _defaultdict_flatten, _defaultdict_unflatten),
        NodeDef(deque, _deque_flatten, _deque_unflatten),
    )
}


class Written(NamedTuple):
    """What a kind of container is called where a structure is written down, and what its context becomes there."""

    name: str | None
    to_dumpable: Callable[[Any], Any] | None = None
    from_dumpable: Callable[[Any], Any] | None = None


WRITTEN: dict[Any, Written] = {}


def is_namedtuple_class(cls: Any) -> bool:
    """Is it a class of named tuples, itself and not a subclass of one?"""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and hasattr(cls, "_fields")


def _get_node_type(tree: Any) -> Any:
    """What a tree is under in `SUPPORTED_NODES`; its class, if it is a leaf."""
    kind = type(tree)
    return kind if kind in SUPPORTED_NODES or not is_namedtuple_class(kind) else namedtuple


def _container(tree: Any, is_leaf: IsLeaf) -> NodeDef | None:
    """How `tree` is taken apart; None for a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    return SUPPORTED_NODES.get(_get_node_type(tree))


class TreeSpec:
    """The structure of a tree without its leaves; `type` is None for a leaf."""

    __slots__ = ("children_specs", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_children = len(children_specs)
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in children_specs)
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children_specs)

    def is_leaf(self) -> bool:
        """Is it the structure of a single leaf?"""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structures of the children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self.children_specs[index]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees in the places of the leaves."""
        return _leaves_like(tree, self)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A tree of this structure."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)

    def __hash__(self) -> int:
        context = self.context[1] if self.type is defaultdict else self.context
        return hash((self.type, tuple(context) if isinstance(context, list) else context, tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        below = (",\n" + " " * (indent + 2)).join(child.__repr__(indent + 2) for child in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{below}])"


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF_SPEC = LeafSpec()


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None = None,
) -> None:
    """From now on objects of this class are containers."""
    if cls in SUPPORTED_NODES:
        raise ArgumentValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ArgumentValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    WRITTEN[cls] = Written(serialized_type_name, to_dumpable_context, from_dumpable_context)


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure around them."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    container = _container(tree, is_leaf)
    if container is None:
        leaves.append(tree)
        return _LEAF_SPEC
    children, context = container.flatten_fn(tree)
    return TreeSpec(container.type, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """A tree of this structure with other leaves."""
    if not isinstance(treespec, TreeSpec):
        raise ArgumentTypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}."
        )
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ArgumentValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """The leaves in order, one by one."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure around the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """A tree of the same structure with `func` of each leaf (and the leaves in its place in the other trees)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [_leaves_like(rest, spec) for rest in rests]
    return tree_unflatten([func(*row) for row in zip(leaves, *columns, strict=True)], spec)


def _leaves_like(tree: Any, spec: TreeSpec) -> list[Any]:
    """The subtrees of `tree` in the places of the leaves of `spec`."""
    if spec.type is None:
        return [tree]
    container = _container(tree, None)
    kind = None if container is None else container.type
    if container is None or kind is not spec.type:
        raise ArgumentValueError(f"Type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = container.flatten_fn(tree)
    if len(children) != len(spec.children_specs):
        raise ArgumentValueError(f"Node arity mismatch; expected {len(spec.children_specs)}, but got {len(children)}.")
    if isinstance(tree, dict):  # the same keys in another order are the same
        if set(tree) != set(keys := spec.context[1] if kind is defaultdict else spec.context):
            raise ArgumentValueError(f"Node keys mismatch; expected {list(keys)}, but got {list(tree)}.")
        children = [tree[key] for key in keys]
    elif context != spec.context:
        raise ArgumentValueError(
            f"Node context mismatch for node type {kind!r}; expected {spec.context}, got {context}."
        )
    return [
        leaf for child, below in zip(children, spec.children_specs, strict=True) for leaf in _leaves_like(child, below)
    ]


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call `func` on every leaf; gives the tree as it was."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _is_kind(kind: Any) -> Callable[[Any], bool]:
    return (lambda leaf: isinstance(leaf, kind)) if isinstance(kind, (type, tuple)) else kind


def tree_map_only(kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` on the leaves of one kind (a type, several, or a question); others stay."""
    wanted = _is_kind(kind)
    return tree_map(lambda leaf: func(leaf) if wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Does it hold for all leaves?"""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Does it hold for one of the leaves?"""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(kind: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Does it hold for all leaves of one kind?"""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _is_kind(kind)(leaf))


def tree_any_only(kind: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Does it hold for one of the leaves of one kind?"""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _is_kind(kind)(leaf))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """A tree that is a prefix of the structure: each of its leaves as often as the structure has leaves below; or None."""
    container = _container(tree, is_leaf)
    if container is None:
        return [tree] * treespec.num_leaves
    children, context = container.flatten_fn(tree)
    if (
        container.type is not treespec.type
        or context != treespec.context
        or len(children) != len(treespec.children_specs)
    ):
        return None
    result: list[Any] = []
    for child, below in zip(children, treespec.children_specs, strict=True):
        found = _broadcast_to_and_flatten(child, below, is_leaf)
        if found is None:
            return None
        result += found
    return result
