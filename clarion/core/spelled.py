"""Calling operations with several inputs or several results: the call is written out for the operation and compiled.

A loop over the inputs costs twice as much as the same steps one after the other.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..events import hub
from ..kernels import registry
from . import modes
from .dtypes import f32, f64
from .general import as_scalar, general_call, misfit
from .inplace import sync
from .node import sequence
from .provenance import mark
from .record import announce, finish
from .saved import version_of
from .tensor import Tensor, new_object
from .versions import INFERENCE, VersionCounter

if TYPE_CHECKING:
    from .op import Op

Call = TypeVar("Call", bound=Callable[..., Any])


def own_code(op: Op, call: Call) -> Call:
    """Give a closure a code object of its own, and keep its variable `kernel` at the operation's kernel.

    CPython notes in the code which classes each line met, and is quick as long as they stay the same. Closures share
    their code: one operation's node class would make it forget another's.
    """
    call.__code__ = call.__code__.replace()
    if "kernel" in call.__code__.co_freevars:
        place = call.__closure__[call.__code__.co_freevars.index("kernel")]  # type: ignore[index]
        registry.follow(op.name, partial(setattr, place, "cell_contents"))
    return call


def written_at_first_call(
    op: Op, text: Callable[[], str], scope: dict[str, Any], name: str | None = None
) -> Callable[..., Any]:
    """The function `call` of a text, written and compiled when it is first called: most programs use few operations.

    The text is known to linecache, so that a debugger steps through it like through any other.
    """

    def write(*args: Any) -> Any:
        filename, lines = f"<call of {name or op.name}>", text()
        linecache.cache[filename] = (len(lines), None, lines.splitlines(keepends=True), filename)
        exec(compile(lines, filename, "exec"), scope)
        if "else large)" in lines:
            registry.follow_sizes(
                op.name, lambda small, least, large: scope.update(kernel=small, least=least, large=large)
            )
        else:
            registry.follow(op.name, partial(scope.__setitem__, "kernel"))
        written = scope["call"]
        call.__code__, call.__defaults__ = written.__code__, written.__defaults__
        return call(*args)

    scope["write"] = write
    call = FunctionType(_unwritten.__code__, scope, "call")
    call.__qualname__ = "call"
    return call


def _unwritten(*args: Any) -> Any:
    return write(*args)  # type: ignore[name-defined]  # noqa: F821  (in the scope of the text)


def scope_of(op: Op) -> dict[str, Any]:
    """What written-out calls see."""
    things = (announce, as_scalar, finished, general_call, mark, misfit, sync, version_of)
    return {thing.__name__: thing for thing in things} | {
        "Tensor": Tensor,
        "VersionCounter": VersionCounter,
        "__name__": __name__,  # NumPy's warnings come from clarion: see kernels/quiet.py
        "cls": op.node_class,
        "f32": f32,
        "f64": f64,
        "hub": hub,
        "modes": modes,
        "ndarray": np.ndarray,
        "new_object": new_object,
        "op": op,
        "sequence": sequence,
    }


def spelled_call(op: Op) -> Callable[..., Any]:
    """The call of an operation of several inputs or several results."""
    scope = scope_of(op) | {"defaults": op.defaults, "kept": _kept(op)}
    return written_at_first_call(op, lambda: _text(op), scope)


# One input: an array of the floating type that all inputs share, an index or a mask, a number, or nothing.
_INPUT = """    if type(t{i}) is Tensor or isinstance(t{i}, Tensor):
        a{i} = t{i}._array
        dtype = a{i}.dtype
        if dtype is f32 or dtype is f64:
            if floating is None:
                floating = dtype
            elif dtype is not floating:
                return general_call(op, ({args},))
        elif {other}:
            return general_call(op, ({args},))
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
    elif floating is not None and (type(t{i}) is float or type(t{i}) is int):
        a{i} = as_scalar(t{i}, floating)
        g{i} = False
    else:
        return general_call(op, ({args},))
"""

_OUTPUT = """    if type(r{o}) is not ndarray:
        r{o} = r{o}[...]
    out{o} = new_object(Tensor)
    out{o}._array = r{o}
    out{o}._edge = out{o}._vc = out{o}._view = None
    out{o}._nr = 0
    out{o}._rg = False
"""

_NODE = """    if ({wanted}) and (modes.special == 0 or modes.recording()):
        mask = {mask}
        {keeps} = kept(mask)
        node = cls()
        if keeps:
            node.saved = ({saved},)
            node.versions = ({versions},) if versioned else None
        else:
            node.saved = [{saved}]
            node.versions = None
        node.edges = ({edges},)
        node.nrs = ({nrs},) if numbered else None
        node.fix = ({fix},) if r0.dtype is not floating{stretched} else None
        node.out_guard = node.hooks = None
        node.seq = next(sequence)
        mark(node)
"""

# A saved output is guarded by its version counter; of several outputs there is a list of guards.
_GUARD = """        if ko0:
            out0._vc = node.out_guard = VersionCounter()
"""
_GUARDS = """        if {any_output}:
            node.out_guard = [(o._counter(), 0, o._array, 0) for o, k in (({pairs},)) if k]
