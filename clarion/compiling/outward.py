"""Where a value goes that the user's code has just read: does it only leave the function, or is something done with it?

Whole numbers, lists, arrays and texts cannot tell who looks at them, as a Number can (numbers.py). So the lines around the reading are looked
at as they are written: a value may be returned, appended to a list, printed, put into a tuple, list or dictionary that is, added up, and
kept in a local variable of which all this is true. Whatever else is written there is taken for a use.
"""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType, FrameType
from typing import Any

from ..core import provenance

_VERSION = __file__.replace("outward.py", "version.py")  # calls the function
_INSIDE = ("<listcomp>",)  # has a frame of its own before Python 3.12
_CONVERSIONS = ("float", "int", "round")  # functions whose result goes where the value would (stand_ins.py)
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class Source:
    """A file as a tree, with the parents of its nodes and the code that is compiled from it."""

    def __init__(self, text: str, filename: str) -> None:
        self.tree = ast.parse(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.at: dict[Any, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, (ast.Call, ast.JoinedStr)):
                self.at.setdefault((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset), []).append(
                    node
                )
        self.codes: set[CodeType] = set()
        stack = [compile(self.tree, filename, "exec", dont_inherit=True)]
        while stack:
            code = stack.pop()
            self.codes.add(code)
            stack += [each for each in code.co_consts if isinstance(each, CodeType)]

    def scope(self, node: ast.AST) -> ast.AST:
        """The function that a node stands in."""
        while not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef, ast.Module)):
            node = self.parents[node]
        return node


@functools.lru_cache(maxsize=64)
def _source(text: str, filename: str) -> Source | None:
    try:
        return Source(text, filename)
    except (SyntaxError, ValueError):
        return None


def source_of(code: CodeType) -> Source | None:
    """The file of a code, if the code is what is written there now."""
    found = _source("".join(linecache.getlines(code.co_filename)), code.co_filename)
    return found if found is not None and code in found.codes else None


def users_frame(frame: Any) -> Any:
    """The innermost frame that is the user's."""
    while frame is not None and provenance.is_inside(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _nodes(frame: FrameType, source: Source, kind: Any) -> list[Any]:
    """What a frame is evaluating."""
    position = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, begin, end = position
    return [node for node in source.at.get((first, last, begin, end), ()) if isinstance(node, kind)]


def only_leaves(frame: FrameType, number: bool = True) -> bool:
    """Does the value of the call that a frame is evaluating only leave? (Numbers may be computed with: they know.)"""
    source = source_of(frame.f_code)
    calls = [] if source is None else _nodes(frame, source, ast.Call)
    return source is not None and bool(calls) and all(_Way(source, frame, number).leaves(node) for node in calls)


def joined(frame: FrameType) -> ast.JoinedStr | None:
    """The text that a frame is putting together, if it only leaves."""
    source = source_of(frame.f_code)
    texts = [] if source is None else _nodes(frame, source, ast.JoinedStr)
    if source is None:
        return None
    if not texts:  # (from Python 3.12 on a part of it has a place of its own)
        positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        texts = [node for place, nodes in source.at.items() for node in nodes if _holds(node, place, positions)]
    outer = [node for node in texts if not isinstance(source.parents[node], ast.FormattedValue)]
    return outer[0] if len(outer) == 1 and _Way(source, frame, False).leaves(outer[0]) else None


def _holds(node: Any, place: Any, inner: Any) -> bool:
    if not isinstance(node, ast.JoinedStr) or None in inner:
        return False
    return (place[0], place[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (place[1], place[3])


class _Way:
    """From where a value is read outwards, through one function and those that call it."""

    def __init__(self, source: Source, frame: FrameType, number: bool) -> None:
        self.source, self.frame, self.number = source, frame, number
        self.seen: set[str] = set()  # variables

    def leaves(self, node: Any) -> bool:
        """Does the value of a node only leave?"""
        parent = self.source.parents[node]
        if isinstance(parent, ast.Expr):
            return True
        if isinstance(parent, ast.Return) or (isinstance(parent, ast.Lambda) and parent.body is node):
            return _returned(self.frame, self.number)
        if isinstance(parent, (ast.Tuple, ast.List)) or (isinstance(parent, ast.Dict) and node in parent.values):
            return self.leaves(parent)
        if isinstance(parent, ast.ListComp) and parent.elt is node:
            return self.leaves(parent)
        if self.number and isinstance(parent, ast.BinOp) and isinstance(parent.op, _OPERATIONS):
            return self.leaves(parent)
        if isinstance(parent, ast.IfExp) and parent.test is not node:
            return self.leaves(parent)
        if isinstance(parent, ast.FormattedValue) and parent.value is node:
            return self.leaves(self.source.parents[parent])
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._given(parent, node)
        if isinstance(parent, ast.Assign):
            return all(self._kept(target) for target in parent.targets)
        if isinstance(parent, ast.AnnAssign) or (self.number and isinstance(parent, ast.AugAssign)):
            return self._kept(parent.target)
        return False

    def _given(self, call: ast.Call, node: Any) -> bool:
        function = call.func
        if isinstance(function, ast.Attribute):
            return function.attr == "append" and len(call.args) == 1
        if not isinstance(function, ast.Name):
            return False
        if function.id == "print":
            return True
        return self.number and function.id in _CONVERSIONS and call.args[0] is node and self.leaves(call)

    def _kept(self, target: Any) -> bool:
        """Is a value kept in local variables, whose values only leave?"""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self._kept(each) for each in target.elts)
        code = _function(self.frame).f_code
        if not isinstance(target, ast.Name) or target.id not in code.co_varnames or target.id in code.co_cellvars:
            return False
        if target.id in self.seen:
            return True
        self.seen.add(target.id)
        uses = [
            each
            for each in ast.walk(self.source.scope(target))
            if isinstance(each, ast.Name) and each.id == target.id and isinstance(each.ctx, ast.Load)
        ]
        return all(self.leaves(each) for each in uses)


def _function(frame: FrameType) -> FrameType:
    while frame.f_code.co_name in _INSIDE and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _returned(frame: FrameType, number: bool) -> bool:
    """Does what a frame returns only leave? It goes out of the compiled function, or to a line that calls it."""
    caller: Any = _function(frame).f_back
    if not provenance.is_inside(caller.f_code.co_filename):
        return only_leaves(caller, number)
    while caller is not None and provenance.is_inside(caller.f_code.co_filename):
        if caller.f_code.co_filename == _VERSION:
            return True
        caller = caller.f_back
    return False
