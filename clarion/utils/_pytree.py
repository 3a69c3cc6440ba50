"""`torch.utils._pytree`: nested containers with leaves, and the paths to them."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

from ..core.dtypes import Size
from ..errors import ArgumentTypeError, ArgumentValueError, NotSupportedError
from ..pytree import _LEAF_SPEC as _LEAF_SPEC
from ..pytree import SUPPORTED_NODES as SUPPORTED_NODES
from ..pytree import WRITTEN, IsLeaf, Written, _container, _leaves_like
from ..pytree import Context as Context
from ..pytree import LeafSpec as LeafSpec
from ..pytree import NodeDef as NodeDef
from ..pytree import PyTree as PyTree
from ..pytree import TreeSpec as TreeSpec
from ..pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from ..pytree import _defaultdict_flatten as _defaultdict_flatten
from ..pytree import _defaultdict_unflatten as _defaultdict_unflatten
from ..pytree import _deque_flatten as _deque_flatten
from ..pytree import _deque_unflatten as _deque_unflatten
from ..pytree import _dict_flatten as _dict_flatten
from ..pytree import _dict_unflatten as _dict_unflatten
from ..pytree import _get_node_type as _get_node_type
from ..pytree import _list_unflatten as _list_unflatten
from ..pytree import _namedtuple_flatten as _namedtuple_flatten
from ..pytree import _namedtuple_unflatten as _namedtuple_unflatten
from ..pytree import _ordereddict_unflatten as _ordereddict_unflatten
from ..pytree import _sequence_flatten as _list_flatten
from ..pytree import _tuple_unflatten as _tuple_unflatten
from ..pytree import is_namedtuple_class as is_namedtuple_class
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

__all__ = [  # noqa: RUF022  (in the order of PyTorch, which can be asked about)
    "PyTree", "Context", "FlattenFn", "UnflattenFn", "DumpableContext", "ToDumpableContextFn", "FromDumpableContextFn",
    "PyTreeSpec", "TreeSpec", "LeafSpec", "keystr", "key_get", "register_pytree_node", "tree_is_leaf", "tree_flatten",
    "tree_flatten_with_path", "tree_unflatten", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_structure",
    "tree_map", "tree_map_with_path", "tree_map_", "tree_map_only", "tree_map_only_", "tree_all", "tree_any",
    "tree_all_only", "tree_any_only", "treespec_dumps", "treespec_loads", "treespec_pprint", "is_namedtuple",
    "is_namedtuple_class", "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance",
]  # fmt: skip

PyTreeSpec = TreeSpec
_private_register_pytree_node = register_pytree_node
_tuple_flatten = _list_flatten
_ordereddict_flatten = _odict_flatten = _dict_flatten
_odict_unflatten = _ordereddict_unflatten
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A place in a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """An attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]
FlattenFunc = FlattenFn = Callable[[Any], tuple[list[Any], Any]]
UnflattenFunc = UnflattenFn = Callable[[Iterable[Any], Any], Any]
DumpableContext = Any
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]


def _list_flatten_with_keys(tree: Any) -> tuple[list[Any], Any]:
    children, context = SUPPORTED_NODES[type(tree)].flatten_fn(tree)
    return [(SequenceKey(i), child) for i, child in enumerate(children)], context


_tuple_flatten_with_keys = _deque_flatten_with_keys = _list_flatten_with_keys


register_pytree_node(  # a shape becomes a tuple: what its sizes are mapped to need not be integers
    Size,
    lambda sizes: (list(sizes), None),
    lambda sizes, _: tuple(sizes),
    flatten_with_keys_fn=_list_flatten_with_keys,
    serialized_type_name="torch.Size",
)


def _dict_flatten_with_keys(tree: Any) -> tuple[list[Any], Any]:
    children, context = SUPPORTED_NODES[type(tree)].flatten_fn(tree)
    return [(MappingKey(key), child) for key, child in zip(tree, children, strict=True)], context


_ordereddict_flatten_with_keys = _defaultdict_flatten_with_keys = _dict_flatten_with_keys


