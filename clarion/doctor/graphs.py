"""The graphs that Dynamo hands to a backend: from which line each function is called, in which modules, and what it writes to."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import re
import sys
from types import CodeType, FunctionType
from typing import Any

import torch

from . import lines

_FRAME = re.compile(r'  File "(.+?)", line (\d+), in (.+)')
_MODULE = re.compile(r"([LG])\['(\w+)'\]((?:\.\w+)*)$")


_CALLED = "*"  # any function
call = lambda function, args, kwargs: function(*args, **kwargs)  # noqa: E731  (on one line: its only one)


@functools.cache
def from_line(file: str, line: int, name: str, function: str = "") -> Any:
    """A function that calls another (of this name) from a line of the user's, as a traceback would show it."""
    tree = ast.parse("lambda function, args, kwargs: function(*args, **kwargs)", file, "eval")
    begin, end = _columns(file, line, function)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset, node.end_col_offset = begin, end  # type: ignore[attr-defined]
    code = next(c for c in compile(tree, file, "eval").co_consts if isinstance(c, CodeType))
    return FunctionType(code.replace(co_name=name), {})


def _columns(file: str, line: int, function: str) -> tuple[int, int]:
    """Where on a line the only call of this function stands; nowhere (0, 0) if there are several, or none."""
    found = [node for node in _calls_in(file).get(line, ()) if function in (_called(node), _CALLED)]
    if len(found) != 1 or found[0].end_col_offset is None:
        return 0, 0
    return found[0].col_offset, found[0].end_col_offset


@functools.lru_cache(maxsize=64)
def _calls_in(file: str) -> dict[int, list[ast.Call]]:
    """The calls in a file, each on one line, by that."""
    found: dict[int, list[ast.Call]] = {}
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse("".join(linecache.getlines(file)))):
            if isinstance(node, ast.Call) and node.lineno == node.end_lineno:
                found.setdefault(node.lineno, []).append(node)
    return found


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def caller_of(trace: str | None, function: str = "") -> Any:
    """Calls a function from the innermost line of the user's in a stack trace."""
    frames = _FRAME.findall(trace or "")
    own = [frame for frame in frames if not lines.is_library(frame[0])]
    if not own:
        return None
    file, line, name = own[-1]
    caller = from_line(file, int(line), name, function if frames[-1] is own[-1] else "")
    return (
        caller
        if lines.is_users_file(frames[-1][0])
        else _through(caller, frames[-1][0], int(frames[-1][1]), frames[-1][2])
    )


def caller_of_module(trace: str | None) -> Any:
    """Calls from the user's line that calls the outermost module in a stack trace."""
    frames = _FRAME.findall(trace or "")
    inner = next((i for i, frame in enumerate(frames) if frame[2] == "forward"), len(frames))
    if inner == 0 or lines.is_library(frames[inner - 1][0]):
        return None
    file, line, name = frames[inner - 1]
    return from_line(file, int(line), name, _CALLED)


@functools.cache
def _through(caller: Any, file: str, line: int, name: str) -> Any:
    """Calls from a line of a library's, which is called from a line of the user's: some ask which library it is."""
    inner = from_line(file, line, name)

    def through(function: Any, args: Any, kwargs: Any) -> Any:
        return caller(inner, (function, args, kwargs), {})

    through.line = caller.__code__  # type: ignore[attr-defined]
    return through


def line_of(caller: Any) -> Any:
    """The user's line that somebody calls from, as the place of what is called there."""
    return getattr(caller, "line", caller.__code__), _CALLING


_CALLING = call(lambda: sys._getframe(1).f_lasti, (), {})  # where in such code it stands


def is_users(node: Any) -> bool:
    """Is it a line of the user's that computes this, and not PyTorch for itself?"""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    return bool(frames) and not lines.is_own(frames[-1][0])


def source_of(node: Any) -> Any:
    """Where the input comes from that a node is, or has written to; None of anything else."""
    while node.op != "placeholder" and node.args and any(arg is node.args[0] for arg in written_by(node)):
        node = node.args[0]
    return node.meta["grapharg"].source if "grapharg" in node.meta else None


def modules_of(output: Any, node: Any) -> list[str]:
    """The modules that a node was called in, the outermost first, as Dynamo calls them."""
    paths = [f"L['{next(iter(output.local_scope))}']"] if is_method(output) else []
    paths += [path for path, _ in (node.meta.get("nn_module_stack") or {}).values() if isinstance(path, str)]
    return list(dict.fromkeys(paths))


def is_method(output: Any) -> bool:
    """Is it a method of a module that Dynamo reads, or what is left of one after a break?"""
    first = next(iter(output.local_scope.values()), None)
    return isinstance(first, torch.nn.Module) and hasattr(type(first), lines.written_name(output.root_tx.f_code))


def module_at(path: str, variables: dict[str, Any], globals: dict[str, Any]) -> Any:
    """The module that Dynamo calls so, if it is one; else None."""
    match = _MODULE.match(path)
    module = {"L": variables, "G": globals}[match[1]].get(match[2]) if match else None
    for name in match[3].split(".")[1:] if match else ():
        module = module._modules.get(name) if isinstance(module, torch.nn.Module) else None
    return module if isinstance(module, torch.nn.Module) else None


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
