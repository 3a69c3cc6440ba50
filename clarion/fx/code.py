"""The Python text of a graph: what `GraphModule.code` shows and `forward` runs."""

from __future__ import annotations

import contextlib
import enum
import inspect
import re
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.tensor import Tensor
from .names import Namespace, custom_builtins, is_from_torch, qualified_name, type_repr
from .node import Node, map_arg

if TYPE_CHECKING:
    from .graph import Graph

_TYPING = {
    list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet, tuple: typing.Tuple,  # noqa: UP006
}  # fmt: skip
_INFIX = {
    "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "add": "+", "floordiv": "//", "mul": "*",
    "mod": "%", "pow": "**", "sub": "-", "lshift": "<<", "rshift": ">>", "or_": "|", "and_": "&", "xor": "^",
    "truediv": "/", "matmul": "@",
}  # fmt: skip
MAGIC = {name: f"{{}} {sign} {{}}" for name, sign in _INFIX.items()} | {
    "getitem": "{}[{}]", "pos": "+{}", "neg": "-{}", "invert": "~{}",
}  # fmt: skip
INPLACE = {
    f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}"
    for name, sign in _INFIX.items()
    if name not in ("eq", "ne", "lt", "gt", "le", "ge")
} | {"setitem": "{}[{}] = {}"}


@dataclass
class PythonCode:
    """The text of a function, and the names it uses."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


def format_target(base: str, target: str) -> str:
    """`self.layers[0].weight` by its path."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class CodeGen:
    """How a graph becomes text. Subclasses change the signature, the inputs or what is returned."""

    def __init__(self) -> None:
        self._body_transformer: Any = None
        self._func_name = "forward"
        self._shown: Any = repr  # how values are written, while a text is made

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with `def`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, **how: Any) -> str:
        """The line with `return`."""
        return f"return {self._shown(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of a call as the placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the output node holds as a call returns it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """More names that the text uses."""
        return []

    def _gen_python_code(self, nodes: Any, root_module: str, namespace: Namespace, **how: Any) -> PythonCode:
        writer = _Writer(self, list(nodes), root_module, namespace, **how)
        self._shown = writer.shown
        try:
            return writer.written()
        finally:
            self._shown = repr


class _PyTreeInfo(NamedTuple):
    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """The text of a function some of whose arguments are nested containers: they are taken apart and put together again."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """All leaves of the arguments."""
        from .. import pytree as _pytree

        return _pytree.tree_leaves(list(inputs))

    def process_outputs(self, out: Any) -> Any:
        """The leaves in their nest."""
        from .. import pytree as _pytree

        if not isinstance(out, list | tuple):
            out = [out]
        return _pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with `def` has the arguments of the caller; the next one gives the placeholders theirs."""
        info = self.pytree_info
        names = list(info.orig_args)
        shown = super().gen_fn_def(list(names), maybe_return_annotation)
        if not free_vars:
            return shown
        plain = [each.split(":")[0].split("=")[0].split("#")[0].strip() for each in free_vars]
        own = [name for name in names if name != "self"]
        targets = "".join(f"{name}, " for name in plain)
        return f"{shown}\n    {targets.rstrip(' ')} = fx_pytree.tree_flatten_spec([{', '.join(own)}], self._in_spec)"

    def generate_output(self, output_args: Any, **how: Any) -> str:
        """The line with `return` puts the leaves into their nest."""
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, **how)
        return f"return pytree.tree_unflatten({self._shown(output_args)}, self._out_spec)"


