"""Which engine runs a program: clarion's own, or the PyTorch that is installed."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

INSTALL = "PyTorch is not installed here: `pip install torch`, or `clarion run --engine clarion`."
_SEVERAL = {f"torch.multiprocessing.{name}" for name in ("Process", "get_context", "spawn", "start_processes")}
_LIBRARIES = ("torchaudio", "torchvision")  # parts of them are compiled against PyTorch


class NotThere(Exception):
    """The engine that was asked for cannot be had."""


class Chosen(NamedTuple):
    """An engine, why it was chosen (to be said; empty if it was asked for), and what makes it ready."""

    name: str
    why: str
    prepare: Callable[[], object]


def choose(wanted: str, program: Sequence[str]) -> Chosen:
    """The engine for a program. `auto`: PyTorch where it is installed and the program needs what clarion lacks."""
    there = importlib.util.find_spec("torch") is not None
    if wanted == "torch":
        if not there:
            raise NotThere(INSTALL)
        return Chosen("torch", "", _check_torch)
    prepare = partial(_alias, program)
    file = _file(program) if wanted == "auto" and there else None
    if file is not None and file.is_file():
        lacking = _lacking(file)
        if lacking:
            return Chosen(
                "torch", f"on PyTorch ({lacking} is not in clarion; --engine clarion would refuse it)", _check_torch
            )
        return Chosen(
            "clarion", "on clarion (it has all that the program names; --engine torch runs it on PyTorch)", prepare
        )
    return Chosen("clarion", "", prepare)


def _alias(program: Sequence[str]) -> None:
    from ..core.overriding import look_in
    from ..torch_alias import install

    install()
    if program[0] != "-m":
        look_in(program[0])


def _check_torch() -> None:
    from ..doctor.versions import UnsupportedPyTorch, check

    try:
        check()
    except UnsupportedPyTorch as error:
        raise NotThere(str(error)) from None


def _lacking(file: Path) -> str:
    """Something that a program names and clarion does not have; empty if there is nothing. Read from its text."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ""
    names = dict.fromkeys(_named(tree))
    several = (
        not _SEVERAL.isdisjoint(names) or os.environ.get("WORLD_SIZE", "1") != "1"
    )  # torchrun says it in the environment
    if several and "torch.distributed.init_process_group" in names:
        return "training in several processes at once"
    return next((name for name in names if not _has(name)), "")


def _file(program: Sequence[str]) -> Path | None:
    if program[0] != "-m":
        return Path(program[0])
    sys.path.insert(0, "")
    try:
        spec = importlib.util.find_spec(program[1])
        if spec is not None and spec.submodule_search_locations:
            spec = importlib.util.find_spec(f"{program[1]}.__main__")
    except (ImportError, ValueError):
        return None
    finally:
        sys.path.remove("")
    return None if spec is None or not spec.origin else Path(spec.origin)


def _named(tree: ast.AST) -> Iterator[str]:
    """`torch.cuda.amp`, `lightning`: what a program imports, and what it reads of what it has imported as torch."""
    known = {"torch": "torch"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name
                if each.asname:
                    known[each.asname] = each.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield f"{node.module}.{each.name}" if node.module.split(".")[0] == "torch" else node.module
                known[each.asname or each.name] = f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path = _dotted(node)
            root = known.get(path[0]) if path else None
            if root is not None and root.split(".")[0] == "torch":
                yield ".".join([root, *path[1:]])


def _dotted(node: ast.AST) -> list[str]:
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return [node.id, *reversed(path)] if isinstance(node, ast.Name) else []


def _has(name: str) -> bool:
    """Does clarion have what PyTorch calls so? Of other packages: is it none that stands on PyTorch's insides?"""
    parts = name.split(".")
    if parts[0] in _LIBRARIES:
        return False
    if parts[0] != "torch":
        return True
    from .. import absent

    found = importlib.import_module("clarion")
    for i, part in enumerate(parts[1:], 1):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(".".join(["clarion", *parts[1 : i + 1]]))
            except ImportError:
                return not isinstance(found, type(sys))  # what objects have is not asked
        if absent.is_absent(found):
            return False
    return True
