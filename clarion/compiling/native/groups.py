"""Operations that run as one loop: element-by-element steps and reductions over the last dimension, over one space of rows.

A group has a space (rows …, length). Each of its operations computes for every element of the space, for every row, or reduces rows.
Values pass from one to the next in registers; what nobody else reads never comes to memory.
"""

from __future__ import annotations

import math
from typing import Any

from ...kernels.trace.graph import EACH, ROW, Book, Term
from .lowering import Along, Copy, Each
from .memory import Buffer, View, dense_strides

_ELEMENTS, _ROWS = "elements", "rows"


class Conflict(Exception):
    """An operation does not fit into a group."""


class Group:
    """Operations over one space."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.book = Book()
        self.inputs: list[tuple[View, Term, str]] = []  # what is read from memory
        self.values: dict[Any, Term] = {}  # what is known in registers, by the view it is seen through
        self.outputs: dict[Any, tuple[View, Term]] = {}
        self.written: dict[Any, set[Any]] = {}  # buffer -> keys
        self.read: dict[Any, set[Any]] = {}
        self.reduces = False
        self.place: Any = None
        self.used: list[View] = []  # what is really read, once it is known what is needed

    # Keys --------------------------------------------------------------------------------------------------

    def _key(self, view: View) -> tuple[Any, str]:
        """How a view lies in the space: one element for each of the space's, or one for each row."""
        if self.shape and view.strides[-1] == 0:
            return (view.buffer, view.offset, "row", view.strides[:-1], view.dtype), _ROWS
        if self.shape and view.strides[-1] != view.dtype.itemsize:
            raise Conflict("elements that are apart")
        return (view.buffer, view.offset, "each", view.strides, view.dtype), _ELEMENTS

    def _fitted(self, view: View) -> View:
        """A view (without dimensions of size 1) in the space's shape."""
        if view.shape == self.shape:
            return view
        if view.size == 1:
            return View(view.buffer, view.offset, self.shape, (0,) * len(self.shape), view.dtype)
        if view.size == math.prod(self.shape) and view.dense:
            return View(
                view.buffer, view.offset, self.shape, dense_strides(self.shape, view.dtype.itemsize), view.dtype
            )
        raise Conflict("another shape")

    def _row_view(self, view: View) -> View:
        """A view with one element for each row, spread over the row."""
        rows = self.shape[:-1]
        if view.shape != rows:
            if view.size == 1:
                return View(view.buffer, view.offset, self.shape, (0,) * len(self.shape), view.dtype)
            if view.size != math.prod(rows) or not view.dense:
                raise Conflict("another shape")
            view = View(view.buffer, view.offset, rows, dense_strides(rows, view.dtype.itemsize), view.dtype)
        return View(view.buffer, view.offset, self.shape, (*view.strides, 0), view.dtype)

    # Joining -------------------------------------------------------------------------------------------------

    def add(self, operation: Any) -> None:
        """Take an operation in, or raise Conflict with nothing changed."""
        if isinstance(operation, Along):
            self._add_along(operation)
        else:
            self._add_each(operation)
        self.place = operation.place

    def _read(self, view: View, new: list[Any]) -> Term:
        key, space = self._key(view)
        if key in self.values:
            return self.values[key]
        if view.buffer in self.written:
            raise Conflict("memory that is written here is read in another way")
        if space == _ROWS and view.dtype.kind == "b":
            raise Conflict("a boolean per row")
        new.append((key, view, space))
        return self.book.input(len(self.inputs) + len(new) - 1, view.dtype, EACH if space == _ELEMENTS else ROW)

    def _commit(self, new: list[Any], key: Any, view: View, term: Term, reduces: bool) -> None:
        for k, v, space in new:
            self.inputs.append(
                (v, self.book.input(len(self.inputs), v.dtype, EACH if space == _ELEMENTS else ROW), space)
            )
            self.values[k] = self.inputs[-1][1]
            self.read.setdefault(v.buffer, set()).add(k)
        self.values[key] = term
        self.outputs[key] = (view, term)
        self.written.setdefault(view.buffer, set()).add(key)
        self.reduces |= reduces

    def _check_write(self, key: Any, view: View, new: list[Any]) -> None:
        buffer = view.buffer
        keys = (
            self.read.get(buffer, set())
            | self.written.get(buffer, set())
            | {k for k, v, _ in new if v.buffer is buffer}
        )
        if keys - {key}:
            raise Conflict("memory that is read here in another way is written")
        if keys and (self.reduces or buffer.source is None):
            raise Conflict("memory that another pass over the rows reads is written")

    def _add_each(self, operation: Each) -> None:
        common, *operands = operation.operands
        lost = [i for i, n in enumerate(operation.out.shape) if n == 1]
        out = _without(operation.out, lost)
        operands = [_without(v, lost) if isinstance(v, View) else v for v in operands]
        is_row = bool(self.shape) and out.shape == self.shape[:-1] and out.shape != self.shape
        new: list[Any] = []
        if is_row:
            views = [self._row_view(v) if isinstance(v, View) else v for v in operands]
            target = self._row_view(out)
        else:
            target = self._fitted(out)
            views = [self._fitted(v) if isinstance(v, View) else v for v in operands]
        terms = []
        for i, v in enumerate(views):
            # A copy is cast when it is made; a condition stays what it is.
            kind = None if operation.word == "copy" or (operation.word == "where" and i == 0) else common
            if isinstance(v, View):
                term = self._read(v, new)
                terms.append(term if kind is None else self.book.cast(term, kind))
            else:
                number = v if isinstance(v, (bool, int, float)) else v.item()
                terms.append(self.book.constant(number, out.dtype if kind is None else kind))
        key, space = self._key(target)
        if (space == _ROWS) != is_row:
            raise Conflict("a result with a value per row")
        self._check_write(key, target, new)
        term = self._made(operation.word, terms, out.dtype, ROW if is_row else EACH)
        if is_row and term.space == EACH:
            raise Conflict("elements for a row")
        if is_row and out.dtype.kind == "b":
            raise Conflict("a boolean per row")
        self._commit(new, key, target, term, False)

    def _made(self, word: str, terms: list[Term], dtype: Any, space: int) -> Term:
        if word == "copy":
            (term,) = terms
            if term.operation == "constant":  # in the space of the result
                return self.book.term("constant", dtype=dtype, space=space, value=term.value)
            term = self.book.cast(term, dtype)
            if term.space < space:  # one value for all elements of a row
                yes = self.book.constant(True, "bool")
                return self.book.term("where", yes, term, term, dtype=dtype, space=space)
            return term
        found = max([t.space for t in terms], default=space)
        return self.book.term(word, *terms, dtype=dtype, space=max(found, space) if found < space else found)

    def _add_along(self, operation: Along) -> None:
        lost = [i for i, n in enumerate(operation.operand.shape) if n == 1]
        view, out = self._fitted(_without(operation.operand, lost)), _squeezed(operation.out)
        if operation.operand.shape[-1] != self.shape[-1]:
            raise Conflict("other rows")
        new: list[Any] = []
        key, space = self._key(view)
        if space == _ROWS:
            raise Conflict("a reduction of equal elements")
        operand = self._read(view, new)
        if operand.space != EACH:
            raise Conflict("a reduction of equal elements")
        target = self._row_view(out)
        key, _ = self._key(target)
        self._check_write(key, target, new)
        if any(v.buffer.source is not None and v.buffer in self.read for v, _ in self.outputs.values()):
            raise Conflict("memory is written that another pass over the rows reads")
        term = self.book.term(operation.word, operand, dtype=operand.dtype, space=ROW)
        self._commit(new, key, target, term, True)


