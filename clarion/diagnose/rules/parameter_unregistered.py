"""parameter-unregistered"""

from __future__ import annotations

import weakref
from itertools import islice
from typing import Any

from .. import engine
from ..books.departures import leaves_of
from ..finding import ERROR
from ..graph.module_trees import MADE_IN_STEPS, SEQUENCES, contents, weights_in
from ..graph.names import roots
from ..graph.reach import reachable
from ..graph.relations import UPSTREAM, WEIGHT, relations
from ..graph.strangers import Written, is_owned
from ..rule import Diagnosis
from ..source.places import Place, here

_UPDATES = 3  # of an optimizer that owns the rest


class _Attribute:
    """An attribute of a module that may hold what should have been registered."""

    __slots__ = ("module", "name", "place", "updates")

    def __init__(self, module: Any, name: str, place: Place | None, updates: int) -> None:
        self.module = weakref.ref(module)
        self.name, self.place, self.updates = name, place, updates


class ParameterUnregistered(Diagnosis):
    """Layers or parameters are kept where `parameters()` does not look, so the optimizer never got them.

    A module registers what is assigned to it as a Parameter or a Module. It does not look into lists, dictionaries and
    tuples; and `nn.Parameter(...) * 0.1` or `nn.Parameter(...).double()` is no Parameter but a tensor computed from one.
    Such weights take part in the forward pass and get gradients, and nobody updates, saves or moves them.

    Broken:

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(16, 16) for _ in range(3)]

    Fixed:

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    Silent if an optimizer owns them all the same, if the list is a second name for registered layers, if they are
    frozen or in eval mode, or if they are updated by hand.
    """

    name = "parameter-unregistered"
    why = "`parameters()` does not list them: they are not trained, not saved by `state_dict()`, not moved by `.to()`."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._attributes: dict[tuple[int, str], _Attribute] = {}
        self._written = Written()
        self._inputs: dict[int, weakref.ref[Any]] = {}  # plain leaves that trained layers are applied to

    def on_attribute_set(self, module: Any, name: str, value: Any) -> None:
        """Remember who may hold something."""
        if engine.is_tensor(value):
            if not engine.requires_grad(value):
                return
        elif not isinstance(value, (dict, *SEQUENCES)):
            return
        self._attributes[id(module), name] = _Attribute(module, name, here(), self.ledger.updates)

    def near_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """Tell weights from inputs, as long as the graph is there."""
        plain: dict[int, Any] = {}
        for attribute in self._attributes.values():
            value = getattr(attribute.module(), "__dict__", {}).get(attribute.name)
            for thing in contents(value):
                if (
                    engine.is_tensor(thing)
                    and engine.node(thing) is None
                    and engine.requires_grad(thing)
                    and not engine.is_parameter(thing)
                ):
                    plain[id(thing)] = thing
        root = tensors[0]
        if plain and engine.is_tensor(root) and engine.node(root) is not None:
            for key, found in relations(root, plain, lambda leaf: is_owned(leaf, self.ledger)).items():
                if UPSTREAM in found and WEIGHT not in found:
                    self._inputs[key] = weakref.ref(plain[key])

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """What an attribute computed from its Parameter was used up by the first backward pass: the second one fails there."""
        freed = facts.get("freed")
        for attribute in self._attributes.values() if freed is not None else ():
            value = getattr(attribute.module(), "__dict__", {}).get(attribute.name)
            if not engine.is_tensor(value) or engine.node(value) is None:
                continue
            if freed in islice(reachable([value]), MADE_IN_STEPS) and any(map(self._is_loose, leaves_of([value]))):
                self.report(
                    attribute.place,
                    f"`{type(attribute.module()).__name__}.{attribute.name}` is a tensor computed from a Parameter, so it is "
                    f"not registered, and what computed it was used up by the first backward pass.",
                    fix=_remedy(attribute.name, value),
                    level=ERROR,
                    error=error,
                )

    def _is_loose(self, leaf: Any) -> bool:
        return engine.is_parameter(leaf) and engine.requires_grad(leaf) and not is_owned(leaf, self.ledger)

    def near_stepped(self, optimizer: Any) -> None:
        """What do they hold by now?"""
        if not self._attributes:
            return
        tops: list[Any] | None = None
        for key, attribute in list(self._attributes.items()):
            module = attribute.module()
            if module is None:
                del self._attributes[key]
                continue
            value = module.__dict__.get(attribute.name)
            lost = [leaf for leaf in weights_in(value, self.ledger) if self._is_lost(leaf)]
            if lost and min(optimizer._story.steps, self.ledger.updates - attribute.updates) >= _UPDATES:
                tops = roots(self.ledger) if tops is None else tops
                self._judge(attribute, module, value, lost, tops)

    def _is_lost(self, leaf: Any) -> bool:
        """Does it get gradients that nobody uses?"""
        written = self._written.has(leaf)
        story = engine.story(leaf)
        if (
            not engine.requires_grad(leaf)
            or story is None
            or story.deposits < 2
            or written
            or is_owned(leaf, self.ledger)
        ):
            return False
        known = self._inputs.get(id(leaf))
        return known is None or known() is not leaf

    def _judge(self, attribute: _Attribute, module: Any, value: Any, lost: list[Any], tops: list[Any]) -> None:
        for root in tops:
            if any(module is part for part in root.modules()):
                break
        else:
            return
        registered = list(root.parameters())
        listed = {id(parameter) for parameter in registered}
        lost = [leaf for leaf in lost if id(leaf) not in listed]
        if not lost or not any(is_owned(parameter, self.ledger) for parameter in registered):
            return
        many = f"{len(lost)} parameter{'s' * (len(lost) != 1)}"
        held = f"`{type(module).__name__}.{attribute.name}`"
        if engine.is_tensor(value):
            kind = "a tensor computed from a Parameter" if engine.node(value) is not None else "a plain tensor"
            what = f"{held} is {kind}, so it is not registered"
        else:
            what = f"{held} is a plain {type(value).__name__}, so what it holds is not registered"
        self.report(
            attribute.place,
            f"{what}: {many} got gradients in {engine.story(lost[0]).deposits} backward passes, and no optimizer owns "
            f"{'them' if len(lost) > 1 else 'it'}.",
            fix=_remedy(attribute.name, value),
        )


def _remedy(name: str, value: Any) -> str:
    if engine.is_tensor(value):
        if engine.node(value) is None:
            return f"`self.{name} = nn.Parameter(...)`."
        return f"compute first, then make the Parameter: `self.{name} = nn.Parameter(torch.ones(3).double())`."
    things = list(contents(value))
    if all(engine.is_tensor(thing) for thing in things):
        kind = "ParameterDict" if isinstance(value, dict) else "ParameterList"
    else:
        kind = "ModuleDict" if isinstance(value, dict) else "ModuleList"
    return f"`self.{name} = nn.{kind}(...)` (and lists inside of it the same way), before the optimizer is built."
