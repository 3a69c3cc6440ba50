"""A graph as Dynamo has read it, run function by function: NOTE [Twins] in twins.py."""

from __future__ import annotations

import operator
from typing import Any

import torch

from ..events import hub
from . import engine, graphs, hearing, lines, listening, values
from .telling import guarded

_LIMIT = 20_000  # functions of a graph that is run twice


class Twin:
    """A graph as Dynamo has read it: its functions, their lines, and the modules they are called in."""

    def __init__(self, output: Any, gm: Any, noted: list[Any]) -> None:
        if len(gm.graph.nodes) > _LIMIT:
            raise NotImplementedError
        graph = torch.fx.Graph()
        graph.output(graph.graph_copy(gm.graph, copies := {}))
        self.callers = {
            new: caller
            for old, new in copies.items()
            if (caller := graphs.caller_of(old.meta.get("stack_trace"), graphs.name(old)))
        }
        self.customs = {new: _customs[old] for old, new in copies.items() if old in _customs}
        self.customs = {new: (cls, _in_copy(args, copies)) for new, (cls, args) in self.customs.items()}
        self.modules = {new: found for old, new in copies.items() if (found := graphs.modules_of(output, old))}
        self.code = output.root_tx.f_code
        self.is_method = graphs.is_method(output)
        self.outermost = {
            new: caller
            for old, new in copies.items()
            if (caller := graphs.caller_of_module(old.meta.get("stack_trace")))
        }
        for node in graph.nodes:
            node.meta = {}  # it holds what Dynamo knows of each tensor
        self.program = torch.fx.GraphModule(gm, graph)
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.marks = noted
        for mark in noted:
            mark.behind = _in_copy_of(mark.behind, copies)
        last = next((caller for node, caller in reversed(self.callers.items()) if node.op != "placeholder"), None)
        self.place = None if last is None else graphs.line_of(last)  # where the last of its results is computed
        self.written = {i for i, node in enumerate(self.inputs) if graphs.is_written(node)}
        self.failed = lines.is_own(output.root_tx.f_code.co_filename)  # an optimizer's step is not looked into

    def scopes(self, frame: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Where the modules, and what marks are about, are found in a call: several of a class share what was made of the first one's code."""
        named = self.modules or self.marks
        while named and frame is not None and not self._is_call(frame.f_code):
            frame = frame.f_back
        return ({}, {}) if frame is None or not named else (frame.f_locals, frame.f_globals)

    def _is_call(self, code: Any) -> bool:
        """Is this what Dynamo has written in place of the code?"""
        own = self.code
        return (
            code.co_name == own.co_name
            and code.co_firstlineno == own.co_firstlineno
            and code.co_filename == own.co_filename
        )

    def user_of(self, i: int) -> Any:
        """Calls from the line that first makes use of an input."""
        return next((self.callers[node] for node in self.inputs[i].users if node in self.callers), graphs.call)

    def given(self, args: Any) -> list[Any]:
        """What the twin is given: copies of what is written to."""
        with torch._C.DisableTorchFunction(), torch.no_grad():
            return [t.clone() if i in self.written else t for i, t in enumerate(args)]


def _in_copy_of(node: Any, copies: dict[Any, Any]) -> Any:
    """The node's copy; if it has been taken out since, that of the one before."""
    while node is not None and node not in copies and node.op != "root":
        node = node._prev
    return copies.get(node)


def note_custom(node: Any, cls: Any, args: list[Any]) -> None:
    """This node is a custom Function, of which Dynamo has made graphs: the twin calls the Function itself."""
    _customs[node] = cls, args


def forget_customs() -> None:
    """What Dynamo has read is read."""
    _customs.clear()


_customs: dict[Any, tuple[Any, list[Any]]] = {}


def _in_copy(args: list[Any], copies: dict[Any, Any]) -> list[Any]:
    return [copies.get(arg, arg) if isinstance(arg, torch.fx.Node) else arg for arg in args]


class Run(torch.fx.Interpreter):
    """Runs the functions of a graph, each from its line, in its modules."""

    def __init__(self, twin: Twin, heard: bool = True, scopes: Any = ({}, {}), later: list[Any] | None = None) -> None:
        super().__init__(twin.program)
        self.twin, self.heard, self.scopes = twin, heard, scopes
        self.later = later or []  # marks that have not been told
        self.undo: list[Any] = []  # what those that were have done to the program's modules
        self.caller: Any = None
        self.inside: list[Inlined] = []  # calls of modules, the outermost first

    def _tell_until(self, node: Any) -> None:
        """This node is next: tell the marks before it."""
        while self.later and (self.later[0].behind is None or self.later[0].behind in self.env or node.op == "output"):
            mark = self.later.pop(0)
            mark.tell()
            if mark.effect is not None:
                self.undo.append(mark.effect())

    def run(self, *args: Any) -> Any:
        kept = [t for i, t in enumerate(args) if i not in self.twin.written]
        self.given = {values.storage(t) for t in hearing.tensors_in(kept)} - {0}
        _running.append(self)
        try:
            return super().run(*args, enable_io_processing=False)
        finally:
            self._enter([])
            _running.pop()
            while self.undo:
                self.undo.pop()()

    def run_node(self, n: Any) -> Any:
        if n.op in ("placeholder", "get_attr", "output"):
            found = super().run_node(n)
            if n.op == "get_attr":
                self.given |= {values.storage(t) for t in hearing.tensors_in(found)}
            return found
        if self.later:
            self._tell_until(n)
        self.caller = self.twin.callers.get(n, graphs.call)
        if self.heard and (n in self.twin.callers or n in self.twin.modules):
            self._enter(self._modules(n), n)
        before = torch.autograd._get_sequence_nr()
        written = torch.fx.node.map_arg(graphs.written_by(n), lambda arg: self.env[arg])
        if any(values.storage(t) in self.given for t in hearing.tensors_in(written)):
            raise NotImplementedError("the program's own")
        if n in self.twin.customs:
            cls, args = self.twin.customs[n]
            found = self.caller(
                cls.apply, [self.env.get(arg, arg) if isinstance(arg, torch.fx.Node) else arg for arg in args], {}
            )
            self.last = tuple(hearing.tensors_in(found))
        else:
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            self.last = getattr(self, n.op)(n.target, args, kwargs)
        if not self.heard and self.caller is not graphs.call:
            hearing.place_new_nodes(list(hearing.tensors_in(self.last)), before, graphs.line_of(self.caller))
        return self.last

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(target, "__name__", "")
        if name == "_get_data_attr":
            target = operator.attrgetter("data")  # which is heard
        elif target is torch.Tensor.set_ and len(args) == 2 and isinstance(args[1], torch.Tensor):  # `.data = …`
            self.caller(setattr, (args[0], "data", args[1]), {})
            return args[0]
        elif name == "_lower_version_count_by_1":  # which that does not count
            return args[0]
        elif type(target).__name__.startswith("numpy_") and self.heard:
            for t in hearing.tensors_in(list(args)):
                self.caller(listening.heard_leaving, ("numpy", t, None), {})
        return self.caller(target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.caller(getattr(args[0], target), args[1:], kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.caller(self.fetch_attr(target), args, kwargs)

    def _modules(self, n: Any) -> list[Any]:
        found: list[Any] = []
        for path in self.twin.modules.get(n, ()):
            module = graphs.module_at(path, *self.scopes)
            if module is not None and all(module is not other for other in found):
                found.append(module)
        return found

    def _enter(self, modules: list[Any], n: Any = None) -> None:
        """Tell which modules are left and entered."""
        same = 0
        while same < min(len(modules), len(self.inside)) and modules[same] is self.inside[same].module:
            same += 1
        while len(self.inside) > same:
            module = self.inside.pop().module
            if hub.module_left is not None:
                self.caller(guarded(hub.module_left), (module, self.last), {})
        for module in modules[same:]:
            self.inside.append(Inlined(module, self, n))
            if hub.module_entered is not None:
                self.caller(guarded(hub.module_entered), (module,), {})

    last: Any = None


class Inlined:
    """A call of a module that Dynamo has read as a part of something else: what rules ask of such calls (`graph/layers.py`)."""

    by_library = False

    def __init__(self, module: Any, run: Run, n: Any) -> None:
        self.module, self._run, self._node = module, run, n
        found = [run.env[arg] for arg in n.all_input_nodes if arg in run.env]  # what its first function is given
        self.given = [t for t in hearing.tensors_in(found) if not isinstance(t, torch.nn.Parameter)]
        self.is_root = run.twin.is_method and not run.inside  # it has a frame

    @property
    def this(self) -> Any:
        return self

    @property
    def place(self) -> Any:
        """The user's line that made it."""
        caller = self._run.twin.outermost.get(self._node)
        return None if caller is None else graphs.line_of(caller)

    def hands(self, name: str, position: int) -> bool:
        """Dynamo has not kept what was given by name: it may have been."""
        return True

    def holds(self, switch: Any, frame: Any) -> bool:
        """Was recording switched inside of it?"""
        return bool(getattr(switch.mode(), "inside", False))


_running: list[Run] = []


def _unframed(roots: bool = False) -> list[Inlined]:
    return [call for run in reversed(_running) for call in reversed(run.inside) if roots or not call.is_root]


engine.unframed = _unframed
