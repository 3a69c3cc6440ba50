"""The calls of operations, as texts: written out for one operation, so that nothing is asked that has one answer.

On small tensors an operation is mostly overhead. Here are the ways that are met every day: tensors of one floating type,
numbers, indices. Whatever is unusual goes to `general_call`. How a node is filled stands in node_text.py.

`quick`: the text for a kernel that takes tensors as they are and gives one (NOTE [Held arrays] in kernels/held.py). That is tried first; where
it gives None, everything is done step by step.
"""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

from .node_text import NO, Output, as_tuple, filling, known_inputs, known_output, recorded

if TYPE_CHECKING:
    from .op import Op

_A_TENSOR = """    if type(x) is not Tensor and not isinstance(x, Tensor):
        raise not_a_tensor(op, 0, x)
"""

# What is neither float32 nor float64 goes the general way, unless kernels take half precision as it is.
_NO_FLOAT = "{dtype} is not f32 and {dtype} is not f64{whole} and (type({a}) not in HALVES or {dtype} not in HALF)"


def _unusual(op: Op, a: str, dtype: str) -> str:
    """Does an array go the general way? Whole numbers do not where the kernel takes them as they are."""
    whole = op.whole
    if "f" in op.refuse:
        return f"{dtype}.kind not in {whole!r}"
    return _NO_FLOAT.format(a=a, dtype=dtype, whole=f" and {dtype}.kind not in {whole!r}" if whole else "")


_OUTPUT = """    if type({r}) is not ndarray and type({r}) not in ARRAYS:
        {r} = {r}[...]  # NumPy hands out 0-dim results as scalars
    {out} = new_object(Tensor)
    {out}._array = {r}
    {out}._vc = {out}._view = None
    {out}._nr = 0
"""
# What is left of a reduction is contiguous, however its input lies.
_IN_ROWS = "    if {r}.ndim > 1:\n        {r} = rows({r})\n"
_RECORDED = "out._edge = node\nout._rg = True\n"
_UNRECORDED = "out._edge = None\nout._rg = False\n"

_NO_MEMORY = """    except MemoryError as error:
        raise out_of_memory(error) from None
"""

# A kernel that does not know a type of whole numbers: the general way says so in PyTorch's words.
_REFUSED = """    except TypeError:
        return general_call(op, {args})
"""

# Under no_grad alone there is nothing to finish, and little in inference mode.
_END = """    if special:
        if {edges} or modes.dual is not None or hub.applied is not None:
            finished(op, {inputs}, {params}, {outs})
        elif modes.state.inference:
            {marked} = INFERENCE
    return {result}
"""


def _head(op: Op, inputs: list[str]) -> tuple[str, list[str]]:
    """The first lines, and the names of the parameters."""
    params = [f"p{i}" for i in range(len(op.params))]
    names = inputs + params
    first = len(names) - len(op.defaults)
    signature = [name if i < first else f"{name}=defaults[{i - first}]" for i, name in enumerate(names)]
    return f"def call({', '.join(signature)}):\n    global user\n", params


# One tensor ---------------------------------------------------------------------------------------------


_FUNCTION = """def call(input, *, out=None):
    global user
    if out is not None:
        return with_target(input, out=out)
    x = input
"""


_FOLLOWED = "    if x._view is not None:\n        sync(x)\n"

# The result of a quick kernel. (Where there is no memory left, the long way says so.)
_QUICK = """try:
    out = quick({arguments})
except MemoryError:
    out = None
if out is not None:
{body}"""


def _quick(arguments: str, body: str) -> str:
    return indent(_QUICK.format(arguments=arguments, body=indent(body, " " * 4)), " " * 4)