def grouped(operations: list[Any]) -> list[Any]:
    """Operations in order, with neighbours joined to groups."""
    found: list[Any] = []
    for operation in operations:
        if not isinstance(operation, (Each, Along)):
            found.append(operation)
            continue
        last = found[-1] if found and isinstance(found[-1], Group) else None
        if last is None or not _joins(last, operation):
            group = Group(_space(operation))
            if _joins(group, operation):
                found.append(group)
            else:
                found += _brought_together(operation)
    return found


def _space(operation: Any) -> tuple[int, ...]:
    shape = operation.operand.shape if isinstance(operation, Along) else operation.out.shape
    return tuple(n for n in shape if n != 1)


def _without(view: View, lost: list[int]) -> View:
    """A view without some dimensions of size 1."""
    kept = [i for i in range(len(view.shape)) if i not in lost]
    return View(
        view.buffer, view.offset, tuple(view.shape[i] for i in kept), tuple(view.strides[i] for i in kept), view.dtype
    )


def _squeezed(view: View) -> View:
    return _without(view, [i for i, n in enumerate(view.shape) if n == 1])


def _joins(group: Group, operation: Any) -> bool:
    try:
        group.add(operation)
    except Conflict:
        return False
    return True


def _brought_together(operation: Any) -> list[Any]:
    """Operands whose elements lie apart are copied first, and the result afterwards."""
    before: list[Any] = []
    after: list[Any] = []

    def near(view: Any) -> Any:
        if not isinstance(view, View) or _lies_well(view):
            return view
        made = View(
            Buffer(view.size * view.dtype.itemsize),
            0,
            view.shape,
            dense_strides(view.shape, view.dtype.itemsize),
            view.dtype,
        )
        before.append(Copy(view, made, operation.place))
        return made

    if isinstance(operation, Along):
        moved: Any = operation._replace(operand=near(operation.operand))
    else:
        out = operation.out
        if not _lies_well(out) or any(isinstance(v, View) and v.buffer is out.buffer for v in operation.operands[1:]):
            target = View(
                Buffer(out.size * out.dtype.itemsize),
                0,
                out.shape,
                dense_strides(out.shape, out.dtype.itemsize),
                out.dtype,
            )
            after.append(Copy(target, out, operation.place))
            out = target
        moved = Each(operation.word, (operation.operands[0], *map(near, operation.operands[1:])), out, operation.place)
    group = Group(_space(moved))
    group.add(moved)
    return [*before, group, *after]


def _lies_well(view: View) -> bool:
    """Are the elements of a row adjacent, or one?"""
    return not view.shape or view.shape[-1] == 1 or view.strides[-1] in (0, view.dtype.itemsize)
