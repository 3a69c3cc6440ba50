"""The call of an operation with several inputs, or several results, as text (see call_texts.py)."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

from .call_texts import _END, _IN_ROWS, _NO_MEMORY, _OUTPUT, _REFUSED, _head, _left
from .node_text import NO, Input, Output, as_tuple, filling, recorded

if TYPE_CHECKING:
    from .op import Op

# One input: an array of the type that all inputs share (a floating one, or int64 where the kernel takes that as it is), an index
# or a mask, a number, or nothing.
_INPUT = """    if type(t{i}) is Tensor or isinstance(t{i}, Tensor):
        a{i} = t{i}._array
        dtype = a{i}.dtype
        if dtype is f32 or dtype is f64{whole} or (type(a{i}) in HALVES and dtype in HALF):
            if floating is None:
                floating = dtype
            elif dtype is not floating:
{mixed}        elif {other}:
            return general_call(op, {args})
        if t{i}._view is not None:
            sync(t{i})
        g{i} = t{i}._rg
        if t{i}._vc is not None:
            versioned = True
        if t{i}._nr:
            numbered = True
    elif t{i} is None:
        a{i} = None
        g{i} = False
    elif (floating is f32 or floating is f64) and (type(t{i}) is float or type(t{i}) is int):
        a{i} = as_scalar(t{i}, floating)
        g{i} = False
{number}    else:
        return general_call(op, {args})
"""


_WHOLE_NUMBER = """    elif floating is i64 and type(t{i}) is int and -LARGEST <= t{i} <= LARGEST:
        a{i} = as_scalar(t{i}, i64)
        g{i} = False
"""


# The same of a kernel that takes tensors: numbers are arrays of the type that floats before them have, as above.
_QUICK_NUMBER = """    n{i} = t{i}
    if type(t{i}) is float or type(t{i}) is int:
        n{i} = beside({before}, t{i})
"""
_QUICK_INPUT = """if type(t{i}) is Tensor or isinstance(t{i}, Tensor):
{array}    if t{i}._view is not None:
        sync(t{i})
    g{i} = t{i}._rg
    if t{i}._vc is not None:
        versioned = True
    if t{i}._nr:
        numbered = True
else:
{number}    g{i} = False
"""
_QUICK_SEVERAL = """    try:
        found = quick({arguments})
    except (MemoryError, TypeError, ValueError):
        found = None
    if found is not None:
        {outs} = found
        versioned = numbered = False
{body}"""


def _quick_several(op: Op, names: list[str], params: list[str], end: str) -> str:
    """Where the kernel takes all of it as it is. (What it refuses is said below, in PyTorch's words.)"""
    numbers, places = range(len(names)), range(len(op.outputs))
    wanted, outs = " or ".join(f"g{i}" for i in numbers), ", ".join(f"out{o}" for o in places)
    shapes = ("    a{0} = t{0}._array\n", "    a{0} = n{0}\n") if op.uses_shapes else ("", "")
    body = "".join([_QUICK_INPUT.format(i=i, array=shapes[0].format(i), number=shapes[1].format(i)) for i in numbers])
    if op.differentiable:
        body += "".join([f"r{o} = out{o}._array\n" for o in places])
        body += dedent(_recorded_of_several(op, names, params, wanted, quick=True))
    else:
        body += dedent(_left(names, wanted))
    text = "    n0 = t0\n" + "".join([_QUICK_NUMBER.format(i=i, before=as_tuple(names[:i])) for i in numbers[1:]])
    arguments = ", ".join([f"n{i}" for i in numbers] + params)
    return text + _QUICK_SEVERAL.format(arguments=arguments, outs=outs, body=indent(body + dedent(end), " " * 8))


def several(op: Op, quick: bool = False) -> str:
    """Several inputs or several results. A loop over the inputs would cost twice as much as the same steps in a row."""
    numbers, places = range(len(op.inputs)), range(len(op.outputs))
    names, outs = [f"t{i}" for i in numbers], [f"out{o}" for o in places]
    text, params = _head(op, names)
    args = as_tuple(names + params)
    result = outs[0] if len(outs) == 1 else ", ".join(outs)
    edges, every = " or ".join(f"out{o}._edge is not None" for o in op.grad_outputs), as_tuple(outs)
    marked = " = ".join(f"{out}._vc" for out in outs)
    end = _END.format(
        edges=edges, inputs=as_tuple(names), params=as_tuple(params), outs=every, marked=marked, result=result
    )
    if quick:
        text += _quick_several(op, names, params, end)
    # An operation that promotes takes masks and indices to the general way.
    other = "True" if op.promote is not None else "dtype.kind not in 'biu'"
    whole = " or dtype is i64" if op.promote is not None and "i" in op.whole else ""
    text += "    floating = None\n    versioned = numbered = mixed = False\n"
    for i in numbers:
        unlike = f"                return general_call(op, {args})\n"
        if op.promote is None:  # kernels of a GPU read several floating types as they are
            unlike = f"                if type(a{i}) not in HALVES:\n    {unlike}                mixed = True\n"
        number = _WHOLE_NUMBER.format(i=i) if whole else ""
        text += _INPUT.format(i=i, args=args, other=other, mixed=unlike, whole=whole, number=number)
    arrays = [f"a{i}" for i in numbers]
    if op.promote is not None or op.whole != "biu":
        text += f"    if floating is None:\n        return general_call(op, {args})\n"
    text += f"    try:\n        {', '.join(f'r{o}' for o in places)} = kernel({', '.join(arrays + params)})\n"
    text += f"    except ValueError as error:\n        raise misfit(op, [{', '.join(arrays)}], error) from None\n"
    text += _REFUSED.format(args=args) + _NO_MEMORY
    if op.pointwise:
        text += f"    r0 = where_they_meet(r0, {as_tuple(arrays)})\n"
    if op.reduces:
        text += "".join([_IN_ROWS.format(r=f"r{o}") for o in places])
    for o in places:
        text += _OUTPUT.format(r=f"r{o}", out=f"out{o}") + f"    out{o}._edge = None\n    out{o}._rg = False\n"
    wanted = " or ".join(f"g{i}" for i in numbers)
    text += _recorded_of_several(op, names, params, wanted) if op.differentiable else _left(names, wanted)
    return text + end


def _recorded_of_several(op: Op, names: list[str], params: list[str], wanted: str, quick: bool = False) -> str:
    numbers, places = range(len(names)), range(len(op.outputs))
    inputs = [Input(f"t{i}", f"a{i}", f"g{i}", f"k{i}") for i in numbers]
    outs = [Output(f"out{o}", f"r{o}", f"ko{o}") for o in places]
    stretched = [f"(a{i} is not None and a{i}.shape != r0.shape)" for i in numbers] if op.broadcast else []
    filled = f"mask = {' | '.join(f'({1 << i} if g{i} else 0)' for i in numbers)}\n"
    filled += f"{', '.join([x.kept for x in inputs] + [o.kept for o in outs] + ['keeps'])} = kept[mask]\n"
    unlike = ["r0.dtype is not floating", "mixed", "(floating is not f32 and floating is not f64)", *stretched]
    # (A quick kernel gives what has the type and, where others would broadcast, the shape of all inputs: see `_asked` in written.py.)
    filled += filling(op, inputs, params, outs, NO if quick else " or ".join(unlike))
    attached = ""
    for o in op.grad_outputs:
        attached += f"out{o}._edge = node\nout{o}._rg = True\n" + (f"out{o}._nr = {o}\n" if o else "")
    return indent(recorded(filled, wanted, as_tuple(names), attached, "out0"), " " * 4)