def unary(op: Op, is_function: bool = False, quick: bool = False) -> str:
    """One tensor, parameters perhaps, one result: functions of each element, reductions, softmax, …"""
    text, params = (_FUNCTION, []) if is_function else _head(op, ["x"])
    if "activation" in op.traits:  # whose constants may be given as tensors of one element, or as NumPy's numbers
        text += "".join(f"    if type({p}) is not float:\n        {p} = plain_number({p})\n" for p in params)
    end = _END.format(
        edges="out._edge is not None",
        inputs="(x,)",
        params=as_tuple(params),
        outs="(out,)",
        marked="out._vc",
        result="out",
    )
    direct = op.elementwise and not op.params  # called from the user's own line; the result has the input's type
    misfits = NO if direct else "r.dtype is not a.dtype or (r.dtype is not f32 and r.dtype is not f64)"

    def finish(otherwise: str) -> str:
        if not op.differentiable:
            return otherwise + dedent(_left(["x"], "x._rg"))
        filled = filling(op, known_inputs(op, ("x",), ("a",), 1), params, known_output(op, "out", "r", 1), misfits)
        return recorded(filled, "x._rg", "(x,)", _RECORDED, "out", direct, otherwise)

    if quick:
        arrays = "a = x._array\nr = out._array\n" if op.differentiable else ""
        text += _quick(", ".join(["x", *params]), dedent(_FOLLOWED) + arrays + finish("") + dedent(end))
    text += _A_TENSOR + "    a = x._array\n"
    if not op.moves or op.checks_types:  # else data is moved as it is, whatever its type
        text += f"    if {_unusual(op, 'a', 'a.dtype')}:\n"
        text += f"        return general_call(op, {as_tuple(['x', *params])})\n"
    text += f"    try:\n        r = kernel({', '.join(['a', *params])})\n"
    text += _REFUSED.format(args=as_tuple(["x", *params])) + _NO_MEMORY
    if op.reduces:
        text += _IN_ROWS.format(r="r")
    text += _OUTPUT.format(r="r", out="out")
    text += _FOLLOWED
    return text + indent(finish(_UNRECORDED), " " * 4) + end


# Two operands -------------------------------------------------------------------------------------------

_BINARY = """    a = x._array
    dtype = a.dtype
    kind = type(y)
    if kind is float or kind is int:
        {number}
        else:
            return otherwise(op, (x, y))
        if b is None:
            b = as_scalar(y, dtype)
        ry = None{alone}
    elif kind is Tensor or isinstance(y, Tensor):
        b = y._array
        mixed = False
        if b.dtype is not dtype or ({unusual}):
            {meeting}if {apart}:
                return general_call(op, (x, y))
            else:
                mixed = b.dtype is not dtype
        if y._view is not None:
            sync(y)
        ry = y._rg{turned}
    else:
        return otherwise(op, (x, y))
    try:
        r = kernel(a, b)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None
"""
# Floats and masks or whole numbers, which are converted: floats decide the type, with dimensions or without.
_MEETING = """if b.dtype.kind in "{kinds}" and (dtype is f32 or dtype is f64) and type(a) is type(b) is ndarray:
                b = cast(b, dtype)
                mixed = True
            elif dtype.kind in "{kinds}" and (b.dtype is f32 or b.dtype is f64) and type(a) is type(b) is ndarray:
                a = cast(a, b.dtype)
                mixed = True
            el"""
# A number as an array, if it is remembered.
_FLOAT = """if dtype is f32:
            b = numbers32.get(y)
        elif dtype is f64:
            b = numbers64.get(y)"""
_WHOLE = "if dtype is i64 and kind is int and -LARGEST <= y <= LARGEST:\n            b = whole_numbers.get(y)"
# Two tensors that lie differently in memory; where the first lies as usual, NumPy does what PyTorch does.
_TURNED = "\n        turned = not a.flags.c_contiguous"
_MEET = "    if turned:\n        r = where_they_meet(r, (a, b))\n"


_QUICK_BINARY = """    if type(y) is float or type(y) is int:
        global numbers
        b = numbers.get(y)
        if b is None and y == 0:  # (which is not kept: it has a sign that keys do not see)
            b = as_scalar(y, f64 if numbers is numbers64 else f32)
{number}        if b is not None and type(x) is Tensor:
            numbers = numbers64 if x._array.dtype is f64 else numbers32
    elif type(y) is Tensor or isinstance(y, Tensor):
{tensor}"""