@dataclass
class _Writer:
    """Writes the text of one graph."""

    codegen: CodeGen
    nodes: list[Node]
    root: str
    namespace: Namespace
    verbose: bool = False
    include_stride: bool = False
    include_device: bool = False
    colored: bool = False
    expanded_def: bool = False
    record_func: bool = False
    additional_meta: Any = None
    free_vars: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    wrapped: dict[str, None] = field(default_factory=dict)
    returns: str = ""
    trace_before: str | None = ""

    def written(self) -> PythonCode:
        """The text."""
        for name, each in {name: known.obj for name, known in custom_builtins().items()}.items():
            self.add_global(name, each)
        for name, each in self.codegen.additional_globals():
            self.add_global(name, each)
        last_uses = self.last_uses()
        for node in self.nodes:
            if self.verbose:
                self.say_where(node)
            self.emit(node)
            self.forget_after(node, last_uses)
        if not self.body:  # a function must not be empty
            self.body.append("pass\n")
        if self.codegen._body_transformer is not None:
            self.body = self.codegen._body_transformer(self.body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        prologue = self.codegen.gen_fn_def(self.free_vars, self.returns)
        text = "".join(self.body).lstrip("\n")
        text = "\n".join("    " + line for line in text.split("\n"))
        source = f"\n{wraps}\n\n{prologue}\n{text}"
        return PythonCode(source, self.names, _prologue_start=source[: source.index(prologue)].count("\n") + 1)

    def add_global(self, name: str, each: Any) -> str:
        """A name under which the text finds an object."""
        if is_from_torch(each):
            path = qualified_name(each)
            if "<" not in path:
                return path
        found = self.namespace.create_name(name, each if _hashable(each) else None)
        self.names[found] = each
        return found

    def last_uses(self) -> dict[Node, list[Node]]:
        """For each node, the values that nobody needs after it."""
        last: dict[Node, Node] = {}
        found: dict[Node, list[Node]] = {}

        def note(used: Node, user: Node) -> None:
            if used not in last:
                last[used] = user
                found.setdefault(user, []).append(used)

        for node in reversed(self.nodes):
            map_arg(node.args, lambda used, user=node: note(used, user))  # type: ignore[misc]
            map_arg(node.kwargs, lambda used, user=node: note(used, user))  # type: ignore[misc]
        return found

    def forget_after(self, node: Node, last_uses: dict[Node, list[Node]]) -> None:
        """End a line; values that nobody needs any more are let go."""
        if node.op == "placeholder":
            return
        if node.op == "output":
            self.body.append("\n")
            return
        dead = last_uses.get(node, []) + ([] if node.users else [node])
        self.body.append(f";  {' = '.join(map(repr, dead))} = None\n" if dead else "\n")

    def say_where(self, node: Node) -> None:
        """A comment with the line of the program, where it changes."""
        if node.op in ("placeholder", "output"):
            return
        trace = node.stack_trace
        if trace:
            if trace != self.trace_before:
                self.trace_before = trace
                self.body.append(f"\n{_summary(trace)}\n")
        elif self.trace_before != "no trace":
            self.trace_before = "no trace"
            self.body.append("\n# No stacktrace found for following nodes\n")

    def shown(self, value: Any) -> str:
        """A value as an expression."""
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.add_global(qualified_name(type(value)), type(value))}({', '.join(map(self.shown, value))})"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.shown, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.shown, value))}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.shown(key)}: {self.shown(each)}" for key, each in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.shown(value.start)}, {self.shown(value.stop)}, {self.shown(value.step)})"
        if isinstance(value, enum.Enum):
            return f"{self.add_global(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, Node | Tensor):
            return repr(value)
        if isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "_overloadpacket"):
            return self.add_global(qualified_name(value), value)
        return repr(value)

    def arguments(self, args: Any, kwargs: Any) -> str:
        """What stands between the parentheses of a call."""
        return ", ".join([*map(self.shown, args), *[f"{name} = {self.shown(each)}" for name, each in kwargs.items()]])

    def annotation(self, kind: Any) -> str:
        """The name of a type, with those of its parameters."""
        if isinstance(kind, types.UnionType):
            return "|".join(map(self.annotation, kind.__args__))
        origin = getattr(kind, "__origin__", None)
        if origin is None:
            return self.add_global(type_repr(kind), kind)
        if not isinstance(kind, types.GenericAlias):
            origin = _TYPING.get(origin, origin)
        shown = self.add_global(type_repr(origin), origin)
        parameters = getattr(kind, "__args__", ())
        return f"{shown}[{','.join(map(self.annotation, parameters))}]" if parameters else shown

    def emit(self, node: Node) -> None:
        """The text of one step, without its end."""
        kind = "" if node.op == "output" or node.type is None else f" : {self.annotation(node.type)}"
        if node.op == "placeholder":
            default = f" = {self.shown(node.args[0])}" if node.args else ""
            self.free_vars.append(f"{node.target}{kind}{default}")
            raw = node.target.replace("*", "")
            if raw != repr(node):
                self.body.append(f"{node!r} = {raw}\n")
            return
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.annotation(node.type)}"
            self.body.append(self.codegen.generate_output(node.args[0]))
            return
        if node.op == "get_attr":
            text = format_target(self.root, node.target)
        elif node.op == "call_module":
            text = f"{format_target(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        elif node.op == "call_method":
            on = format_target(self.shown(node.args[0]), node.target)
            text = f"{on}({self.arguments(node.args[1:], node.kwargs)})"
        else:
            self.call(node, kind)
            return
        self.body.append(f"{node!r}{kind} = {text}")

    def call(self, node: Node, kind: str) -> None:
        """The text of a function's call: operators and attributes as they are written."""
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", None) == "_operator":
            if name in MAGIC:
                self.body.append(f"{node!r}{kind} = {MAGIC[name].format(*map(self.shown, node.args))}")
                return
            if name in INPLACE:
                done = INPLACE[name].format(*map(self.shown, node.args))
                self.body.append(f"{done};  {node!r}{kind} = {self.shown(node.args[0])}")
                return
        path = qualified_name(node.target)
        args = node.args
        if path == "getattr" and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            self.add_global(path, node.target)
            self.body.append(f"{node!r}{kind} = {format_target(self.shown(args[0]), args[1])}")
            return
        found = self.add_global(path, node.target)
        self.body.append(f"{node!r}{kind} = {found}({self.arguments(args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(found)


def _hashable(each: Any) -> bool:
    with contextlib.suppress(TypeError):
        return hash(each) is not None
    return False


_PLACE = re.compile(r'^File "(.+)", line (\d+), in (.+)$')


def _summary(trace: str) -> str:
    """The innermost line of a trace, as a comment."""
    lines = [line.strip() for line in trace.strip().split("\n")]
    for at in range(len(lines) - 1, -1, -1):
        place = _PLACE.match(lines[at])
        if place:
            code = lines[at + 1] if at + 1 < len(lines) else ""
            return f"# File: {place[1]}:{place[2]} in {place[3]}, code: {code}"
    return "# " + lines[-1]


def table(graph: Graph) -> str:
    """`print_tabular`: the steps as a table."""
    rows = [["opcode", "name", "target", "args", "kwargs"]]
    rows += [[node.op, node.name, str(node.target), str(node.args), str(node.kwargs)] for node in graph.nodes]
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
