"""Lines of the user's program: where something happened, what stands there, is it silenced there."""

from __future__ import annotations

import ast
import linecache
import re
from functools import lru_cache
from types import CodeType
from typing import Any

from ...bytecode import instructions
from .. import engine
from ..finding import shown

Place = tuple[CodeType, int]  # a code object, and an instruction in it
# What a rule may give as a line: a place that the engine recorded, or (file, line).
Where = Place | tuple[str, int] | None

__all__ = [
    "Place",
    "Where",
    "allowed",
    "arguments",
    "assigned",
    "called",
    "expression",
    "file_line",
    "here",
    "is_result_dropped",
    "source",
    "text",
]


def here() -> Place | None:
    """The user's line that is running."""
    found: Place | None = engine.here()
    return found


def file_line(where: Where) -> tuple[str, int] | None:
    """`(file, line)` of a place."""
    if where is None or isinstance(where[0], str):
        return where  # type: ignore[return-value]
    code, lasti = where
    for start, end, line in code.co_lines():  # type: ignore[union-attr]
        if start <= lasti < end and line is not None:
            return code.co_filename, line  # type: ignore[union-attr]
    return code.co_filename, code.co_firstlineno  # type: ignore[union-attr]


def text(where: Where) -> str:
    """`train.py:41`"""
    found = file_line(where)
    return "a line that was not recorded" if found is None else f"{shown(found[0])}:{found[1]}"


_COMMENT = r"\s+#\s[^'\"]*$"  # (compiled on first need, as all patterns: most programs need none)


def source(where: Where) -> str:
    """The text of a line, without its comment."""
    found = file_line(where)
    return "" if found is None else re.sub(_COMMENT, "", linecache.getline(*found)).strip()


_ALLOW = r"#\s*clarion:\s*allow\b([^#]*)"


def allowed(file: str, line: int) -> frozenset[str]:
    """The diagnoses that a comment on this line silences."""
    found = re.search(_ALLOW, linecache.getline(file, line))
    return frozenset(re.split(r"[,\s]+", found.group(1).strip())) if found else frozenset()


def expression(place: Place | None) -> Any:
    """The syntax tree of the very expression that was running at a place, e.g. the call `F.dropout(x, 0.5)`; or None."""
    span = _span(place)
    if place is None or span is None:
        return None
    line, end_line, column, end_column = span
    rows = [linecache.getline(place[0].co_filename, n).encode() for n in range(line, end_line + 1)]
    if not rows or not rows[-1]:
        return None
    rows[-1] = rows[-1][:end_column]
    rows[0] = rows[0][column:]
    try:
        return ast.parse(b"(" + b"".join(rows) + b")", mode="eval").body
    except SyntaxError:
        return None


def _span(place: Place | None) -> tuple[int, int, int, int] | None:
    """Where the expression at a place begins and ends: lines and columns, as `co_positions` gives them."""
    for i, span in enumerate(place[0].co_positions() if place is not None else ()):
        if place is not None and i * 2 == place[1]:
            line, end_line, column, end_column = span
            if line is None or end_line is None or column is None or end_column is None:
                return None
            known = (line, column) != (end_line, end_column)  # else nobody knows which one it is
            return (line, end_line, column, end_column) if known else None
    return None


@lru_cache(maxsize=16)
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def arguments(place: Place) -> list[str]:
    """The names of the arguments of the function that a place lies in, as they are written."""
    code, found = place[0], file_line(place)
    for node in ast.walk(_tree(code.co_filename)) if found is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if found is not None and node.lineno <= found[1] <= (node.end_lineno or 0):
                given = node.args
                return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return []


def called(place: Place | None) -> ast.Call | None:
    """The call that was running at a place, or None."""
    found = expression(place)
    return found if isinstance(found, ast.Call) else None


def is_result_dropped(place: Place | None) -> bool:
    """Is the call at a place a statement of its own (`model(x)`, `_ = model(x)`)?"""
    if place is None:
        return False
    after = next((step for step in instructions(place[0]) if step.offset > place[1]), None)
    if after is not None and (after.opname == "POP_TOP" or (after.opname[:6] == "STORE_" and after.argval == "_")):
        return True
    span = _span(place)
    return span is not None and any(_is_dropped(node, span) for node in ast.walk(_tree(place[0].co_filename)))


def _is_dropped(node: ast.AST, span: tuple[int, int, int, int]) -> bool:
    """What stands for a line that was compiled has other code than the program: its statement says it, too."""
    named = [getattr(target, "id", "") for target in node.targets] if isinstance(node, ast.Assign) else []
    if not isinstance(node, ast.Expr) and named != ["_"]:
        return False
    value: Any = node.value  # type: ignore[attr-defined]
    return (value.lineno, value.end_lineno, value.col_offset, value.end_col_offset) == span


def assigned(place: Place | None) -> Place | None:
    """Where the variable that is differentiated at a place (`loss.backward()`, `backward(loss)`) was last assigned."""
    call = called(place)
    if place is None or call is None:
        return None
    target = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" else None
    if (target is None or not isinstance(target, ast.Name) or target.id == "autograd") and call.args:
        target = call.args[0]
    if not isinstance(target, ast.Name):
        return None
    found = None
    for step in instructions(place[0]):
        if step.offset >= place[1]:
            break
        if step.opname.startswith("STORE_") and step.argval == target.id:
            found = (place[0], step.offset)
    return found