def _quick_binary(op: Op, end: str) -> str:
    """Two tensors of one shape and type, or a tensor and a number; `numbers` is for the type of tensors that came last."""
    texts, ways = {}, {"number": ("rx", _with_number(op)), "tensor": ("rx or ry", _with_tensor(op, NO))}
    for kind, (wanted, filled) in ways.items():
        body = dedent(_FOLLOWED) + "rx = x._rg\n"
        if kind == "tensor":
            body += "if y._view is not None:\n    sync(y)\nry = y._rg\n"
        if op.differentiable:
            body += "r = out._array\n" + recorded(filled, wanted, "(x, y)", _RECORDED, "out", True)
        else:
            body += dedent(_left(["x", "y"], wanted))
        texts[kind] = indent(_quick("x, y" if kind == "tensor" else "x, b", body + dedent(end)), " " * 4)
    return _QUICK_BINARY.format(**texts)


def _with_number(op: Op) -> str:
    """How the node is filled where the second operand is a number."""
    return filling(op, known_inputs(op, ("x", "b"), ("a", "b"), 1), [], known_output(op, "out", "r", 1), NO)


def _with_tensor(op: Op, misfits: str) -> str:
    """And where it is a tensor: by who requires a gradient."""
    text = ""
    for asked, mask in (("if rx and ry", 3), ("elif rx", 1), ("else", 2)):
        inputs, outs = known_inputs(op, ("x", "y"), ("a", "b"), mask), known_output(op, "out", "r", mask)
        text += f"{asked}:\n" + indent(filling(op, inputs, [], outs, misfits), " " * 4)
    return text


def binary(op: Op, is_operator: bool = False, quick: bool = False) -> str:
    """Two operands: tensors, or a tensor and a number, which is kept as the 0-dim array that NumPy is fast with."""
    text, _ = _head(op, ["x", "y"])
    end = _END.format(
        edges="out._edge is not None", inputs="(x, y)", params="()", outs="(out,)", marked="out._vc", result="out"
    )
    if quick:
        text += _quick_binary(op, end)
    if not is_operator:  # whose first operand is a Tensor
        text += "    if type(x) is not Tensor and not isinstance(x, Tensor):\n        return general_call(op, (x, y))\n"
    # Float32 and half precision: see `meet`.
    apart = "not meet(a, b)" if op.elementwise and op.promote is not None else "True"
    kinds = "".join([kind for kind in "biu" if kind not in op.refuse])
    meeting = _MEETING.format(kinds=kinds) if op.elementwise and op.promote is not None and "f" not in op.refuse else ""
    alone, turned = ("\n        turned = False", _TURNED) if op.pointwise else ("", "")
    number = [] if "f" in op.refuse else [_FLOAT]
    if "i" in op.whole:
        number.append(_WHOLE)
    text += _BINARY.format(
        number="\n        el".join(number),
        unusual=_unusual(op, "a", "dtype"),
        meeting=meeting,
        apart=apart,
        alone=alone,
        turned=turned,
    )
    text += (
        _REFUSED.format(args="(x, y)") + _NO_MEMORY + (_MEET if op.pointwise else "") + _OUTPUT.format(r="r", out="out")
    )
    text += _FOLLOWED + "    rx = x._rg\n"
    if op.differentiable:
        misfits = "a.shape != b.shape" + ("" if op.pair is None else " and pair(a, b)")
        misfits += " or mixed" if op.elementwise else ""
        filled = "if ry is None:\n" + indent(_with_number(op), " " * 4) + "el" + _with_tensor(op, misfits)
        text += indent(recorded(filled, "rx or ry", "(x, y)", _RECORDED, "out", True, _UNRECORDED), " " * 4)
    else:
        text += indent(_UNRECORDED, " " * 4) + _left(["x", "y"], "rx or ry")
    return text + end


def _left(inputs: list[str], wanted: str) -> str:
    """An operation without gradient: whoever listens hears that a history ends here."""
    return (
        "    special = modes.special\n"
        f"    if hub.left is not None and ({wanted}):\n"
        f"        for t in {as_tuple(inputs)}:\n"
        "            if isinstance(t, Tensor) and t._rg:\n"
        "                hub.left(t, op.name)\n"
    )


# Any number of inputs -----------------------------------------------------------------------------------

_VARIADIC = """    arrays = []
    edges = []
    wanted = numbered = False
    dtype = None
    for t in tensors:
        a = t._array if isinstance(t, Tensor) else None
        if a is None or a.dtype is not dtype:
            if a is None or dtype is not None or ({unusual}):
                return {general}
            dtype = a.dtype
        arrays.append(a)
        if t._view is not None:
            sync(t)
        if t._rg:
            wanted = True
            edges.append(t._edge or t)
            if t._nr:
                numbered = True
        else:
            edges.append(None)
"""

