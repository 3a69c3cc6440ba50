"""Module trees: who owns a parameter, what is kept beside the tree in lists, dictionaries and plain attributes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import engine
from ..books.departures import leaves_of
from .names import roots
from .reach import reachable

if TYPE_CHECKING:
    from ..books.ledger import Ledger

SEQUENCES = (list, tuple, set, frozenset, deque)
_MOST = 1_000  # elements of a container that are looked at
_DEPTH = 4
MADE_IN_STEPS = 4  # operations that a copy of a Parameter is computed by: more make an activation


class Seat:
    """Where a parameter is registered: the topmost module, the module that has it, and its dotted name from the top."""

    __slots__ = ("module", "name", "root")

    def __init__(self, root: Any, module: Any, name: str) -> None:
        self.root, self.module, self.name = root, module, name


def seats(ledger: Ledger) -> dict[int, Seat]:
    """The seats of all parameters, by their id."""
    found: dict[int, Seat] = {}
    for root in roots(ledger):
        for prefix, module in root.named_modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    found.setdefault(id(parameter), Seat(root, module, f"{prefix}.{name}" if prefix else name))
    return found


def contents(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """The modules and tensors in a container, or in containers in it."""
    if engine.is_tensor(value) or isinstance(value, engine.layers().Module):
        yield value
    elif depth and isinstance(value, (Mapping, *SEQUENCES)):
        items = value.values() if isinstance(value, Mapping) else value
        for _, item in zip(range(_MOST), [*iter(items)], strict=False):
            if not isinstance(item, (str, int, float)):
                yield from contents(item, depth - 1)


def weights_in(value: Any, ledger: Ledger) -> list[Any]:
    """The leaves in a container, or behind an attribute, that could be trained; nothing of modules in eval mode."""
    found: dict[int, Any] = {}
    for thing in contents(value):
        if engine.is_tensor(thing):
            leaves = _weights(thing, ledger) if engine.requires_grad(thing) else []
        else:
            leaves = list(thing.parameters()) if getattr(thing, "training", False) else []
        found.update((id(leaf), leaf) for leaf in leaves)
    return list(found.values())


def _weights(tensor: Any, ledger: Ledger) -> list[Any]:
    """The tensor, if it is a leaf; what it was made from, if that took a step or two and happened long ago."""
    if engine.node(tensor) is None:
        return [tensor]
    marks = ledger.round_marks
    if len(marks) < 2 or engine.node(tensor).seq < marks[-2]:  # it was computed lately: an activation (numbers fall)
        return []
    nodes = list(islice(reachable([tensor]), MADE_IN_STEPS + 1))
    return leaves_of([tensor]) if len(nodes) <= MADE_IN_STEPS else []


def is_users(module: Any) -> bool:
    """Is its class the user's own?"""
    return not type(module).__module__.startswith(("clarion.", "torch."))


def is_one_of_many(seat: Seat | None, is_reached: Callable[[Any], bool]) -> bool:
    """Does it belong to a member of a list or dictionary of modules, one or some of which are used at a time?"""
    return any(
        any(reached) and not (len(reached) >= 3 and sum(reached) == len(reached) - 1)
        for reached in _members_reached(seat, is_reached)
    )


def is_in_a_list(seat: Seat | None, is_reached: Callable[[Any], bool]) -> bool:
    """Does it belong to a member of a list or dictionary of modules, some of which are reached?"""
    return any(any(reached) for reached in _members_reached(seat, is_reached))


def _members_reached(seat: Seat | None, is_reached: Callable[[Any], bool]) -> Iterator[list[bool]]:
    """For each list or dictionary of modules around a parameter: is something of its members reached?"""
    module = seat.root if seat is not None else None
    for step in seat.name.split(".")[:-1] if seat is not None else ():
        members = list(module._modules.values())
        if type(module).__name__ in ("ModuleList", "ModuleDict"):
            yield [any(is_reached(p) for p in member.parameters()) for member in members if member is not None]
        module = module._modules[step]


def is_past_a_hook(seat: Seat | None) -> bool:
    """Does a hook take what an earlier part of the model gives? Then the rest of it may be there to be left out."""
    if seat is None:
        return False
    path = seat.name.rpartition(".")[0]
    for name, module in seat.root.named_modules():
        if name == path:
            return False
        if module._forward_hooks and not f"{path}.".startswith(f"{name}." if name else ""):
            return True
    return False
