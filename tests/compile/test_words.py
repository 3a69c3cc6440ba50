"""Words of memory: every change of what a condition looks at is a change of one of its words."""

from __future__ import annotations

import types
import warnings

import pytest

from clarion.compiling import words

from .test_quick import Scale


@pytest.mark.skipif(not words.known(), reason="objects lie in another way in this interpreter")
def test_every_change_of_a_condition_is_one_of_its_words() -> None:
    class Slotted:
        __slots__ = ("value",)

    slotted, thing, cell, things = Slotted(), Scale(), types.CellType(1), [1, 2, 3]
    slotted.value = 1
    module = types.ModuleType("somewhere")
    module.value = 1
    scope = {"slotted": slotted, "thing": thing, "cell": cell, "things": things, "module": module, "table": {"a": 1}}
    changes = {
        "slotted.value is 1": lambda: setattr(slotted, "value", 2),
        "thing.own == 1.0": lambda: setattr(thing, "own", 2.0),
        "thing.factor == 1.0": lambda: setattr(thing, "factor", 2.0),
        "type(thing) is type(thing)": lambda: setattr(thing, "__class__", type("Other", (Scale,), {})),
        "cell.cell_contents is 1": lambda: setattr(cell, "cell_contents", 2),
        "things[1] is 2": lambda: things.__setitem__(1, 5),
        "len(things) == 3": lambda: things.append(4),
        "module.value is 1": lambda: setattr(module, "value", 2),
        "table['a'] is 1": lambda: scope["table"].update(a=2),
        "'b' not in table": lambda: scope["table"].update(b=2),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        for text, change in changes.items():
            reading = words.Reading(text, scope)
            eval(text, scope)
            assert reading.changed() is None, text
            change()
            assert reading.changed() is not None, text
    for text in ("sum(things) == 6", "thing.of is None", "[] == []", "things == [1]"):
        with pytest.raises(words.Unreadable):
            words.Reading(text, scope)


@pytest.mark.skipif(not words.known(), reason="objects lie in another way in this interpreter")
@pytest.mark.parametrize("text", ["slotted.second == 2.5", "cell.cell_contents == 2.5", "things[0] == 2.5"])
def test_no_other_object_passes_for_one_that_is_gone(text: str) -> None:
    slotted, cell, things = words._Slotted(), types.CellType(float("2.5")), [float("2.5")]
    slotted.second = float("2.5")
    reading = words.Reading(text, {"slotted": slotted, "cell": cell, "things": things})
    for k in range(100):  # the memory of the first number could be that of a later one
        slotted.second = cell.cell_contents = things[0] = float(k)
        slotted.second, cell.cell_contents, things[0] = float(k), float(k), float(k)
        assert reading.changed() is not None


@pytest.mark.skipif(not words.known(), reason="objects lie in another way in this interpreter")
def test_elements_of_a_list_that_has_moved_are_not_looked_at() -> None:
    things = [1, 2, 3]
    reading = words.Reading("things[1] == 2", {"things": things})
    things.extend(range(100_000))
    assert reading.changed() == next(iter(reading.words))