def _namedtuple_flatten_with_keys(tree: Any) -> tuple[list[Any], Any]:
    return [(GetAttrKey(name), child) for name, child in zip(tree._fields, tree, strict=True)], type(tree)


def _with_keys(tree: Any, container: NodeDef) -> list[tuple[Any, Any]]:
    if container.flatten_with_keys_fn is not None:
        return container.flatten_with_keys_fn(tree)[0]
    if isinstance(tree, dict):
        return _dict_flatten_with_keys(tree)[0]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return _namedtuple_flatten_with_keys(tree)[0]
    if container.type not in BUILTIN_TYPES and not isinstance(tree, list):  # torch.fx's immutable lists are lists
        raise ArgumentValueError(
            f"Did not find a flatten_with_keys_fn for type: {container.type}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    return _list_flatten_with_keys(tree)[0]


def _paths(path: KeyPath, tree: Any, is_leaf: IsLeaf) -> Iterable[tuple[KeyPath, Any]]:
    container = _container(tree, is_leaf)
    if container is None:
        yield path, tree
        return
    for key, child in _with_keys(tree, container):
        yield from _paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves in order, each with the keys that lead to it."""
    return list(_paths((), tree, is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with their paths, and the structure around them."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` whose function is also given the path."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [_leaves_like(rest, spec) for rest in rests]
    return tree_unflatten([func(*pair, *row) for pair, *row in zip(pairs, *columns, strict=True)], spec)


def keystr(kp: KeyPath) -> str:
    """A path as text: `['a'][0].x`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def tree_map_only_(kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call `func` on every leaf of one kind; gives the tree as it was."""
    tree_map_only(kind, func, tree, is_leaf)
    return tree


def map_only(kind: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is called on values of one kind, others stay."""

    def wrap(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: tree_map_only(kind, func, value, is_leaf=lambda _: True)

    return wrap


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Is it a leaf?"""
    return _container(tree, is_leaf) is None


_is_leaf = tree_is_leaf


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves(args) + tree_leaves(kwargs)


def is_namedtuple_instance(obj: object) -> bool:
    """Is it a named tuple?"""
    return is_namedtuple_class(type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def is_namedtuple(obj: object) -> bool:
    """Is it a named tuple, or a class of them?"""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Is it a class of structures as `time.struct_time` is one?"""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "n_fields", None), int)


def is_structseq_instance(obj: object) -> bool:
    """Is it such a structure?"""
    return is_structseq_class(type(obj))


def is_structseq(obj: object) -> bool:
    """Is it such a structure, or a class of them?"""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


# Registration ----------------------------------------------------------------------------------------


def _register_pytree_node(cls: type, flatten_fn: Any, unflatten_fn: Any, **names: Any) -> None:
    """Older name of `register_pytree_node`, which lets a class be registered again."""
    old = "torch.utils._pytree._register_pytree_node"
    new = "torch.utils._pytree.register_pytree_node"
    warnings.warn(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning, stacklevel=2)
    if SUPPORTED_NODES.pop(cls, None) is not None:
        again = f"{cls} is already registered as pytree node. Overwriting the previous registration."
        warnings.warn(again, UserWarning, stacklevel=2)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **names)


def _deregister_pytree_node(cls: type) -> None:
    """Objects of this class are leaves again."""
    del SUPPORTED_NODES[cls]
    WRITTEN.pop(cls, None)


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None, **names: Any
) -> None:
    """From now on objects of a dataclass are containers of their fields."""
    if not dataclasses.is_dataclass(cls):
        raise ArgumentTypeError(f"Only dataclasses can be registered with this function: {cls}")
    fields = field_names or [
        f.name for f in dataclasses.fields(cls) if f.init and f.name not in (drop_field_names or ())
    ]

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        there = [name for name in fields if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in there], [there, [name for name in fields if name not in there]]

    def flatten_with_keys(obj: Any) -> tuple[list[Any], Any]:
        children, context = flatten(obj)
        return [(MappingKey(name), child) for name, child in zip(context[0], children, strict=True)], context

    def unflatten(children: Iterable[Any], context: Any) -> Any:
        return cls(**dict(zip(context[0], children, strict=True)), **dict.fromkeys(context[1]))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys, **names)


