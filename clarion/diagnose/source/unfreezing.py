"""Does a program contain the line that would undo a freeze? Read from its text, when something is about to be reported."""

from __future__ import annotations

import ast
import linecache

from .installed import is_installed
from .places import Where, file_line


def is_undone_somewhere(frozen: Where) -> bool:
    """Is the statement that froze something repeated with True, or the function that did so called with True?"""
    found = file_line(frozen)
    if found is None or is_installed(found[0]):  # a library that freezes on demand has the other line for others
        return False
    file, line = found
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return False
    ways = [node for node in ast.walk(tree) if _spans(node, line)]  # from the outside inwards
    function = next((node for node in reversed(ways) if isinstance(node, ast.FunctionDef)), None)
    block = next((node for node in ways if isinstance(node, (ast.For, ast.Expr, ast.Assign))), None)
    if function is not None and any(isinstance(node, (ast.For, ast.Expr, ast.Assign)) for node in ast.walk(function)):
        block = next(
            (n for n in ast.walk(function) if isinstance(n, (ast.For, ast.Expr, ast.Assign)) and _spans(n, line)), block
        )
        if any(_calls_with_true(node, function.name) for node in ast.walk(tree)):
            return True
    if block is None:
        return False
    undone = ast.unparse(block).replace("False", "True")
    return undone != ast.unparse(block) and any(
        isinstance(node, type(block)) and ast.unparse(node) == undone for node in ast.walk(tree)
    )


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and first <= line <= last


def _calls_with_true(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    return called == name and any(isinstance(value, ast.Constant) and value.value is True for value in values)
