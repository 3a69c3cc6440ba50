"""The graphs that Dynamo hands to a backend: from which line each function is called, in which modules, and what it writes to."""

from __future__ import annotations

import functools
import re
import weakref
from types import FunctionType
from typing import Any

import torch

from . import lines

_FRAME = re.compile(r'  File "(.+?)", line (\d+), in (.+)')
_MODULE = re.compile(r"([LG])\['(\w+)'\]((?:\.\w+)*)$")


call = lambda function, args, kwargs: function(*args, **kwargs)  # noqa: E731  (on one line: its only one)


@functools.cache
def _from_line(file: str, line: int, name: str) -> Any:
    """A function that calls another from a line of the user's, as a traceback would show it."""
    code = call.__code__.replace(co_filename=file, co_firstlineno=line, co_name=name)
    return FunctionType(code, {})


def caller_of(trace: str | None) -> Any:
    """Calls from the innermost line of the user's in a stack trace."""
    frames = _FRAME.findall(trace or "")
    own = [frame for frame in frames if not lines.is_library(frame[0])]
    if not own:
        return None
    file, line, name = own[-1]
    return _from_line(file, int(line), name)


def modules_of(output: Any, node: Any) -> list[Any]:
    """The modules that a node was called in, the outermost first."""
    paths = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    scopes = {"L": output.local_scope, "G": output.global_scope}
    first = next(iter(output.local_scope.values()), None)
    found = [first] if isinstance(first, torch.nn.Module) else []
    for path in paths:
        match = _MODULE.match(path if isinstance(path, str) else "")
        module = scopes[match[1]].get(match[2]) if match else None
        for name in match[3].split(".")[1:] if match else ():
            module = module._modules.get(name) if isinstance(module, torch.nn.Module) else None
        if isinstance(module, torch.nn.Module) and module not in found:
            found.append(module)
    return [weakref.ref(module) for module in found]


def is_written(node: Any) -> bool:
    """Does the graph write to this input, or to a view of it?"""
    seen, stack = {node}, [node]
    while stack:
        for user in stack.pop().users:
            if any(arg in seen for arg in _nodes_in(written_by(user))):
                return True
            if user not in seen and any(arg in seen for arg in _nodes_in(user.args[:1])) and name(user) in _VIEWS:
                seen.add(user)
                stack.append(user)
    return False


def name(node: Any) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def written_by(node: Any) -> list[Any]:
    """Which of its arguments a function writes to."""
    called = name(node)
    if called in ("batch_norm", "instance_norm"):
        return [*node.args[1:3], *(node.kwargs.get(k) for k in ("running_mean", "running_var"))]
    if (called.endswith("_") and not called.endswith("__")) or called in _IN_PLACE:
        return list(node.args[:1])
    schema = getattr(node.target, "_schema", None)
    if schema is not None and schema.is_mutable:
        return [*node.args, *node.kwargs.values()]
    return [node.kwargs.get("out")]


_IN_PLACE = frozenset(
    [
        "setitem",
        "__setitem__",
        "iadd",
        "isub",
        "imul",
        "itruediv",
        "ifloordiv",
        "ipow",
        "imod",
        "imatmul",
        "iand",
        "ior",
        "ixor",
        "ilshift",
        "irshift",
    ]
)


def _nodes_in(value: Any) -> list[Any]:
    found: list[Any] = []
    torch.fx.node.map_arg(value, found.append)
    return found


_VIEWS = frozenset(
    [
        "getitem",
        "view",
        "reshape",
        "detach",
        "flatten",
        "unflatten",
        "squeeze",
        "unsqueeze",
        "transpose",
        "permute",
        "t",
        "select",
        "narrow",
        "expand",
        "chunk",
        "split",
        "unbind",
        "contiguous",
        "to",
        "float",
        "_get_data_attr",
        "data",
        "type_as",
        "view_as",
        "expand_as",
        "diagonal",
        "movedim",
        "swapaxes",
        "real",
        "imag",
        "T",
        "mT",
    ]
)
