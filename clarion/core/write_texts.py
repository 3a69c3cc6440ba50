"""Recorded writes in place, as texts: `y[i] = v`, `y[:, 0].mul_(2)`, `y += v` under autograd, written out for one operation.

What is met every day: operands of one floating type, numbers, indices, masks. The function gives NotImplemented, and has changed nothing,
for whatever is unusual or to be refused: that is for the general way in inplace.py, which does the same by loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import indent
from typing import TYPE_CHECKING, Any

from .call_texts import _head
from .calls import Kept
from .inplace import attach_to_base, before_write
from .node_text import NO, YES, Input, Output, as_tuple, filling, known_inputs
from .provenance import here
from .versions import Part, View
from .written import scope_of, written_at_first_call

if TYPE_CHECKING:
    from .op import Op


def pick_write(op: Op) -> Callable[..., Any]:
    """The write of an operation into its first input, written out when it is first called."""
    if op.variadic or len(op.outputs) > 1 or op.joint is not None or op.rules[0] is None or op.view or op.looks_first:
        return _never
    scope = scope_of(op) | {each.__name__: each for each in (Part, View, attach_to_base, before_write, here)}
    scope["kept"] = Kept(op)
    text = write if len(op.inputs) < 3 and not op.uses_shapes else write_of_several
    form = "in place" if text is write and op.elementwise and not op.moves else ""
    return written_at_first_call(op, partial(text, op), scope, f"{op.name}_, recorded", form)


def _never(*_: Any) -> Any:
    return NotImplemented


_PLACE = """    a = x._array
    dtype = a.dtype
    if (dtype is not f32 and dtype is not f64{whole}) or 0 in a.strides{elsewhere}:
        return NotImplemented
    counter = x._vc
    if counter is None:
        counter = x._vc = VersionCounter()
    elif type(counter) is not VersionCounter or counter.shadow_of is not None or counter is INFERENCE:
        return NotImplemented
"""
# Whole numbers have no history: they are written to by whole numbers.
_OF_FLOATS = """    if dtype is i64 and not ({plain}):
        return NotImplemented
"""
# A number as an array; an operation that moves data takes it as it is.
_OPERAND = """    kind = type(y)
    if kind is Tensor or isinstance(y, Tensor):
        b = y._array
        if {unlike}:
            return NotImplemented
        if y._view is not None:
            sync(y)
        ry = y._rg
    elif {numbers}:
        b = {number}
        ry = None
    else:
        return NotImplemented
"""
_HISTORY = """    view = x._view
    if view is None:
        rx = x._rg
        if rx and x._edge is None:
            return NotImplemented
    else:
        sync(x)
        rx, base = x._rg, view.base
        if view.creation != "normal" or (base._edge is None and (rx or base._rg)):
            return NotImplemented
        if type(view) is not View and type(view) is not Part:
            return NotImplemented
    if x._edge is not None and x._edge.hooks is not None:
        return NotImplemented
"""
_WRITE = """    old = before_write(x, k0) if k0 or hub.recorded is not None else x
    try:
        {written}
    except (ValueError, TypeError):
        return NotImplemented
    if not ({wanted}):
        counter.n += 1
        counter.place = here(3)  # past this, its caller, and that one's
        if hub.wrote is not None:
            hub.wrote(x, "inplace")
        return x
    counter.n += 1
    node = cls()
    node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None
"""
_END = """    node.seq = next(sequence)
    mark(node)
    counter.place = node.place
    if hub.wrote is not None:
        hub.wrote(x, "inplace")
    if view is None:
        x._edge = node
        x._nr = 0
        x._rg = True
    else:
        attach_to_base(x, node)
    if hub.recorded is not None:
        announce(node, {inputs}, x)
    return x
"""


# A kernel that cannot write in place: what it gives is copied, if it fits.
_COPIED = """r = kernel({arguments})
        if type(r) is not ndarray or r.shape != a.shape or r.dtype is not dtype:
            return NotImplemented
        a[...] = r"""


def _write(op: Op, arguments: str, wanted: str) -> str:
    written = f"kernel({arguments}, out=a)" if op.writes else _COPIED.format(arguments=arguments)
    return _WRITE.format(written=written, wanted=wanted)


def _place(op: Op) -> str:
    """The array that is written to: floats, and whole numbers where those stay what they are (as counters do)."""
    whole = " and dtype is not i64" if _takes_whole(op) else ""
    return _PLACE.format(whole=whole, elsewhere="" if op.writes else " or type(a) is not ndarray")


def _takes_whole(op: Op) -> bool:
    return op.moves or (op.promote == "common" and "i" not in op.refuse and op.writes and len(op.inputs) < 3)


# Where nobody wants a gradient, into memory that was written before, by a quick kernel.
_QUICK = """    counter = x._vc
    if type(counter) is VersionCounter and not x._rg and x._view is counter.shadow_of is None and counter is not INFERENCE:
{operand}        if quick({arguments}) is not None:
            counter.n += 1
            counter.place = here(3)
            if hub.wrote is not None:
                hub.wrote(x, "inplace")
            return x
"""
_QUICK_OPERAND = """        if type(y) is float or type(y) is int:
            b = (numbers32 if x._array.dtype is f32 else numbers64).get(y)
        else:
            b = y if isinstance(y, Tensor) and y._view is None and not y._rg else None
