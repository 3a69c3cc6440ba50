"""`torch.fx.graph`: a program as a list of steps, which can be read, changed and written out as Python."""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..absent import rest
from .code import INPLACE as inplace_methods  # noqa: F401
from .code import MAGIC as magic_methods  # noqa: F401
from .code import CodeGen, PythonCode, table
from .code import _PyTreeCodeGen as _PyTreeCodeGen
from .code import _PyTreeInfo as _PyTreeInfo
from .names import Namespace, snake_case, title
from .names import Namespace as _Namespace  # noqa: F401
from .names import is_from_torch as _is_from_torch  # noqa: F401
from .names import snake_case as _snake_case  # noqa: F401
from .node import Argument as Argument
from .node import Node, map_arg
from .node import Target as Target


class _node_list:
    """The steps in order; `reversed` gives them from the end. Steps may be put in and taken out on the way."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        at, forward = self.graph._root, self.direction == "_next"
        at = at._next if forward else at._prev
        while at is not self.graph._root:
            if not at._erased:
                yield at
            at = at._next if forward else at._prev

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class _InsertPoint:
    """While it is entered, new steps go elsewhere."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.graph._insert = self.before


class Graph:
    """The steps of a program, from its placeholders to its output."""

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._owners = 0
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._traced = ""  # " from file:line in function", if it was traced

    @property
    def owning_module(self) -> Any:
        """The GraphModule it belongs to, if there is one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """The steps in order."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The step that returns."""
        return next(iter(reversed(self.nodes)))

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The steps of one kind, with one target."""
        if op == "call_function" and target is None:
            return [node for node in self.nodes if node.op == op]
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # Steps ----------------------------------------------------------------------------------------------

    def create_node(
        self, op: str, target: Any, args: Any = None, kwargs: Any = None, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """A new step, at the place where steps are inserted."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected kwargs to be dict, got {type(kwargs)}")
        title = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, title, op, target, args, kwargs, type_expr)
        for told in getattr(self.owning_module, "_create_node_hooks", ()):
            told(node)
        self._graph_namespace.associate_name_with_obj(title, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        name = title(target) if callable(target) else target
        if name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return snake_case(name)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        """An argument of the program."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Something that the module holds, by its path."""
        if self.owning_module is not None and not _holds(self.owning_module, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
                "Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a module, by its path."""
        if self.owning_module is not None and not _holds(self.owning_module, module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Any, args: Any = None, kwargs: Any = None, type_expr: Any = None, name: str | None = None
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the program returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    # Changes --------------------------------------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Take a step out that nobody uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for told in getattr(self.owning_module, "_erase_node_hooks", ()):
            told(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update_args_kwargs((), {})

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New steps go before this one. For `with`."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New steps go right after this one, so that the one made last comes first. For `with`."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A step of another graph, with its arguments as `arg_transform` gives them."""
        made = self.create_node(
            node.op, node.target, map_arg(node.args, arg_transform), dict(map_arg(node.kwargs, arg_transform)), node.name,
            node.type,
        )  # fmt: skip
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """All steps of another graph; what its output is here. `val_map` says which node stands for which."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda each: val_map[each])
                return result if not return_output_node else (result, node)
            val_map[node] = self.node_copy(node, lambda each: val_map[each])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        nodes: dict[Node, Node] = {}
        found = made.graph_copy(self, nodes, return_output_node=True)
        made._codegen, made._traced = copy.copy(self._codegen), self._traced
        if found is not None:
            result, old = found
            node = made.output(result, type_expr=getattr(old, "type", None))
            node.meta = copy.copy(old.meta)
        return made

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out the steps whose results nobody uses; whether there were any."""
        self.lint()
        impure = is_impure_node or (lambda node: node.is_impure())
        changed = False
        for node in reversed(self.nodes):
            if not node.users and node.op != "output" and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    # Checks and texts -----------------------------------------------------------------------------------

    def lint(self) -> None:
        """Is the graph in order? Each step uses only what came before, names are different, paths lead somewhere."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node._input_nodes:
                _check_argument(self, used, node, seen)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            seen.add(node)
            if self.owning_module is not None and node.op in ("call_module", "get_attr"):
                _check_path(self.owning_module, node)

    def python_code(self, root_module: str, *, verbose: bool = False, **how: Any) -> PythonCode:
        """The graph as a function `forward`; `root_module` is the name of the module in it."""
        namespace = Namespace()
        before = {node: node._repr_fn for node in self.nodes}

        def shown(node: Node) -> str:
            return namespace.create_name(node.name, node)

        for node in self.nodes:
            node._repr_fn = shown
        try:
            return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose, **how)
        finally:
            for node, shown_before in before.items():
                node._repr_fn = shown_before

    def __str__(self) -> str:
        lines = [node.format_node() for node in self.nodes]
        return "graph():" + "".join(f"\n    {line}" for line in lines if line)

    def print_tabular(self) -> None:
        """Print the steps as a table."""
        print(table(self))

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let the text be written in another way."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> Any:
        """Let the lines of the text pass through a function, which is made from the one before; for `with`, too."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def until_left() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return until_left()

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of a call as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the output node holds as a call returns it."""
        return self._codegen.process_outputs(out)


def _check_argument(graph: Graph, used: Node, node: Node, seen: set[Node]) -> None:
    if used.graph is not graph:
        raise RuntimeError(
            f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you are "
            "copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n"
            f"{graph}"
        )
    if used not in seen:
        raise RuntimeError(
            f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in the "
            f"graph are topologically ordered\n{graph}"
        )


def _check_path(module: Any, node: Node) -> None:
    at, path = module, ""
    for part in node.target.split("."):
        if not hasattr(at, part):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {path}")
        at, path = getattr(at, part), f"{path}.{part}" if path else part
    if node.op == "call_module" and not callable(at):
        raise RuntimeError(f"Node {node} target {node.target} {path} of {path} does not reference an nn.Module")


def _holds(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


__getattr__ = rest(__name__)
