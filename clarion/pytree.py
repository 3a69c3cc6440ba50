"""Nested containers with leaves: `torch.utils._pytree`. Tuples, lists, dictionaries, named tuples, deques, and what is registered.

Everything else is a leaf; so is None.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .errors import ArgumentTypeError, ArgumentValueError

PyTree = Any
IsLeaf = Callable[[Any], bool] | None


class Container(NamedTuple):
    """How a kind of container is taken apart and put together."""

    flatten: Callable[[Any], tuple[list[Any], Any]]  # -> children, context
    unflatten: Callable[[Iterable[Any], Any], Any]


def _pairs(tree: Any) -> tuple[list[Any], Any]:
    return list(tree.values()), list(tree)


CONTAINERS: dict[type, Container] = {
    tuple: Container(lambda t: (list(t), None), lambda children, _: tuple(children)),
    list: Container(lambda t: (t, None), lambda children, _: list(children)),
    dict: Container(_pairs, lambda children, keys: dict(zip(keys, children, strict=True))),
    OrderedDict: Container(_pairs, lambda children, keys: OrderedDict(zip(keys, children, strict=True))),
    defaultdict: Container(
        lambda t: (list(t.values()), (t.default_factory, list(t))),
        lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
    ),
    deque: Container(lambda t: (list(t), t.maxlen), lambda children, length: deque(children, maxlen=length)),
}
_NAMED_TUPLE = Container(lambda t: (list(t), type(t)), lambda children, kind: kind(*children))


def _container(tree: Any, is_leaf: IsLeaf) -> Container | None:
    """How `tree` is taken apart; None for a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    found = CONTAINERS.get(type(tree))
    if found is None and isinstance(tree, tuple) and hasattr(tree, "_fields") and type(tree).__bases__ == (tuple,):
        return _NAMED_TUPLE
    return found


@dataclass
class TreeSpec:
    """The structure of a tree without its leaves; `type` is None for a leaf."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @property
    def num_leaves(self) -> int:
        """How many leaves the tree has."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    def is_leaf(self) -> bool:
        """Is it the structure of a single leaf?"""
        return self.type is None

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


LeafSpec = TreeSpec(None, None, [])


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    **names: Any,
) -> None:
    """From now on objects of this class are containers."""
    if cls in CONTAINERS:
        raise ArgumentValueError(f"{cls} is already registered as pytree node.")
    CONTAINERS[cls] = Container(flatten_fn, unflatten_fn)


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure around them."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    container = _container(tree, is_leaf)
    if container is None:
        leaves.append(tree)
        return LeafSpec
    children, context = container.flatten(tree)
    kind = tuple if container is _NAMED_TUPLE else type(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


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
    named = spec.type is tuple and spec.context is not None
    container = _NAMED_TUPLE if named else CONTAINERS[spec.type]
    return container.unflatten(children, spec.context)


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
    kind = None if container is None else tuple if container is _NAMED_TUPLE else type(tree)
    if container is None or kind is not spec.type:
        raise ArgumentValueError(f"Type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = container.flatten(tree)
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
    kind = tuple if container is _NAMED_TUPLE else type(tree)
    children, context = container.flatten(tree)
    if kind is not treespec.type or context != treespec.context or len(children) != len(treespec.children_specs):
        return None
    result: list[Any] = []
    for child, below in zip(children, treespec.children_specs, strict=True):
        found = _broadcast_to_and_flatten(child, below, is_leaf)
        if found is None:
            return None
        result += found
    return result
