"""Names of parameters, as the module tree gives them. Looked up only to be reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import engine
from ..source.places import text

if TYPE_CHECKING:
    from ..books.ledger import Ledger


def roots(ledger: Ledger) -> list[Any]:
    """The modules that are part of no other."""
    modules = list(ledger.modules)
    children = {id(child) for module in modules for child in module._modules.values()}
    return [module for module in modules if id(module) not in children]


def names_of(ledger: Ledger, leaves: Iterable[Any]) -> list[str]:
    """What to call each leaf: its dotted name in its module, or where it was made, or its shape."""
    known: dict[int, str] = {}
    for root in roots(ledger):
        for name, parameter in root.named_parameters():
            known.setdefault(id(parameter), name)
    return [known.get(id(leaf)) or _by_birth(leaf) for leaf in leaves]


def _by_birth(leaf: Any) -> str:
    shape = engine.shape(leaf)
    kind = f"tensor of shape {list(shape)}" if shape else "scalar"
    story = engine.story(leaf)
    place = story and (story.made or (story.flagged and story.flagged[1]))
    return f"the {kind} made at {text(place)}" if place else f"a {kind}"


def listed(names: list[str], most: int = 3) -> str:
    """`a`, `b`, `c` and 4 more"""
    shown = ", ".join(name if " " in name else f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
