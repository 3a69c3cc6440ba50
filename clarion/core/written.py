"""Functions that are written for an operation as text, and compiled when they are first called."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..events import hub
from ..kernels import held, registry
from ..kernels.layout import rows, where_they_meet
from . import modes, provenance
from .devices import _BY_ARRAY, HALVES, ndarray
from .dtypes import HALF, f32, f64, i64
from .following import sync
from .general_call import (
    LARGEST,
    as_scalar,
    beside,
    general_call,
    meet,
    misfit,
    numbers32,
    numbers64,
    plain_number,
    whole_numbers,
)
from .messages import broadcast_error, not_a_tensor, out_of_memory
from .namespace import OPS
from .node import Mixed, sequence
from .op_node import OpNode, cast
from .overriding import own_form, set_code
from .provenance import mark
from .recording import announce, finished
from .saved import version_of
from .tensor import Tensor, new_object, new_tensor
from .versions import INFERENCE, VersionCounter, View
from .views import as_view, plain_view

if TYPE_CHECKING:
    from .op import Op


def _prototype() -> Tensor:
    """What a tensor is before it has an array."""
    tensor = new_tensor(None)
    del tensor._array
    return tensor


def _of_base() -> View:
    view = new_object(View)
    view.creation = "normal"
    return view


held.hold(_prototype(), "_array", ("_view", "_rg"))  # kernels may take and give tensors
held.hold_views(
    _of_base(), VersionCounter(), INFERENCE, ("_vc", "_view"), ("base", "chain", "creation", "version"), "n", plain_view
)


def _described(name: str) -> tuple[Op, OpNode, bool]:
    """The operation of a kernel that gives views, the node that records it before it is filled, and whether it keeps the shape."""
    op = OPS[name]
    node = op.node_class()
    node.hooks = node.nrs = node.versions = node.out_guard = node.fix = None
    node.saved = ()
    return op, node, op.uses_shapes


held.Histories.described, held.Histories.sequence = staticmethod(_described), sequence
held.Histories.quietly = "no_grad"
held.Histories.names = ("edges", "saved", "nrs", "seq", "code", "lasti")
held.Histories.held, held.Histories.mark, held.Histories.frame = ("_edge", "_nr", "_rg"), mark, provenance._getframe
held.Histories.hub, held.Histories.listener, held.Histories.of_writes = hub, "recorded", ("will_write", "wrote")
held.Histories.here, held.Histories.counted = provenance.here, ("place", "shadow_of")


def written_at_first_call(
    op: Op, text: Callable[..., str], scope: dict[str, Any], name: str | None = None, quick_form: str = ""
) -> Callable[..., Any]:
    """The function `call` of a text, written and compiled when it is first called: most programs use few operations.

    The text is known to linecache, so that a debugger steps through it like through any other. Each has a code object of
    its own: CPython notes there which classes every line met, and is quick as long as they stay the same.

    `quick_form`: there is another text, `text(quick=True)`, for a kernel that takes tensors (NOTE [Held arrays] in kernels/held.py) and
    gives a "new" one, or writes "in place"; "any" kernel that is a builtin function gets such a form ("new or any": if it has none). It is taken as soon as the kernel is one.
    """

    form = ""  # of the text that is in place

    def write_as(wanted: str) -> None:
        nonlocal form
        filename = f"<call of {name or op.name}{', quick' if wanted == 'quick' else ''}>"
        lines = text(quick=True) if wanted == "quick" else text()
        linecache.cache[filename] = (len(lines), None, lines.splitlines(keepends=True), filename)
        exec(compile(lines, filename, "exec"), scope)
        written = scope["call"]
        call.__defaults__, call.__kwdefaults__ = written.__defaults__, written.__kwdefaults__
        set_code(call, written.__code__)
        form = wanted

    def use(kernel: Callable[..., Any]) -> None:
        # What a text uses is there before the text: other threads may be calling. (A quick kernel that is not used any more stays for those.)
        scope["kernel"] = kernel
        quick = held.form_of(kernel, quick_form == "in place") if quick_form not in ("", "any") else None
        if quick is None and quick_form.endswith("any"):
            quick = held.around(kernel, len(op.inputs), _asked(op))
        if quick is not None:
            scope["quick"], scope["quiet"] = quick, held.form_of(kernel, held.UNRECORDED)
        wanted = "plain" if quick is None else "quick"
        if wanted != form:
            write_as(wanted)

    def prepare() -> None:
        registry.follow(op.name, use)

    def write(*args: Any, **kwargs: Any) -> Any:
        prepare()
        return call(*args, **kwargs)

    scope["prepare"], scope["write"] = prepare, write
    call = FunctionType(_unwritten.__code__, scope, "call")
    call.__qualname__ = "call"
    return call


def _asked(op: Op) -> int:
    """What a form of any kernel is asked for: see several_text.py."""
    masks = held.TAKES_MASKS if op.promote is None else 0
    same_type = held.KEEPS_TYPE if op.differentiable else 0
    rows = held.IN_ROWS if op.pointwise or op.reduces else 0
    return masks | same_type | rows | (held.ONE_SHAPE if op.broadcast else 0)


def _unwritten(*args: Any, **kwargs: Any) -> Any:
    return write(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821  (in the scope of the text)


def write_now(function: Any) -> None:
    """Have a function written that was not called yet: whoever gives it other code must not have it replaced then."""
    if own_form(function).__code__ is _unwritten.__code__:
        function.__globals__["prepare"]()


_SHARED = (
    announce, as_scalar, as_view, beside, broadcast_error, cast, finished, general_call, mark, meet, misfit, not_a_tensor, out_of_memory,
    plain_number, rows, sync, version_of, where_they_meet,
)  # fmt: skip


def scope_of(op: Op) -> dict[str, Any]:
    """What the texts see. `user` is the user's code that called last: mostly it is the same again."""
    return {thing.__name__: thing for thing in _SHARED} | {
        "ARRAYS": _BY_ARRAY,
        "HALF": HALF,
        "HALVES": HALVES,
        "INFERENCE": INFERENCE,
        "LARGEST": LARGEST,
        "Tensor": Tensor,
        "Mixed": Mixed,
        "VersionCounter": VersionCounter,
        "__name__": __name__,  # NumPy's warnings come from clarion: see kernels/quiet.py
        "cls": op.node_class,
        "quick_view": plain_view,
        "defaults": op.defaults,
        "f32": f32,
        "f64": f64,
        "getframe": provenance._getframe,
        "hub": hub,
        "i64": i64,
        "modes": modes,
        "ndarray": ndarray,
        "new_object": new_object,
        "nothing": [None] * len(op.layout),
        "numbers": numbers32,
        "numbers32": numbers32,
        "numbers64": numbers64,
        "op": op,
        "otherwise": general_call,
        "pair": op.pair,
        "sequence": sequence,
        "user": None,
        "whole_numbers": whole_numbers,
    }
