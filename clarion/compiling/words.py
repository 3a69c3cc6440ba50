"""What a condition reads, as words of memory: while none of them has changed, neither has its answer.

The conditions of a replay (watching.py) are expressions of Python's. `Reading` evaluates one and notes where in memory everything that it looks
at stands: the contents of a cell, a slot of an object, the version of a dictionary (CPython counts every change of one), the elements of a list.
To compare these words with what they were takes a nanosecond each, in compiled code; a condition is evaluated anew only when one of its words has
changed. Whatever is not known here is `Unreadable`, and evaluated each time.

Where things stand in objects is found out by trying (`known`); an interpreter in which they stand elsewhere has no words, and loses nothing but time.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import gc
import sysconfig
import types
from collections import OrderedDict, defaultdict
from typing import Any

from ..core import hooks
from ..core.tensor import Tensor

_TYPE, _CELL, _SIZE, _ITEMS, VERSION = 8, 16, 16, 24, 24  # bytes from the beginning of an object
_FUNCTION = ("__code__", "__defaults__", "__kwdefaults__")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), tuple, type(Ellipsis))  # what they hold does not change
_DICTIONARIES = (dict, OrderedDict, defaultdict)
_CONTAINERS = (*_DICTIONARIES, types.MappingProxyType, list, tuple)


_BUILTINS = {"len": len, "type": type, "repr": repr, "tuple": tuple}


class Unreadable(Exception):
    """A condition looks at something that has no words."""


def word(address: int) -> int:
    """What stands at a place."""
    return ctypes.c_int64.from_address(address).value


def _fields(thing: Any, wanted: Any) -> list[int]:
    """Where in an object a reference to another one stands."""
    return [k for k in range(16, type(thing).__basicsize__, 8) if word(id(thing) + k) == id(wanted)]


# Is it so here? -----------------------------------------------------------------------------------------------


class _Slotted:
    __slots__ = ("first", "second")


class _Open:
    pass


def _attributes(thing: Any, value: Any) -> None:
    thing.value = value


_WRITES: tuple[Any, ...] = (
    lambda d: d.update(b=2), lambda d: d.pop("b"), lambda d: d.setdefault("c", 3), lambda d: d.popitem(),
    lambda d: d.__ior__({"d": 1}), lambda d: d.__delitem__("d"), lambda d: d.clear(),
)  # fmt: skip
_LOOKS: tuple[Any, ...] = (len, repr, list, lambda d: "a" in d, lambda d: d.get("a"), lambda d: d == {})


def _counts_changes() -> bool:
    """Does the version of a dictionary change with every write, and with nothing else?"""
    thing = _Open()
    changes: list[tuple[Any, Any]] = [(thing.__dict__, thing), (_class_dictionary(_Open), _Open)]
    changes += [(space, space) for space in ({}, OrderedDict(), defaultdict(int))]
    for space, owner in changes:
        seen = [word(id(space) + VERSION)]
        for _ in range(64):  # (long enough for an interpreter to take its quick ways)
            if owner is space:
                space["a"] = object()
            else:
                _attributes(owner, object())
            seen.append(word(id(space) + VERSION))
        if owner is space:
            for write in _WRITES:
                write(space)
                seen.append(word(id(space) + VERSION))
        else:
            del owner.value
            seen.append(word(id(space) + VERSION))
        for look in _LOOKS:
            look(space)
        if len(set(seen)) != len(seen) or word(id(space) + VERSION) != seen[-1]:
            return False
    return True


def _class_dictionary(kind: type) -> Any:
    (found,) = [each for each in gc.get_referents(kind.__dict__) if type(each) is dict]
    return found


@functools.cache
def known() -> dict[str, int]:
    """Where the parts of a function and of a class stand, by their names; empty where objects lie in another way."""
    usual = object.__basicsize__ == 16 and ctypes.sizeof(ctypes.c_void_p) == 8
    if not usual or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return {}
    mark, things = object(), [object(), object(), object()]
    cell = types.CellType(mark)
    slotted = _Slotted()
    slotted.second = mark
    try:
        right = (
            word(id(mark) + _TYPE) == id(object)
            and word(id(cell) + _CELL) == id(mark)
            and word(id(things) + _SIZE) == 3
            and [word(word(id(things) + _ITEMS) + 8 * i) for i in range(3)] == list(map(id, things))
            and word(id(slotted) + slot_of(_Slotted.__dict__["second"])) == id(mark)
            and _counts_changes()
        )
        places = {name: _fields(_sample, getattr(_sample, name)) for name in _FUNCTION}
        places["__mro__"] = _fields(_Open, _Open.__mro__)
    except (ValueError, AttributeError):
        return {}
    if not right or any(len(found) != 1 for found in places.values()):
        return {}
    return {name: found[0] for name, found in places.items()}


def _sample(first: int = 1, *, second: int = 2) -> None:
    """A function with all parts."""


def slot_of(descriptor: Any) -> int:
    """Where a slot stands in its objects: its descriptor points to a description whose third word says it."""
    return word(word(id(descriptor) + 40) + 16)


# Reading ------------------------------------------------------------------------------------------------------


class Reading:
    """A condition, evaluated as Python would; `words` are the places of all that was looked at, in that order, with what stood there.

    The order matters: where a list has moved, its elements stand elsewhere, and their old place may be nobody's. So words are compared from the
    first on, and nothing behind one that has changed is looked at. Everything that a word points to is kept: while it lives nothing else can
    come to stand at its address, and pass for it.
    """

    def __init__(self, text: str, scope: dict[str, Any]) -> None:
        self.scope, self.words = scope, dict[int, int]()
        self.kept: list[Any] = []
        if not known():
            raise Unreadable
        if not self._value(ast.parse(text, mode="eval").body):
            raise Unreadable("it does not hold")

    def changed(self) -> int | None:
        """The first word that is not what it was."""
        return next((place for place, before in self.words.items() if word(place) != before), None)

    def _note(self, thing: Any, offset: int, held: Any = None) -> None:
        """A word of a thing, which points to another one or is a number."""
        self.kept += [thing, held]
        self._look(id(thing) + offset)

    def _look(self, place: int) -> None:
        if self.words.setdefault(place, now := word(place)) != now:
            raise Unreadable("another thread writes")

    def _value(self, node: ast.AST) -> Any:
        return getattr(self, f"_{type(node).__name__.lower()}", self._other)(node)

    def _other(self, node: ast.AST) -> Any:
        raise Unreadable(type(node).__name__)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.scope:
            return self.scope[node.id]
        if node.id not in _BUILTINS:
            raise Unreadable(node.id)
        return _BUILTINS[node.id]

    def _boolop(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for each in node.values:
            value = self._value(each)
            if self._truth(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not):
            raise Unreadable("an operator")
        return not self._truth(self._value(node.operand))

    def _truth(self, value: Any) -> bool:
        if type(value) in _DICTIONARIES or type(value) is list:
            self._length(value)
        elif type(value) not in _PLAIN:
            raise Unreadable("the truth of an object")
        return bool(value)

    def _compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1:
            raise Unreadable("several comparisons")
        a, b = self._value(node.left), self._value(node.comparators[0])
        if isinstance(node.ops[0], ast.Is):
            return a is b
        if (
            isinstance(node.ops[0], ast.Eq)
            and type(a) in _PLAIN
            and type(b) in _PLAIN
            and tuple not in (type(a), type(b))
        ):
            return a == b
        if isinstance(node.ops[0], ast.NotIn) and type(b) in _DICTIONARIES and type(a) is str:
            self._dictionary(b)
            return a not in b
        raise Unreadable("a comparison")

    def _call(self, node: ast.Call) -> Any:
        function, given = self._value(node.func), [self._value(each) for each in node.args]
        if function in (dict.__len__, list.__len__, tuple.__len__) or (
            function is len and type(given[0]) in _CONTAINERS
        ):
            return self._length(given[0])
        if function in (dict.__getitem__, list.__getitem__, tuple.__getitem__):
            return self._item(given[0], given[1])
        if function is type:
            if given[0].__class__ is not type(given[0]):
                raise Unreadable("another class")
            self._note(given[0], _TYPE, type(given[0]))
            return type(given[0])
        if function is repr and type(given[0]) in _PLAIN and type(given[0]) is not tuple:
            return repr(given[0])
        raise Unreadable("a call")

    def _subscript(self, node: ast.Subscript) -> Any:
        value, place = self._value(node.value), self._value(node.slice)
        if type(value) not in _CONTAINERS:
            raise Unreadable("an element of a class of somebody's")
        return self._item(value, place)

    # Containers

    def _dictionary(self, value: Any) -> None:
        self._note(value, VERSION)

    def _length(self, value: Any) -> int:
        if isinstance(value, dict):
            self._dictionary(value)
            return dict.__len__(value)
        if type(value) is types.MappingProxyType:
            return self._length(_inside(value))
        if isinstance(value, list):
            self._note(value, _SIZE)
            return list.__len__(value)
        if isinstance(value, tuple):
            return tuple.__len__(value)
        raise Unreadable("a length")

    def _item(self, value: Any, place: Any) -> Any:
        if type(value) is types.MappingProxyType:
            value = _inside(value)
        if isinstance(value, dict) and (type(place) in _PLAIN or isinstance(place, Tensor)):
            self._dictionary(value)
            return dict.__getitem__(value, place)
        if isinstance(value, list) and type(place) is int and 0 <= place < list.__len__(value):
            found = list.__getitem__(value, place)
            self._note(value, _SIZE)
            self._note(value, _ITEMS, found)
            self._look(word(id(value) + _ITEMS) + 8 * place)
            return found
        if isinstance(value, tuple) and type(place) is int:
            return tuple.__getitem__(value, place)
        raise Unreadable("an element")

    # Attributes

    def _attribute(self, node: ast.Attribute) -> Any:
        value, name = self._value(node.value), node.attr
        found = getattr(value, name)
        kind = type(value)
        if kind is types.CellType and name == "cell_contents":
            self._note(value, _CELL, found)
        elif kind is types.FunctionType and name in _FUNCTION:
            self._note(value, known()[name], found)
        elif kind is types.ModuleType and name in value.__dict__:
            self._dictionary(value.__dict__)
        elif kind is type:
            self._of_class(value)
        elif name == "__dict__" and type(found) is dict and not isinstance(value, Tensor):
            self._note(value, _TYPE, type(value))
            self._note(value, _dictionary_place(value, found), found)
        elif isinstance(value, Tensor) and name == "_hooks":
            self._dictionary(vars(hooks))  # counts the hooks of all leaves
        else:
            self._of_object(value, name, found)
        return found

    def _of_class(self, kind: type) -> None:
        """An attribute of a class: any of those that it inherits from may get another one."""
        if kind.__flags__ & 1 << 9:  # (classes that are part of the interpreter stay as they are)
            self._note(kind, known()["__mro__"], kind.__mro__)
        for base in kind.__mro__:
            if base.__flags__ & 1 << 9:
                self._dictionary(_inside(base.__dict__))

    def _of_object(self, value: Any, name: str, found: Any) -> None:
        kind = type(value)
        if kind.__getattribute__ is not object.__getattribute__ or hasattr(kind, "__getattr__"):
            raise Unreadable("attributes that are computed")
        self._note(value, _TYPE, kind)
        self._of_class(kind)
        stands = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
        if type(stands) is types.MemberDescriptorType:
            place = slot_of(stands)
            if word(id(value) + place) != id(found):
                raise Unreadable("a slot of another kind")
            self._note(value, place, found)
            return
        own = None if isinstance(value, Tensor) else getattr(value, "__dict__", None)
        if type(own) is not dict or hasattr(type(stands), "__get__"):
            raise Unreadable("an attribute")
        self._dictionary(own)


def _dictionary_place(value: Any, own: Any) -> int:
    """Where an object points to the dictionary of its attributes."""
    place = type(value).__dictoffset__
    if place < 0:  # before the object itself, in most versions of CPython
        place = -24
    if not place or word(id(value) + place) != id(own):
        raise Unreadable("a dictionary that stands elsewhere")
    return place


def _inside(proxy: Any) -> Any:
    """The dictionary that a read-only view shows."""
    found = gc.get_referents(proxy)
    if len(found) != 1 or not isinstance(found[0], dict):
        raise Unreadable("a view of something else")
    return found[0]