"""


def _text(op: Op) -> str:
    n_in, n_out = len(op.inputs), len(op.outputs)
    inputs = [f"t{i}" for i in range(n_in)]
    params = [f"p{i}" for i in range(len(op.params))]
    outs = [f"out{o}" for o in range(n_out)]
    args = inputs + params
    first_default = len(args) - len(op.defaults)
    signature = [name if i < first_default else f"{name}=defaults[{i - first_default}]" for i, name in enumerate(args)]
    # An operation that promotes takes masks and indices to the general way.
    other = "True" if op.promote is not None else "dtype.kind not in 'biu'"
    text = f"def call({', '.join(signature)}):\n    floating = None\n    versioned = numbered = False\n"
    for i in range(n_in):
        text += _INPUT.format(i=i, args=", ".join(args), other=other)
    arrays = ", ".join(f"a{i}" for i in range(n_in))
    results = ", ".join(f"r{o}" for o in range(n_out))
    text += "    if floating is None:\n"  # the type of a result of integers and masks alone is not known here
    text += f"        return general_call(op, ({', '.join(args)},))\n"
    text += f"    try:\n        {results} = kernel({', '.join([f'a{i}' for i in range(n_in)] + params)})\n"
    text += f"    except ValueError as error:\n        raise misfit(op, [{arrays}], error) from None\n"
    for o in range(n_out):
        text += _OUTPUT.format(o=o)
    wanted = " or ".join(f"g{i}" for i in range(n_in))
    text += _recorded(op, inputs, params, outs, wanted) if op.differentiable else _left(inputs, wanted)
    text += "    if modes.special:\n"
    text += (
        f"        finished(op, ({', '.join(inputs)},), ({''.join(p + ', ' for p in params)}), ({', '.join(outs)},))\n"
    )
    return text + f"    return {outs[0] if n_out == 1 else ', '.join(outs)}\n"


def _recorded(op: Op, inputs: list[str], params: list[str], outs: list[str], wanted: str) -> str:
    """The part that makes the node."""
    n_in, n_out = len(inputs), len(outs)
    numbers, places = range(n_in), range(n_out)
    saved = [f"t{i} if k{i} else None" for i in numbers] + params + [f"r{o} if ko{o} else None" for o in places]
    if op.uses_shapes:
        saved += [f"None if a{i} is None else a{i}.shape" for i in numbers]
    stretched = [f"(a{i} is not None and a{i}.shape != r0.shape)" for i in numbers] if op.broadcast else []
    text = _NODE.format(
        wanted=wanted,
        mask=" | ".join(f"({1 << i} if g{i} else 0)" for i in numbers),
        keeps=", ".join([f"k{i}" for i in numbers] + [f"ko{o}" for o in places] + ["keeps"]),
        saved=", ".join(saved),
        versions=", ".join(f"version_of(t{i}) if k{i} else 0" for i in numbers),
        edges=", ".join(f"t{i}._edge or t{i} if g{i} else None" for i in numbers),
        nrs=", ".join(f"t{i}._nr if g{i} else 0" for i in numbers),
        fix=", ".join(f"(a{i}.shape, a{i}.dtype) if g{i} else None" for i in numbers),
        stretched="".join(f" or {each}" for each in stretched),
    )
    if n_out == 1:
        text += _GUARD
    else:
        any_output = " or ".join(f"ko{o}" for o in places)
        text += _GUARDS.format(any_output=any_output, pairs=", ".join(f"(out{o}, ko{o})" for o in places))
        text += f"        node.n_out = {n_out}\n"
        text += f"        node.out_meta = ({', '.join(f'(r{o}.shape, r{o}.dtype)' for o in places)},)\n"
    for o in places:
        if o in op.grad_outputs:
            text += f"        out{o}._edge = node\n        out{o}._rg = True\n"
            text += f"        out{o}._nr = {o}\n" if o else ""
    text += f"        if hub.recorded is not None:\n            announce(node, ({', '.join(inputs)},), out0)\n"
    return text


def _left(inputs: list[str], wanted: str) -> str:
    """The part of an operation without gradient: whoever listens hears that a history ends here."""
    return (
        f"    if hub.left is not None and ({wanted}):\n"
        f"        for t in ({', '.join(inputs)},):\n"
        "            if isinstance(t, Tensor) and t._rg:\n"
        "                hub.left(t, op.name)\n"
    )


def _kept(op: Op) -> Callable[[int], tuple[bool, ...]]:
    """For a mask of inputs that require gradients: is each input kept, each output, any of them?"""
    known: dict[int, tuple[bool, ...]] = {}
    n_in = len(op.inputs)

    def kept(mask: int) -> tuple[bool, ...]:
        found = known.get(mask)
        if found is None:
            keep = op.keep(mask)
            named = keep[:n_in] + keep[op.arity :]
            found = known[mask] = (*named, any(named))
        return found

    return kept


def finished(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...]) -> None:
    """What modes away from the default add to fresh outputs."""
    if modes.dual is not None:
        modes.dual.derive(op, inputs, params, outs)
    if modes.state.inference:
        for out in outs:
            out._vc = INFERENCE
    else:
        for out in outs:
            if out._edge is not None:
                finish(out._edge, outs)
                break
    if hub.applied is not None:
        hub.applied(op, inputs, params, outs)
