"""`torch.fx.node`: one step of a traced program: what is called, with what, and who uses the result."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..absent import rest
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from .immutable_collections import immutable_dict, immutable_list
from .names import qualified_name, type_repr

if TYPE_CHECKING:
    from .graph import Graph

Argument = Any
Target = Any
_legal_ops = frozenset(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
_get_qualified_name, _type_repr = qualified_name, type_repr
_side_effectful_functions: set[Any] = set()


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Calls of this function are kept, though nobody uses what they return. A decorator."""
    _side_effectful_functions.add(fn)
    return fn


def _has_side_effect(target: Any) -> bool:
    from ..symbols import _assert, _assert_async

    if target in (_assert, _assert_async, operator.setitem) or target in _side_effectful_functions:
        return True
    if hasattr(target, "_overloadpacket"):  # an operation of torch.ops that writes
        name = target._overloadpacket.__name__
        return target._overloadname == "out" or (name.endswith("_") and not name.endswith("__"))
    return getattr(target, "__name__", "") in ("_assert_is_none",)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """`fn` of everything in nested tuples, lists, dicts and slices, in the same nest."""
    if isinstance(a, tuple):
        parts = [map_aggregate(each, fn) for each in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list([map_aggregate(each, fn) for each in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(each, fn) for key, each in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """`fn` of every node in nested containers."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


class Node:
    """One step of a graph. `args` and `kwargs` hold other nodes wherever their results go in; `users` says who holds this one."""

    def __init__(
        self, graph: Graph, name: str, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:  # fmt: skip
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ArgumentValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise ArgumentValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} but a str is expected"
            )
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._next = self._prev = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._update_args_kwargs(args, kwargs)

    # Its place in the list ------------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The step after it."""
        return self._next

    @property
    def prev(self) -> Node:
        """The step before it."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Put another step before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Put another step after this one."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def _position(self) -> int:
        count, at = 0, self.graph._root
        while at._next is not self:
            at, count = at._next, count + 1
            if at is self.graph._root:
                raise ArgumentValueError(f"{self} is not in its graph any more")
        return count

    def __lt__(self, other: Node) -> bool:
        return self._position() < other._position()

    def __gt__(self, other: Node) -> bool:
        return self._position() > other._position()

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # What goes in ---------------------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments with names."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}
        self._args = map_aggregate(args, self._use)
        self._kwargs = map_aggregate(kwargs, self._use)

    def _use(self, value: Any) -> Any:
        if isinstance(value, Node):
            self._input_nodes.setdefault(value)
            value.users.setdefault(self)
        return value

    def update_arg(self, idx: int, arg: Any) -> None:
        """Put another argument in the place of the one at `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put an argument before the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Put another argument under a name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take another node's result wherever this step took `old_input`'s."""
        change = lambda node: new_input if node is old_input else node  # noqa: E731
        self._update_args_kwargs(map_arg(self.args, change), map_arg(self.kwargs, change))

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:  # fmt: skip
        """Let all who use this result use another one; who they are."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")  # fmt: skip
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
            for told in getattr(self.graph.owning_module, "_replace_hooks", ()):
                told(old=self, new=replace_with.name, user=user)
        return changed

    # What it is -----------------------------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where in the program it was traced, if the tracer wrote that down."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Does it do more than give a result? Then it stays, though nobody uses that."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            if "out" in self.kwargs and self.kwargs["out"] is not None:
                return True
            if impure_random and qualified_name(self.target) in _RANDOM:
                return True
            return _has_side_effect(self.target)
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = self.graph.owning_module.get_submodule(self.target)
            return bool(getattr(module, "_is_impure", False))
        return False

    def normalized_arguments(
        self, root: Any, arg_types: Any = None, kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False
    ) -> Any:
        """Its arguments as the signature of what it calls has them; None if that cannot be said."""
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._of_object[self] = self.name

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def __deepcopy__(self, memo: Any) -> Node:
        raise AssertionError("a Node is copied with its graph: copy.deepcopy(graph)")

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        if getattr(builtins, getattr(target, "__name__", ""), None) is target:
            return f"builtins.{target.__name__}"
        return qualified_name(target).removeprefix("_" if target.__module__ == "_operator" else "")

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None, *,
        include_tensor_metadata: bool = False,
    ) -> str | None:  # fmt: skip
        """The step as a line of `print(graph)`."""
        if self.op == "placeholder":
            return self._format_placeholder(placeholder_names)
        kind = f"{type_repr(self.type)} " if self.type else ""
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self.args[0]}"
        told = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "get_attr":
            return told
        return f"{told}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"

    def _format_placeholder(self, names: list[str] | None) -> str | None:
        kind = f"{type_repr(self.type)} " if self.type else ""
        if names is not None:
            names.append(f"{self.target} : {kind.strip()}" if kind else str(self.target))
            return None
        default = f"(default={self.args[0]})" if self.args else ""
        return f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={self.target}]{default}"


_RANDOM = frozenset(["torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.normal", "torch.bernoulli"])


def _format_arg(arg: Any) -> str:
    """An argument in a line of `print(graph)`: nodes with a percent sign."""
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, tuple) and hasattr(arg, "_fields"):
        parts = [f"{name}={_format_arg(each)}" for name, each in zip(arg._fields, arg, strict=True)]
        return f"{type(arg).__name__}({', '.join(parts)})"
    if isinstance(arg, tuple):
        return f"({', '.join(map(_format_arg, arg))}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(each)}" for key, each in arg.items()) + "}"
    if isinstance(arg, slice):
        return f"slice({_format_arg(arg.start)}, {_format_arg(arg.stop)}, {_format_arg(arg.step)})"
    if isinstance(arg, Node):
        return f"%{arg}"
    return f"tensor of shape {tuple(arg.shape)}" if isinstance(arg, Tensor) else str(arg)


__getattr__ = rest(__name__)
