"""Which statement has switched recording off? Read from the program's text, when nobody had listened to it."""

from __future__ import annotations

import ast
import linecache
import sys
from typing import Any

from .. import engine


def only_statement() -> tuple[str, int] | None:
    """The line of the only `set_grad_enabled(…)` in the program's files that stands alone and may switch off; None if there are several."""
    found = [(file, line) for file in _files() for line in _lines(file)]
    return found[0] if len(found) == 1 else None


def _files() -> list[str]:
    """The files of the functions that run, and of the program's modules."""
    found: dict[str, None] = {}
    frame: Any = sys._getframe(1)
    while frame is not None:
        found[frame.f_code.co_filename] = None
        frame = frame.f_back
    for module in list(sys.modules.values()):
        found[getattr(module, "__file__", None) or ""] = None
    return [file for file in found if file.endswith(".py") and not engine.is_library(file)]


def _lines(file: str) -> list[int]:
    text = "".join(linecache.getlines(file))
    if "set_grad_enabled" not in text:
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    return [call.lineno for call in calls if _switches_off(call)]


def _switches_off(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return name == "set_grad_enabled" and not any(isinstance(v, ast.Constant) and v.value is True for v in values)