_CONSTANTS: set[type] = set()


def register_constant(cls: type) -> None:
    """Objects of this class are part of the structure, and no leaves."""
    _CONSTANTS.add(cls)
    register_pytree_node(cls, lambda obj: ([], obj), lambda _, obj: obj)


def is_constant_class(cls: type) -> bool:
    """Was the class registered so?"""
    return cls in _CONSTANTS


# Structures ------------------------------------------------------------------------------------------


def treespec_leaf() -> LeafSpec:
    """The structure of a leaf."""
    return _LEAF_SPEC


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of these."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The structure of a dictionary of these."""
    children = dict(mapping, **kwargs)
    return TreeSpec(dict, list(children), list(children.values()))


# As JSON ---------------------------------------------------------------------------------------------

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


def _factory_to_name(context: Any) -> Any:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _name_to_factory(written: Any) -> Any:
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


def _tuple_class_to_name(context: Any) -> str:
    if context not in _TUPLE_CLASSES:
        raise NotSupportedError(
            f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return _TUPLE_CLASSES[context]


def _name_to_tuple_class(written: str) -> Any:
    for cls, name in _TUPLE_CLASSES.items():
        if name == written:
            return cls
    raise NotSupportedError(
        f"Can't deserialize TreeSpec of namedtuple class {written} because we couldn't find a serializated name."
    )


_TUPLE_CLASSES: dict[type, str] = {}
for _kind in (tuple, list, dict, OrderedDict, deque):
    WRITTEN[_kind] = Written(f"{_kind.__module__}.{_kind.__qualname__}")
WRITTEN[defaultdict] = Written("collections.defaultdict", _factory_to_name, _name_to_factory)
WRITTEN[namedtuple] = Written("collections.namedtuple", _tuple_class_to_name, _name_to_tuple_class)


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Say under which name a class of named tuples is written down."""
    _TUPLE_CLASSES[cls] = serialized_type_name


def _written(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    kind = WRITTEN.get(spec.type)
    if kind is None or kind.name is None:
        raise NotSupportedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg."
        )
    own = kind.to_dumpable
    context = json.dumps(spec.context, default=_enumeration) if own is None else own(spec.context)
    return {"type": kind.name, "context": context, "children_spec": [_written(child) for child in spec.children_specs]}


def _enumeration(value: Any) -> Any:
    """A member of an enumeration by its name; nothing else that JSON does not know."""
    if isinstance(value, enum.Enum):
        return {"__enum__": True, "fqn": f"{type(value).__module__}:{type(value).__qualname__}", "name": value.name}
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _read(value: dict[str, Any]) -> TreeSpec:
    if value["type"] is None:
        return _LEAF_SPEC
    kind = next((kind for kind, written in WRITTEN.items() if written.name == value["type"]), None)
    if kind is None:
        raise NotSupportedError(
            f"Unable to deserialize {value['type']} in tree spec: it is not registered with a serialized_type_name here."
        )
    own = WRITTEN[kind].from_dumpable
    context = json.loads(value["context"]) if own is None else own(value["context"])
    return TreeSpec(kind, context, [_read(child) for child in value["children_spec"]])


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, in PyTorch's form."""
    if not isinstance(treespec, TreeSpec):
        raise ArgumentTypeError(
            f"Expected `treespec` to be an instance of TreeSpec but got item of type {type(treespec)}."
        )
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise _unknown(protocol)
    return json.dumps((protocol, _written(treespec)), default=_enumeration)


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` wrote."""
    protocol, written = json.loads(serialized)
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise _unknown(protocol)
    return _read(written)


def _unknown(protocol: Any) -> ArgumentValueError:
    known = [DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]
    return ArgumentValueError(f"Unknown protocol {protocol}. Available protocols: {known}")


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as text."""
    return repr(treespec)
