"""`torch.fx.graph_module`: a graph as a module: its `forward` is the graph's text, its attributes are what the graph needs."""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import linecache
import sys
import traceback
from typing import Any

from ..absent import rest
from ..core.provenance import is_inside
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, EngineError
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from .code import PythonCode
from .graph import Graph, _PyTreeCodeGen
from .names import custom_builtins, is_from_torch

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_sources: dict[str, str] = {}
_numbers = itertools.count()


def _forward_from(source: str, names: dict[str, Any], traced: str = "") -> Any:
    """The function that a text defines; tracebacks show its lines, and which function was traced."""
    file = f"<eval_with_key>.{next(_numbers)}{traced}"
    _sources[file] = source
    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.splitlines()], file)
    scope = dict(names)
    exec(compile(source, file, "exec"), scope)
    return scope["forward"]


def _copy_attr(from_module: Any, to_module: Module, target: str) -> None:
    """What one module holds at a path is held by the other, too; modules on the way are made."""
    *prefix, name = target.split(".")
    for part in prefix:
        inner = getattr(from_module, part)
        own = getattr(to_module, part, None)
        if inner is own:
            return
        if own is None:
            own = Module()
            setattr(to_module, part, own)
        from_module, to_module = inner, own
    _give(to_module, name, getattr(from_module, name), name in getattr(from_module, "_non_persistent_buffers_set", ()))


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    *prefix, name = target.split(".")
    for part in prefix:
        own = getattr(to_module, part, None)
        if own is None:
            own = Module()
            setattr(to_module, part, own)
        to_module = own
    _give(to_module, name, from_obj, False)


def _give(module: Module, name: str, value: Any, passing: bool) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value, persistent=not passing)
    else:
        setattr(module, name, value)


