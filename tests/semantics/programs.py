"""Small programs whose outcome PyTorch defines: one file per area, one function per program.

A program takes the namespace (`clarion`, or PyTorch itself in the comparison) and returns what a user can
observe: values, orders, names, the type and the beginning of an error. What PyTorch gives stands in
`golden/<area>.json`, written by `regenerate.py`, so that the tests need no PyTorch.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

AREAS = (
    "hooks",
    "node_hooks",
    "backward",
    "gradients",
    "modes",
    "inference",
    "inplace",
    "assignment",
    "views",
    "view_rules",
    "conjugates",
    "function",
    "function_state",
    "saved",
    "saved_single",
    "mutation",
    "lifetime",
    "checkpoint",
    "recomputation",
    "graph",
    "nodes",
    "functional",
    "leaves",
    "threads",
    "forward_ad",
    "forward_reverse",
    "corners",
    "corner_values",
    "transforms",
    "sparse",
    "sparse_layouts",
    "sparse_products",
    "masked_tensors",
    "memory",
    "turns",
    "kept_gradients",
    "layers",
    "arguments",
    "memory_order",
    "overlaps",
    "native_forms",
)

GOLDEN = Path(__file__).parent / "golden"


class Program(NamedTuple):
    """One program and where it comes from."""

    area: str
    name: str
    run: Callable[[Any], Any]

    def __str__(self) -> str:
        return f"{self.area}-{self.name}"


def programs(area: str) -> list[Program]:
    """The programs of an area, in the order of its file."""
    module = importlib.import_module(f".{area}", __package__)
    found = [
        Program(area, name, value)
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and list(inspect.signature(value).parameters) == ["t"]
    ]
    return [program for program in found if not program.name.startswith("_")]


def all_programs() -> list[Program]:
    """Every program of every area."""
    return [program for area in AREAS for program in programs(area)]


def golden(area: str) -> dict[str, Any]:
    """What PyTorch gave."""
    text = (GOLDEN / f"{area}.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def load(name: str) -> Any:
    """The namespace, with the modules that programs use imported."""
    for part in (
        "autograd.functional",
        "autograd.forward_ad",
        "func",
        "nn.functional",
        "nn.utils",
        "optim",
        "utils.checkpoint",
    ):
        importlib.import_module(f"{name}.{part}")
    return importlib.import_module(name)


def observe(program: Program, t: Any) -> Any:
    """Run a program from a known state; what it returns, as JSON would hold it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t.manual_seed(0)
        return plain(program.run(t))


def plain(value: Any) -> Any:
    """Tensors, tuples and shapes as lists; numbers that JSON has no word for as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, complex):
        return {"re": plain(value.real), "im": plain(value.imag)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.detach().tolist())
    raise TypeError(f"a program returned a {type(value).__name__}: {value!r}")


def same(a: Any, b: Any) -> bool:
    """Equal, floating-point numbers up to rounding."""
    if isinstance(a, float) or isinstance(b, float):
        numbers = isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool)
        return numbers and math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


# What programs use -----------------------------------------------------------------------------------


def leaf(t: Any, *values: float) -> Any:
    """A leaf that requires a gradient."""
    return t.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def double(t: Any, *values: float) -> Any:
    """The same in float64."""
    return t.tensor(list(values) or [1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)


def refusal(action: Callable[[], Any], phrase: str | int = 60) -> list[str] | str:
    """How `action` fails: Python's own type of the exception, and `phrase`, or that much of the text's beginning.

    Where the text does not contain the phrase, the text itself, so that a difference can be read.
    """
    try:
        action()
    except Exception as error:
        kind = next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins").__name__
        text = str(error).replace("clarion.", "torch.")
        if isinstance(phrase, int):
            return [kind, text[:phrase].split("\n")[0].strip()]
        return [kind, phrase if phrase in text else text]
    return "no error"


def warned(action: Callable[[], Any], phrase: str | int = 60) -> list[list[str]]:
    """The warnings `action` gives: category and phrase (or beginning), as in `refusal`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    found = []
    for each in caught:
        text = str(each.message).replace("clarion.", "torch.")
        if isinstance(phrase, int):
            text = text[:phrase].split("\n")[0].strip()
        elif phrase in text:
            text = phrase
        found.append([each.category.__name__, text])
    return found
