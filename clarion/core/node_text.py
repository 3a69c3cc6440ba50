"""The text that fills a node, for one operation: see NOTE [Filling a node] in recording.py.

What is not known beforehand (does an input require a gradient? is it kept?) is asked at run time, of a variable whose name
stands here as a condition; what is known is YES or NO, and no line asks for it.
"""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .op import Op

YES, NO = "True", "False"


class Input(NamedTuple):
    """An input in the text: its variable, that of its array, and the conditions on which it has an edge and is kept."""

    name: str
    array: str
    wanted: str
    kept: str
    is_tensor: bool = True  # a number is neither versioned nor numbered


class Output(NamedTuple):
    """An output in the text: its variable, that of its array, and the condition on which it is kept."""

    name: str
    array: str
    kept: str


def known_inputs(op: Op, names: tuple[str, ...], arrays: tuple[str, ...], mask: int) -> list[Input]:
    """The inputs, where it is known which of them (`mask`) require gradients. A number goes by its array."""
    keep = op.keep(mask)
    return [
        Input(name, array, YES if mask >> i & 1 else NO, YES if keep[i] else NO, name != array)
        for i, (name, array) in enumerate(zip(names, arrays, strict=True))
    ]


def known_output(op: Op, name: str, array: str, mask: int) -> list[Output]:
    """The one output, where it is known which inputs require gradients."""
    return [Output(name, array, YES if op.keep(mask)[op.arity] else NO)]


def recorded(
    filled: str, wanted: str, inputs: str, outs: str, first: str, quick: bool = False, otherwise: str = ""
) -> str:
    """The whole part of a call that records it, if somebody wants a gradient; `otherwise`: what is done if not.

    `quick`: the operation is called from the user's own line (an operator): mostly it is the same code again.
    """
    place = _QUICK_PLACE if quick else "mark(node)\n"
    body = "node = cls()\n" + EMPTY + filled + "node.seq = next(sequence)\n" + place + outs
    body += f"if hub.recorded is not None:\n    announce(node, {inputs}, {first})\n"
    text = f"special = modes.special\nif ({wanted}) and (not special or modes.recording()):\n" + indent(body, " " * 4)
    return text + ("else:\n" + indent(otherwise, " " * 4) if otherwise else "")


EMPTY = "node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None\n"

_QUICK_PLACE = """frame = getframe(1)
code = frame.f_code
if code is user:
    node.code = code
    node.lasti = frame.f_lasti
else:
    mark(node)
    user = node.code
"""


def filling(
    op: Op, inputs: list[Input], params: list[str], outs: list[Output], misfits: str, fresh: bool = True
) -> str:
    """Edges, saved values and their guards, numbers of outputs; `misfits`: when gradients must be brought to their inputs.

    An output that is not `fresh` is what was written in place: it has a `counter` already.
    """
    text = f"node.edges = {as_tuple([_choice(x.wanted, f'{x.name}._edge or {x.name}') for x in inputs])}\n"
    text += _saved(op, inputs, params, outs)
    text += _versions(inputs) + _numbers(inputs)
    if misfits != NO:
        fix = as_tuple([_choice(x.wanted, f"({x.array}.shape, {x.array}.dtype)") for x in inputs])
        fix = f"Mixed({fix}) if mixed else {fix}" if op.mixes and misfits.endswith(" or mixed") else fix
        text += f"if {misfits}:\n    node.fix = {fix}\n"
    if fresh:
        return text + _guards(outs)
    kept = outs[0].kept
    return text + ("" if kept == NO else _COUNTED if kept == YES else f"if {kept}:\n    {_COUNTED}")


_COUNTED = "node.out_guard = [(counter, counter.n, a, counter.silent)]\n"


def _saved(op: Op, inputs: list[Input], params: list[str], outs: list[Output]) -> str:
    """The layout: a tuple if anything is kept that is worth freeing."""
    values = [_choice(x.kept, x.name) for x in inputs] + params + [_choice(o.kept, o.array) for o in outs]
    if op.uses_shapes:
        values += [
            f"{x.array}.shape" if _is_known(x) else f"None if {x.array} is None else {x.array}.shape" for x in inputs
        ]
    kept = [x.kept for x in inputs] + [o.kept for o in outs]
    if YES in kept:
        return f"node.saved = {as_tuple(values)}\n"
    if kept.count(NO) < len(kept):
        return f"if keeps:\n    node.saved = {as_tuple(values)}\nelse:\n    node.saved = [{', '.join(values)}]\n"
    if values.count("None") < len(values):
        return f"node.saved = [{', '.join(values)}]\n"
    # Rules that do not run may still be spelled out: what they name has a place, where there is nothing to free.
    return f"node.saved = {'nothing' if any(op.keep(2 ** len(inputs) - 1)) else '()'}\n"


def _versions(inputs: list[Input]) -> str:
    kept = [x for x in inputs if x.is_tensor and x.kept != NO]
    if not kept:
        return ""
    known = all(_is_known(x) for x in inputs)
    asked = " or ".join(f"{x.name}._vc is not None" for x in kept) if known else "keeps and versioned"
    versions = [_choice(x.kept, f"version_of({x.name})", "0") if x.is_tensor else "0" for x in inputs]
    return f"if {asked}:\n    node.versions = {as_tuple(versions)}\n"


def _numbers(inputs: list[Input]) -> str:
    """Which output of its node each input was."""
    tensors = [x for x in inputs if x.is_tensor and x.wanted != NO]
    known = all(_is_known(x) for x in inputs)
    asked = " or ".join(f"{x.name}._nr" for x in tensors) if known else "numbered"
    numbers = [_choice(x.wanted, f"{x.name}._nr", "0") for x in inputs]
    return f"if {asked}:\n    node.nrs = {as_tuple(numbers)}\n"


def _guards(outs: list[Output]) -> str:
    """A saved output is guarded by its version counter; of several outputs there is a list of guards."""
    if len(outs) == 1:
        made = f"{outs[0].name}._vc = node.out_guard = VersionCounter()\n"
        return made if outs[0].kept == YES else "" if outs[0].kept == NO else f"if {outs[0].kept}:\n    {made}"
    text = f"if {' or '.join(o.kept for o in outs)}:\n    node.out_guard = []\n"
    for o in outs:
        made = f"{o.name}._vc = counter = VersionCounter()\n"
        text += f"    if {o.kept}:\n        {made}        node.out_guard.append((counter, 0, {o.array}, 0))\n"
    return text + (
        f"node.n_out = {len(outs)}\nnode.out_meta = {as_tuple([f'({o.array}.shape, {o.array}.dtype)' for o in outs])}\n"
    )


def _is_known(x: Input) -> bool:
    return x.wanted in (YES, NO)


def _choice(condition: str, value: str, other: str = "None") -> str:
    return value if condition == YES else other if condition == NO else f"{value} if {condition} else {other}"


def as_tuple(parts: list[str]) -> str:
    """`(a, b)`, `(a,)`, `()`"""
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
