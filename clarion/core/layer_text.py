"""The call of a layer's operation, as text: several tensors of which a kernel makes one as they are (see call_texts.py).

Weights require gradients, and its input does or does not: for both there are lines that ask nothing.
"""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

from .call_texts import _END, _RECORDED, _head, _quick
from .node_text import NO, Input, Output, as_tuple, filling, known_inputs, known_output, recorded

if TYPE_CHECKING:
    from .op import Op

_INPUT = """if t{i}._view is not None:
    sync(t{i})
g{i} = t{i}._rg
"""


def layer(op: Op, quick: bool = False) -> str:
    """What the quick kernel is not for goes `otherwise`."""
    names = [f"t{i}" for i in range(len(op.inputs))]
    text, _ = _head(op, names)
    if quick:
        wanted = [f"g{i}" for i in range(len(names))]
        body = "".join([_INPUT.format(i=i) for i in range(len(names))])
        body += recorded(_filled(op, names, wanted), " or ".join(wanted), as_tuple(names), _RECORDED, "out")
        edges, every = "out._edge is not None", as_tuple(names)
        end = _END.format(edges=edges, inputs=every, params="()", outs="(out,)", marked="out._vc", result="out")
        text += _quick(", ".join(names), body + dedent(end))
    return text + f"    return otherwise({', '.join(names)})\n"


def _filled(op: Op, names: list[str], wanted: list[str]) -> str:
    """How the node is filled: by who requires a gradient."""
    arrays, everything = [f"{name}._array" for name in names], 2 ** len(names) - 1
    text = ""
    for mask, asked in ((everything, wanted), (everything - 1, [*wanted[1:], f"not {wanted[0]}"])):
        inputs = known_inputs(op, tuple(names), tuple(arrays), mask)
        filled = filling(op, inputs, [], known_output(op, "out", "out._array", mask), NO)
        text += f"{'elif' if text else 'if'} {' and '.join(asked)}:\n" + indent(filled, " " * 4)
    inputs = [Input(name, array, g, f"k{g}") for name, array, g in zip(names, arrays, wanted, strict=True)]
    other = f"mask = {' | '.join(f'({1 << i} if {g} else 0)' for i, g in enumerate(wanted))}\n"
    other += f"{', '.join([*[x.kept for x in inputs], 'ko', 'keeps'])} = kept[mask]\n"
    other += f"versioned = {' or '.join(f'{name}._vc is not None' for name in names)}\n"
    other += f"numbered = {' or '.join(f'{name}._nr' for name in names)}\n"
    other += filling(op, inputs, [], [Output("out", "out._array", "ko")], NO)
    return text + "else:\n" + indent(other, " " * 4)