_VARIADIC_FILLED = """node.edges = tuple(edges)
node.saved = [*[None] * len(edges), {params}None, *[a.shape for a in arrays]]
if numbered:
    node.nrs = tuple([t._nr for t in tensors])
if r.dtype is not dtype or (dtype is not f32 and dtype is not f64):
    node.fix = tuple([(a.shape, dtype) for a in arrays])
"""


def variadic(op: Op) -> str:
    """Any number of tensors of one floating type, one result, nothing saved but parameters and shapes: cat, stack, …"""
    text, params = _head(op, ["tensors"])
    passed = "".join(f"{p}, " for p in params)
    general = f"general_call(op, (*tensors, {passed}), len(tensors))"
    named = () if op.joint is None else op.joint.names
    keeps = op.inputs[0] in named or any(name in named for name in op.outputs)
    if keeps or op.joint is None or op.promote is not None or len(op.outputs) > 1 or op.broadcast:
        return text + f"    return {general}\n"
    text += _VARIADIC.format(general=general, unusual=_unusual(op, "a", "a.dtype"))
    text += f"    r = kernel({', '.join(['arrays', *params])})\n" + _OUTPUT.format(r="r", out="out")
    filled = _VARIADIC_FILLED.format(params=passed)
    body = recorded(filled, "wanted", "tuple(tensors)", _RECORDED, "out", otherwise=_UNRECORDED)
    text += indent(body, " " * 4)
    return text + _END.format(
        edges="out._edge is not None",
        inputs="tuple(tensors)",
        params=as_tuple(params),
        outs="(out,)",
        marked="out._vc",
        result="out",
    )


# Views --------------------------------------------------------------------------------------------------

# Where a mode is on, as_view asks which.
_ONE_VIEW = """    out = (as_view if modes.special else quick_view)(x, kernel({arguments}), ((op, {params}, None),))
"""
_MANY_VIEWS = """    viewed = as_view if modes.special else quick_view
    outs = tuple([viewed(x, r, ((op, {params}, i),), "multi") for i, r in enumerate(kernel({arguments}))])
    if not outs:
        return outs
    if modes.special and modes.dual is not None:
        modes.dual.viewed(x, outs, ((op, {params}, 0),))
"""
_MANY_ATTACHED = """i = 0
metas = []
for out in outs:
    out._edge = node
    out._nr = i
    out._rg = True
    r = out._array
    metas.append((r.shape, r.dtype))
    i += 1
if i > 1:
    node.n_out = i
    node.out_meta = tuple(metas)
"""
_VIEW_END = """    if modes.special:
        finished(op, (x,), {params}, {outs}, True)
    return {result}
"""


# Nothing is left to do after a quick kernel: it records what is to be recorded. (A quiet one is for `no_grad`.)
_QUICK_VIEW = """    if not modes.special:
        out = quick({arguments})
        if out is not None:
            return out
    elif modes.unrecorded_alone():
        out = quiet({arguments})
        if out is not None:
            return out
"""


def view(op: Op, quick: bool = False) -> str:
    """A result that shares the memory of its input, or several such."""
    text, params = _head(op, ["x"])
    given = as_tuple(params)
    if quick:
        text += _QUICK_VIEW.format(arguments=", ".join(["x", *params]))
    text += _A_TENSOR + "    if x._view is not None:\n        sync(x)\n    a = x._array\n"
    text += (_MANY_VIEWS if op.multi_view else _ONE_VIEW).format(params=given, arguments=", ".join(["a", *params]))
    outs, first = ("outs", "outs[0]") if op.multi_view else ("(out,)", "out")
    if op.differentiable:
        misfits = NO if op.multi_view else "out._array.dtype is not a.dtype"
        filled = filling(op, known_inputs(op, ("x",), ("a",), 1), params, [Output("out", "None", NO)], misfits)
        attached = _MANY_ATTACHED if op.multi_view else _RECORDED
        wanted = "x._rg and x._vc is not INFERENCE"  # (views of inference tensors have no history)
        text += indent(recorded(filled, wanted, "(x,)", attached, first), " " * 4)
    return text + _VIEW_END.format(params=given, outs=outs, result="outs" if op.multi_view else "out")
