"""Objects that hold an array, and kernels that take and give them as they are.

NOTE [Held arrays]: on small arrays the way into a kernel and out again costs more than the kernel: to look at types, shapes and strides, and to
make an object around the result. A kernel that is a builtin function (NOTE [Direct calls] in llvm/direct.py) can do that itself, without
knowing what it does it for: `hold` tells a *prototype* of the objects that hold arrays. Where each of them is of that class (or of one that is
told by `hold_also`), and all hold adjacent arrays of one shape and type, the result is a copy of the prototype around a new array; anything
else gives None, and the caller goes the usual way. Arrays of several shapes are taken, too, where all objects are `plain`: they have in some
attributes what the prototype has there. A second form writes into the array of the first object instead, and gives that object back.

NOTE [Held views]: objects that share memory know how one was taken from the other. To note that takes several objects more, which is compiled in the
same way: `hold_views` tells prototypes of what an object has to say of its base, and of the counter that all of them share. Kernels that show an array
otherwise do all of it at once, and add to an object's history where it has one (`Histories`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, ClassVar


class Held:
    """What is known of the objects: an empty one, the attribute for the array, those of plain objects, and another class of them."""

    prototype: Any = None
    array: str = ""
    plain: tuple[str, str] = ("", "")
    other: type | None = None
    changed: Callable[[], None] | None = None  # told when something becomes known
    around: Callable[[Callable[..., Any], int, int], Callable[..., Any]] | None = None  # makes a form of any kernel


def hold(prototype: Any, array: str, plain: tuple[str, str]) -> None:
    """Make known what holds arrays; the prototype has all attributes that a new object begins with, but for its array."""
    Held.prototype, Held.array, Held.plain = prototype, array, plain


def hold_also(kind: type) -> None:
    """Objects of this class hold arrays in the same way (results are of the first class)."""
    Held.other = kind
    if Held.changed is not None:
        Held.changed()


class Views:
    """What is known of objects that share memory: prototypes, the attributes of the objects, and those who keep the function."""

    of_base: Any = None  # what an object says of its base: the base, a chain of steps from there, how it was made, the counter's number then
    counter: Any = None  # what all of them share
    never: Any = None  # a counter that is nobody's: such objects are not for here
    held_counter: str = ""
    held_view: str = ""
    names: tuple[str, str, str, str] = ("", "", "", "")
    number: str = ""
    otherwise: Callable[..., Any] | None = None
    quick: Callable[..., Any] | None = None
    card: Any = None
    followers: ClassVar[list[Callable[[Callable[..., Any]], None]]] = []


def hold_views(
    of_base: Any,
    counter: Any,
    never: Any,
    held: tuple[str, str],
    names: tuple[str, str, str, str],
    number: str,
    otherwise: Any,
) -> None:
    """Make known how objects share memory; `otherwise(holder, array, steps, how)` makes such an object in any case."""
    Views.of_base, Views.counter, Views.never, Views.otherwise = of_base, counter, never, otherwise
    (Views.held_counter, Views.held_view), Views.names, Views.number = held, names, number


def follow_views(tell: Callable[[Callable[..., Any]], None]) -> None:
    """Call `tell` with the function that makes objects which share memory, as soon as there is a quicker one."""
    Views.followers.append(tell)
    if Views.quick is not None:
        tell(Views.quick)


class Histories:
    """What is known of the histories of objects: what is added to one by a kernel that shows memory otherwise."""

    described: Callable[[str], tuple[Any, Any, bool]] | None = (
        None  # of a kernel: the step that is noted, what is added to a history (a prototype), is the shape kept?
    )
    names: tuple[str, ...] = ()  # in it: where it comes from, what is kept, numbers, order, code and place
    held: tuple[str, str, str] = ("", "", "")  # in objects: the end of their history, a number, have they one?
    sequence: Any = None  # gives the next in order
    mark: Any = None  # `mark(added)` notes code and place of the user
    frame: Any = None  # `frame(1)`: that of who called whoever calls a builtin function
    here: Any = None  # `here()`: code and place of the user
    counted: tuple[str, str] = ("", "")  # in counters: the place of the last write, whose writes are theirs
    of_writes: tuple[str, str] = ("", "")  # who listens to writes, before and after
    quietly: str = ""  # how objects are said to be made where nothing is added to histories
    hub: Any = None  # somebody listens if this has something else than None as its attribute `listener`
    listener: str = ""


# Forms of a kernel that take objects: one that gives a new one, one that writes into the first, one that writes and counts that, and one
# that draws (a source of random numbers, and sizes), one that gives a new one without a history.
NEW, IN_PLACE, COUNTED, DRAWN, UNRECORDED = range(5)
_forms: dict[int, list[Callable[..., Any] | None]] = {}  # by the identity of a kernel that lives as long as the process


def note(kernel: Callable[..., Any], forms: list[Callable[..., Any] | None]) -> None:
    """A kernel has such forms."""
    _forms[id(kernel)] = forms


TAKES_MASKS, KEEPS_TYPE, IN_ROWS, ONE_SHAPE = 1, 2, 4, 8  # what is asked of a kernel, see `around`
_made: dict[tuple[int, int, int], Callable[..., Any]] = {}


def around(kernel: Callable[..., Any], inputs: int, asked: int) -> Callable[..., Any] | None:
    """A form that gives new objects of a kernel that has none of its own, if it is a builtin function: `inputs` of its arguments are objects, numbers
    as arrays, or None. `asked`: may there be masks and whole numbers beside floats? has the first result the type of those? are results adjacent? have all objects one shape?"""
    if type(kernel) is not BuiltinFunctionType or Held.prototype is None or Held.around is None:
        return None
    key = id(kernel), inputs, asked  # (which lives as long as the process)
    if key not in _made:
        _made[key] = Held.around(kernel, inputs, asked)
    return _made[key]


def form_of(kernel: Callable[..., Any], which: int = NEW) -> Callable[..., Any] | None:
    """A form of a kernel; None if it has no such form. What it is not for gives None."""
    forms = _forms.get(id(kernel)) if Held.prototype is not None else None
    return None if forms is None or which >= len(forms) else forms[which]
