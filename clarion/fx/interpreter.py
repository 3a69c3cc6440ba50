"""`torch.fx.interpreter`: a graph run step by step, with a method for each kind of step; and made into another graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..absent import rest
from ..errors import EngineError
from ..nn.modules.module import Module
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy


class Interpreter:
    """Runs a graph. Subclasses change what a step does (`call_function`, `call_module`, …) or look at all (`run_node`)."""

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph  # type: ignore[assignment]
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = _last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run all steps; what the program returns."""
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:  # its value was given
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                self._explain(error, node)
                raise
            for each in self.user_to_last_uses.get(node, ()):
                del self.env[each]
            if node.op == "output":
                output = self.env[node]
                return self.graph.process_outputs(output) if enable_io_processing else output
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` of the values in a list, which is emptied, so that nobody else keeps them."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    def _explain(self, error: BaseException, node: Node) -> None:
        """Add to an error at which step it happened."""
        if not self.extra_traceback or not error.args:
            return
        told = f"While executing {node.format_node()}"
        first = f"{error.args[0]}\n\n{told}" if error.args[0] else told
        error.args = (f"{first}\nOriginal traceback:\n{node.stack_trace}", *error.args[1:])
        if isinstance(error, KeyError):
            raise EngineError(*error.args) from error

    def run_node(self, n: Node) -> Any:
        """Run one step."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # One method for each kind of step -------------------------------------------------------------------

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of the program."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as error:
            if args:
                return args[0]
            raise EngineError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from error

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module holds at a path."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the first argument."""
        obj, *rest_of = args
        return getattr(obj, target)(*rest_of, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a module."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What is returned."""
        return args[0]

    # Values ---------------------------------------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """What the module holds at a path."""
        at: Any = self.module
        for i, part in enumerate(target.split(".")):
            if not hasattr(at, part):
                raise EngineError(f"Node referenced nonexistent target {'.'.join(target.split('.')[: i + 1])}")
            at = getattr(at, part)
        return at

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a step, as values."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected node.args to be tuple, got {type(args)}")
        return args, dict(kwargs)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Values in the place of nodes."""

        def load(node: Node) -> Any:
            if node not in self.env:
                raise EngineError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return _as_written(map_arg(args, load))


def _as_written(value: Any) -> Any:
    """Ordinary lists and dicts in the place of those that cannot be changed: functions may look at types."""
    if type(value) is tuple:
        return tuple(map(_as_written, value))
    if type(value).__name__ == "immutable_list":
        return list(map(_as_written, value))
    if type(value).__name__ == "immutable_dict":
        return {key: _as_written(each) for key, each in value.items()}
    return value


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """For each node, the values that nobody needs after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        for used in node._input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found


_ORIGIN = ("nn_module_stack", "stack_trace", "source_fn_stack")


class Transformer(Interpreter):
    """Makes another graph: methods give what stands for the result of a step (a Proxy); `transform()` is the new module."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        new_graph = self.new_graph

        class TransformerTracer(Tracer):
            def __init__(self) -> None:
                super().__init__()
                self.graph = new_graph
                self.root = module
                self.tensor_attrs = {}

            def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
                return True

        self.tracer = TransformerTracer()

    def run_node(self, n: Node) -> Any:
        """The new step knows where the old one came from."""
        made = super().run_node(n)
        if isinstance(made, Proxy):
            made.node.meta |= {key: n.meta[key] for key in _ORIGIN if key in n.meta}
        return made

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An argument of the new program."""
        default = args[0] if args else _empty()
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module holds, in the new program."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a module in the new program."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function in the new program."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Run the steps; the module of the new program."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            node = self.new_graph.output(
                map_aggregate(result, lambda each: each.node if isinstance(each, Proxy) else each)
            )
            old = self.graph.output_node()
            node.type, node.meta = old.type, dict(old.meta)
        for new, old in zip(self.new_graph.nodes, self.graph.nodes, strict=False):
            if new.op == old.op == "placeholder":
                new.type = old.type
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)


def _empty() -> Any:
    from inspect import Signature

    return Signature.empty


__getattr__ = rest(__name__)