"""


def write(op: Op, quick: bool = False) -> str:
    """One or two operands: which of them want a gradient is asked once, and every answer has its own lines."""
    names = ["x", "y"][: len(op.inputs)]
    text, params = _head(op, names)
    if quick:
        arguments = ", ".join(["x", "b"][: len(names)] + params)
        text += _QUICK.format(operand=_QUICK_OPERAND if len(names) == 2 else "", arguments=arguments)
    text += _place(op)
    if len(names) == 2:
        unlike = "b.dtype is not dtype" if not op.moves else "b.dtype.kind == 'c'"
        if _ever_kept(op, 1):
            unlike += " or y._vc is counter"  # what is kept would be overwritten
        numbers = "kind is float or kind is int"
        if _takes_whole(op) and not op.moves:
            numbers = f"({numbers}) if dtype is not i64 else kind is int and -LARGEST <= y <= LARGEST"
        text += _OPERAND.format(unlike=unlike, number="y" if op.moves else "as_scalar(y, dtype)", numbers=numbers)
    text += _HISTORY
    if _takes_whole(op):
        text += _OF_FLOATS.format(plain="not rx" + (" and not ry" if len(names) == 2 else ""))
    # Which of the operands want a gradient, and whether the values before the write are kept for it.
    cases = [("rx", 1)] if len(names) == 1 else [("ry is None", 1), ("rx and ry", 3), ("rx", 1), ("ry", 2)]
    asked = {1: "rx and not ry" if len(names) == 2 else "rx", 2: "ry and not rx", 3: "rx and ry"}
    kept = " or ".join([asked[mask] for mask in sorted({mask for _, mask in cases}) if op.keep(mask)[0]]) or NO
    arrays, wanted = ["a", "b"][: len(names)], " or ".join(["rx", "ry"][: len(names)])
    text += f"    k0 = {kept}\n" + _write(op, ", ".join(arrays + params), wanted)
    misfits = ("a.shape != b.shape or " if op.broadcast else "") + "b.dtype is not dtype"
    for number, (condition, mask) in enumerate(cases):
        by_number = condition == "ry is None"
        inputs = known_inputs(op, ("old", "b" if by_number else "y")[: len(names)], tuple(arrays), mask)
        out = [Output("x", "a", YES if op.keep(mask)[op.arity] else NO)]
        filled = filling(op, inputs, params, out, NO if len(names) == 1 or by_number else misfits, fresh=False)
        text += f"    {'elif' if number else 'if'} {condition}:\n" + indent(filled, " " * 8)
    return text + _END.format(inputs=as_tuple(["old", *names[1:]]))


_ONE_OF_SEVERAL = """    if type(t{i}) is Tensor or isinstance(t{i}, Tensor):
        a{i} = t{i}._array
        if {unlike}:
            return NotImplemented
        if t{i}._view is not None:
            sync(t{i})
        r{i} = t{i}._rg
        if t{i}._vc is not None:
            versioned = True
        if t{i}._nr:
            numbered = True
        if {stretched}:
            misfits = True
"""
_NUMBER_OF_SEVERAL = """    elif type(t{i}) is float or type(t{i}) is int:
        a{i} = {number}
        r{i} = False
"""
_NOTHING_OF_SEVERAL = """    elif t{i} is None:
        a{i} = None
        r{i} = False
"""


def write_of_several(op: Op) -> str:
    """More operands: indices and masks among them, and numbers where data is only moved."""
    numbers = range(1, len(op.inputs))
    names = ["x", *[f"t{i}" for i in numbers]]
    text, params = _head(op, names)
    text += _place(op) + "    versioned = numbered = misfits = False\n"
    for i in numbers:
        unlike = f"a{i}.dtype is not dtype" + ("" if op.promote is not None else f" and a{i}.dtype.kind not in 'biu'")
        unlike = f"({unlike})" + (f" or t{i}._vc is counter" if _ever_kept(op, i) else "")
        stretched = f"a{i}.shape != a.shape" if op.broadcast else NO
        text += _ONE_OF_SEVERAL.format(i=i, unlike=unlike, stretched=stretched)
        if not op.uses_shapes:
            text += _NUMBER_OF_SEVERAL.format(i=i, number=f"t{i}" if op.moves else f"as_scalar(t{i}, dtype)")
            text += _NOTHING_OF_SEVERAL.format(i=i)
        text += "    else:\n        return NotImplemented\n"
    text += _HISTORY + "    if x._nr:\n        numbered = True\n"
    wanted = ["rx", *[f"r{i}" for i in numbers]]
    text += f"    mask = {' | '.join([f'({1 << i} if {each} else 0)' for i, each in enumerate(wanted)])}\n"
    if _takes_whole(op):
        text += _OF_FLOATS.format(plain="not mask")
    inputs = [Input("old", "a", "rx", "k0"), *[Input(f"t{i}", f"a{i}", f"r{i}", f"k{i}") for i in numbers]]
    text += f"    {', '.join([each.kept for each in inputs])}, kept_out, keeps = kept[mask]\n"
    arguments = ", ".join(["a", *[f"a{i}" for i in numbers], *params])
    text += _write(op, arguments, "mask")
    filled = filling(op, inputs, params, [Output("x", "a", "kept_out")], "misfits", fresh=False)
    return text + indent(filled, " " * 4) + _END.format(inputs=as_tuple(["old", *names[1:]]))


def _ever_kept(op: Op, i: int) -> bool:
    """Does any rule name an input?"""
    return any(op.keep(1 << each)[i] for each in range(len(op.inputs)))