def _run_with_explanation(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the module; if its generated text fails, say at which line of it."""
    try:
        return Module.__call__(self, *args, **kwargs)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        while frames and is_inside(frames[-1].filename):
            frames.pop()
        if frames and frames[-1].filename in _sources:
            print(_explained(frames[-1]), file=sys.stderr)
        raise


def _explained(frame: traceback.FrameSummary) -> str:
    line, lines = frame.lineno or 1, _sources[frame.filename].splitlines()
    mark = "~" * len(lines[line - 1]) + " <--- HERE"
    return "\n".join(
        [
            f"Call using an FX-traced Module, line {line} of the traced Module's generated forward function:",
            *lines[max(line - 2, 0) : line],
            mark,
            *lines[line : line + 2],
        ]
    )


class GraphModule(Module):
    """A module made of a graph. Change `graph`, then `recompile()`; `code` is the text that runs."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Each has a class of its own, because each has a `forward` of its own."""
        own = next(each for each in cls.__mro__ if not getattr(each, "_is_one_graphs_class", False))
        return super().__new__(
            type("GraphModuleImpl", (own,), {"_is_one_graphs_class": True, "__module__": own.__module__})
        )

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._take(root, graph)
        else:
            raise EngineError(f"Unsupported type {root} passed for root!")
        self._create_node_hooks: list[Any] = []
        self._erase_node_hooks: list[Any] = []
        self._replace_hooks: list[Any] = []
        self.meta: dict[str, Any] = {}
        self._tracer_cls = (
            graph._tracer_cls if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__ else None
        )
        self._tracer_extras = graph._tracer_extras
        self.graph = graph

    def _take(self, root: dict[str, Any], graph: Graph) -> None:
        """The attributes that the graph names, from a table by path; the shorter paths first."""
        wanted = {node.target: node for node in graph.nodes if node.op in ("get_attr", "call_module")}
        for path, node in wanted.items():
            if path not in root:
                raise EngineError(f"Node {node} referenced target {path} but that target was not provided in ``root``!")
        for path in sorted(wanted, key=lambda path: path.count(".")):
            _assign_attr(root[path], self, path)

    # The graph ------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The steps. A graph that is set here is compiled at once."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of `forward`."""
        if not hasattr(self, "_code"):
            raise EngineError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Write the graph's text anew: to be called after changes."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        type(self).forward = _forward_from(self._code, python_code.globals, self._graph._traced)  # type: ignore[method-assign]
        return python_code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _run_with_explanation(self, *args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "graph":
            type(self).graph.__set__(self, value)
        else:
            super().__setattr__(name, value)

    # What it holds --------------------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path; modules on the way are made."""
        *prefix, name = target.split(".")
        at: Module = self
        for part in prefix:
            inner = getattr(at, part, None)
            if inner is None:
                inner = Module()
                setattr(at, part, inner)
            if not isinstance(inner, Module):
                return False
            at = inner
        at.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path away; whether there was one."""
        *prefix, name = target.split(".")
        at: Any = self
        for part in prefix:
            if not isinstance(getattr(at, part, None), Module):
                return False
            at = getattr(at, part)
        if not isinstance(getattr(at, name, None), Module):
            return False
        delattr(at, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take away the modules that no step calls or reads."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                found = functools.reduce(lambda at, part: getattr(at, part, None), parts, self)
                if node.op == "call_module" and isinstance(found, Module):
                    used.update(f"{node.target}.{name}" for name, _ in found.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # Copies and texts -----------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        held = {name: each for name, each in vars(self).items() if name != "_graph"}
        memo[id(self)] = made = GraphModule.__new__(_own_class(self))
        made.__dict__.update(copy.deepcopy(held, memo))
        type(made).__name__ = "GraphModule"
        made.graph = copy.deepcopy(self._graph)
        return made

    def _replicate_for_data_parallel(self) -> GraphModule:
        made = self.__copy__()
        made._is_replica = True
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = copy.copy(getattr(self, "meta", {}))
        return made

    def __reduce__(self) -> Any:
        """Kept are what the module holds and the graph's text, which is traced again when it is read."""
        python_code = self.recompile()
        held = {name: each for name, each in vars(self).items() if name not in ("_graph", "_code")}
        return reduce_graph_module, (held, self._code, _places(python_code.globals))

    def __str__(self) -> str:
        text = super().__repr__()
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([text, self._code, hint])

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False, colored: bool = False,
        **how: Any,
    ) -> str:  # fmt: skip
        """The text with comments that say where in the program it comes from, and that of the graphs inside."""
        text = self._graph.python_code("self", verbose=True).src.lstrip("\n").rstrip(" ")
        text = text.replace("\n    \n", "\n\n")
        parts = [f"class {type(self).__name__}(torch.nn.Module):\n" + _indented(text)]
        for name, each in self.named_children():
            if isinstance(each, GraphModule):
                inner = each.print_readable(print_output=False)
                parts.append(_indented(inner.replace(type(each).__name__, name, 1)))
        output = "\n".join(parts)
        if print_output:
            print(output)
        return output

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Refused: the text and a state_dict say the same."""
        raise NotImplementedError("GraphModule.to_folder: save `code` and `state_dict()`, or pickle the module")


class _CodeOnlyModule(Module):
    """A bare module that holds what a graph needs."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _own_class(module: GraphModule) -> type:
    return next(each for each in type(module).__mro__ if not vars(each).get("_is_one_graphs_class"))


def _indented(text: str) -> str:
    return "\n".join("    " + line if line.strip() else line for line in text.split("\n"))


def _places(names: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Where what a text names is found again: module and name."""
    found = {}
    for name, each in names.items():
        known = custom_builtins().get(name)
        if (known is not None and known.obj is each) or is_from_torch(each):
            continue
        if not hasattr(each, "__module__") or not hasattr(each, "__qualname__"):
            raise ArgumentTypeError(f"cannot pickle a GraphModule whose text uses {name} = {each!r}")
        found[name] = (each.__module__, each.__qualname__)
    return found


def _found_again(places: dict[str, tuple[str, str]]) -> dict[str, Any]:
    names: dict[str, Any] = {name: known.obj for name, known in custom_builtins().items()}
    for name, (module, path) in places.items():
        names[name] = functools.reduce(getattr, path.split("."), importlib.import_module(module))
    return names


def reduce_graph_module(body: dict[Any, Any], code: str, places: dict[str, tuple[str, str]]) -> GraphModule:
    """A GraphModule from what was kept of it: the text is traced again, with every module as it is."""
    from ._symbolic_trace import Tracer

    class KeepModules(Tracer):
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    held = type("_CodeOnly", (_CodeOnlyModule,), {"forward": _forward_from(code, _found_again(places))})(dict(body))
    graph = KeepModules().trace(held)
    graph._tracer_cls = body.get("_tracer_cls")
    made = GraphModule(held, graph)
    for key, value in (body | body["_modules"] | body["_parameters"] | body["_buffers"]).items():
        if not hasattr(made, key):
            setattr(made, key, value)
    made.meta = body.get("meta", {})
    return made


__getattr__ = rest(__name__)
