"""Operations: what one is (`Op`), how it is called, and how a call is recorded.

    sigmoid = Op("sigmoid", "x", elementwise=True, promote="float")
    sigmoid.vjp(x=lambda g, out: g * out * (1 - out))      # names `out`: only `out` is saved

NOTE [Two worlds]: a rule is called on raw arrays, or, under create_graph, on Tensors. It uses operators,
and `ops.name(...)` for everything else: `ops` is the table of kernels in one world, of operations in
the other; both take the same positional arguments (inputs first, then parameters).

NOTE [Layout]: saved values stand in one fixed order: inputs, parameters, outputs, shapes of the inputs
(`x_shape`: naming it keeps the shape and not the data); None where the rules that will run do not name
it. A rule's arguments are positions in that tuple, found once, here.

NOTE [Complex]: rules are written for the reals. For a complex result the engine conjugates the saved
values before it calls the rule, which is right for every holomorphic operation; the others (abs,
real, …) say `conj=False` and write their own.

NOTE [Half precision]: float16 and bfloat16 are computed in float32 and rounded once, forward and backward.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import config, errors
from ..events import hub
from ..kernels import registry
from . import modes, provenance
from .dtypes import HALF, INEXACT, default_float, f32, f64, result_type
from .inplace import sync
from .node import FREED, Node, next_sequence
from .saved import PACKED, Packed, check_versions, freed_error, pack, unpack_all, version_of
from .tensor import INFERENCE, Tensor, View, VersionCounter, new_object, new_tensor

ndarray = np.ndarray
asarray = np.asarray

OPS: dict[str, Op] = {}
# Local names for what the hot path touches on every call.
_inside = provenance.inside
_getframe = provenance._getframe
_places = config.PROVENANCE


class Lifted:
    """What a rule sees as `ops` in the world of Tensors: every operation, by name."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPS:
            raise AttributeError(f"no operation {name!r}")
        setattr(self, name, OPS[name].call)
        return OPS[name].call


lifted = Lifted()


class Rule:
    """A gradient rule and the names of its arguments after `g`."""

    __slots__ = ("at", "fn", "names")

    def __init__(self, fn: Callable[..., Any], names: tuple[str, ...], at: dict[str, int]) -> None:
        self.fn, self.names, self.at = fn, names, at

    def __call__(self, g: Any, values: Any, ops: Any) -> Any:
        return self.fn(g, *[ops if name == "ops" else values[self.at[name]] for name in self.names])


def spell_out(op: Op) -> Callable[[Any, Any], Any]:
    """The `apply_raw` of an operation's nodes, written out for its rules: no loop, one call per gradient.

    For mul: `return (None if e0 is None else rule0(g, saved[1]), None if e1 is None else rule1(g, saved[0]))`.
    The text is known to linecache, so a debugger steps through it like through any other function.
    """
    terms = []
    for i, rule in enumerate(op.rules):
        if rule is None:
            terms.append("None")
            continue
        arguments = ["g"] + ["raw" if name == "ops" else f"saved[{rule.at[name]}]" for name in rule.names]
        terms.append(f"None if edges[{i}] is None else rule{i}({', '.join(arguments)})")
    text = f"""def apply_raw(node, g):
    if node.fix is not None or node.versions is not None:
        return apply_general(node, g)
    if node.out_guard is not None:
        check_versions(node)
    dtype = g.dtype
    if dtype is not f32 and dtype is not f64:
        return apply_general(node, g)
    for t in node.guards:
        if t is not None and t._vc is not None:
            return apply_general(node, g)
    saved = node.saved
    if saved is FREED:
        raise freed_error(node)
    edges = node.edges
    return ({", ".join(terms)},)
"""
    filename = f"<gradient of {op.name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {f"rule{i}": rule.fn for i, rule in enumerate(op.rules) if rule is not None}
    scope |= {"f32": f32, "f64": f64, "FREED": FREED, "raw": registry.raw, "freed_error": freed_error}
    scope |= {"check_versions": check_versions, "apply_general": OpNode.apply_raw}
    exec(compile(text, filename, "exec"), scope)
    return scope["apply_raw"]  # type: ignore[no-any-return]


class Op:
    """One operation. `op.call(*inputs, *parameters)` runs and records it; `op.inplace(x, ...)` writes into x.

    inputs        names of the tensor inputs; `name?` may be None; a single `*names` takes any number
    params        names of the other arguments, in order (`defaults` fills the last ones)
    outputs       names of the outputs; `grad_outputs` the numbers of those that are differentiable
    elementwise   the hot path for one or two inputs that broadcast
    promote       None; "common": inputs are brought to their common type; "float": and integers to the default float
    view          the kernel returns a view of the first input
    moves         the kernel only moves data: no half-precision detour
    """

    def __init__(
        self,
        name: str,
        inputs: str,
        params: str = "",
        *,
        defaults: tuple[Any, ...] = (),
        outputs: str = "out",
        grad_outputs: tuple[int, ...] = (0,),
        node: str | None = None,
        elementwise: bool = False,
        broadcast: bool = False,
        promote: str | None = None,
        view: bool = False,
        multi_view: bool = False,
        moves: bool = False,
        conj: bool = True,
        differentiable: bool = True,
        saved_as: dict[str, str] | None = None,
    ) -> None:
        if name in OPS:
            raise ValueError(f"operation {name!r} is declared twice")
        self.name = name
        self.variadic = inputs.startswith("*")
        self.inputs = tuple(part.strip("*?") for part in inputs.split())
        self.params = tuple(params.split())
        self.defaults = defaults
        self.outputs = tuple(outputs.split())
        self.grad_outputs = grad_outputs
        self.elementwise, self.broadcast = elementwise, broadcast or (elementwise and len(self.inputs) > 1)
        self.promote, self.view, self.multi_view = promote, view or multi_view, multi_view
        self.moves = moves or self.view
        self.conj = conj
        self.differentiable = differentiable
        self.kernel = registry.bind(name)
        self.writes = registry.writes(self.kernel)
        self.arity = len(self.inputs) + len(self.params)
        self.layout = self.inputs + self.params + self.outputs
        self.out_positions = tuple((self.arity + i, i) for i in range(len(self.outputs)))
        self.rules: list[Rule | None] = [None] * len(self.inputs)
        self.joint: Rule | None = None
        self.uses_shapes = False
        self._keep: dict[int, tuple[bool, ...]] = {}
        self.saved_names = {"self": "x", "other": "y", "result": "out", **(saved_as or {})}
        title = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        self.node_class: type[OpNode] = type(title, (OpNode,), {"op": self, "__slots__": ()})
        self.call: Callable[..., Any] = _pick_call(self)
        OPS[name] = self

    def __repr__(self) -> str:
        return f"<operation {self.name}({', '.join(self.inputs + self.params)})>"

    # Rules ---------------------------------------------------------------------------------------

    def vjp(self, joint: Callable[..., Any] | None = None, **rules: Callable[..., Any]) -> Op:
        """Declare how gradients flow: one rule per input, or one `joint` rule that returns all of them.

        A rule's first argument is the gradient `g` (a tuple where several outputs are differentiable); the
        others are named: an input, its shape (`x_shape`), a parameter, an output, `ops`, and `needs` (which
        inputs want a gradient).
        """
        if joint is not None:
            self.joint = self._rule(joint)
        for name, fn in rules.items():
            if name not in self.inputs:
                raise ValueError(f"{self.name}: a rule for {name!r}, which is no input (inputs: {self.inputs})")
            self.rules[self.inputs.index(name)] = self._rule(fn)
        self._keep.clear()
        if self.joint is None:
            self.node_class.apply_raw = spell_out(self)  # type: ignore[method-assign]
        self.call = _pick_call(self)
        return self

    def _rule(self, fn: Callable[..., Any]) -> Rule:
        first, *names = inspect.signature(fn).parameters
        if first != "g":
            raise ValueError(f"{self.name}: a rule's first argument is g, not {first!r}")
        shapes = tuple(f"{name}_shape" for name in self.inputs)
        known = {name: i for i, name in enumerate((*self.layout, *shapes, "needs", "ops"))}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"{self.name}: a rule names {unknown}, known are {sorted(known)}")
        self.uses_shapes |= any(name in shapes for name in names)
        return Rule(fn, tuple(names), known)

    def keep(self, mask: int) -> tuple[bool, ...]:
        """Which positions of the layout to save if the inputs in `mask` require gradients."""
        found = self._keep.get(mask)
        if found is None:
            named: set[str] = set(self.joint.names) if self.joint is not None else set()
            for i, rule in enumerate(self.rules):
                if rule is not None and mask >> i & 1:
                    named.update(rule.names)
            found = self._keep[mask] = tuple(name in named for name in self.layout)
        return found

    def saved_position(self, torch_name: str) -> int | None:
        """Where PyTorch's `_saved_NAME` stands in the layout."""
        name = self.saved_names.get(torch_name, torch_name)
        return self.layout.index(name) if name in self.layout else None

    # Calling -------------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        """Arrays ready for the kernel (promoted, half precision widened), and the type to round results to."""
        arrays = [t._array if isinstance(t, Tensor) else t for t in operands]
        if self.promote is not None:
            common = result_type([a for a in arrays if a is not None])
            if self.promote == "float" and common not in INEXACT:
                common = default_float()
            compute = f32 if common in HALF else common
            arrays = [None if a is None else cast(a, compute) for a in arrays]
            return arrays, common if common in HALF else None
        if self.moves:
            return arrays, None
        half = next((a.dtype for a in arrays if a is not None and getattr(a, "dtype", None) in HALF), None)
        if half is not None:
            arrays = [a.astype(f32) if getattr(a, "dtype", None) in HALF else a for a in arrays]
        return arrays, half


def cast(value: Any, kind: Any) -> Any:
    """An array (or Python number) as an array of another type; complex to real takes the real part."""
    if not isinstance(value, ndarray):
        return asarray(value).astype(kind)
    if value.dtype == kind:
        return value
    if value.dtype.kind == "c" and np.dtype(kind).kind != "c" and kind != np.bool_:
        value = value.real
    return value.astype(kind)


def _pick_call(op: Op) -> Callable[..., Any]:
    if op.view:
        return _view_call(op)
    if op.elementwise and not op.params and not op.uses_shapes and op.joint is None and len(op.outputs) == 1:
        if len(op.inputs) == 1:
            return _unary_call(op)
        if len(op.inputs) == 2:
            return _binary_call(op)
    return _general_call(op)


# The hot path: one or two tensors of one floating type ----------------------------------------------


def _unary_call(op: Op) -> Callable[[Any], Tensor]:
    kernel, cls, differentiable = op.kernel, op.node_class, op.differentiable
    keep_x, keep_out = op.keep(1)

    def call(x: Any) -> Tensor:
        if type(x) is not Tensor and not isinstance(x, Tensor):
            raise not_a_tensor(op, 0, x)
        a = x._array
        if a.dtype is not f32 and a.dtype is not f64:
            return general_call(op, (x,))
        r = kernel(a)
        if type(r) is not ndarray:
            r = asarray(r)
        out = new_object(Tensor)
        out._array = r
        out._edge = out._grad = out._vc = out._view = out._hooks = None
        out._nr = 0
        out._rg = False
        if x._view is not None:
            sync(x)
        if x._rg and differentiable and (modes.special == 0 or modes.recording()):
            node = new_object(cls)
            node.saved = (a if keep_x else None, r if keep_out else None)
            node.guards = (x,) if keep_x else ()
            node.versions = node.fix = node.hooks = None
            if keep_x and x._vc is not None:
                node.versions = (version_of(x),)
            if keep_out:
                out._vc = counter = VersionCounter()
                node.out_guard = ((counter, 0, r),)
            else:
                node.out_guard = None
            node.edges = (x._edge or x,)
            node.nrs = (x._nr,) if x._nr else None
            node.seq = next_sequence()
            if _places:  # provenance.here(), spelled out
                frame = _getframe(1)
                code = frame.f_code
                try:
                    while _inside[code.co_filename]:
                        frame = frame.f_back
                        code = frame.f_code
                    node.place = (code, frame.f_lasti)
                except KeyError:
                    node.place = provenance.here()
            else:
                node.place = None
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                hub.recorded(node, (x,), out)
        if modes.special:
            _finish(out)
        return out

    return call


def _binary_call(op: Op) -> Callable[[Any, Any], Tensor]:
    kernel, cls, differentiable = op.kernel, op.node_class, op.differentiable
    plans = [op.keep(mask) for mask in range(4)]

    def call(x: Any, y: Any) -> Tensor:
        if type(x) is not Tensor and not isinstance(x, Tensor):
            return general_call(op, (x, y))
        a = x._array
        dtype = a.dtype
        if type(y) is Tensor or isinstance(y, Tensor):
            b = y._array
            if b.dtype is not dtype or (dtype is not f32 and dtype is not f64):
                return general_call(op, (x, y))
            ry = y._rg
            if y._view is not None:
                sync(y)
                ry = y._rg
        elif (dtype is f32 or dtype is f64) and (type(y) is float or type(y) is int):
            b = _scalar(y, dtype)
            ry = False
        else:
            return general_call(op, (x, y))
        try:
            r = kernel(a, b)
        except ValueError:
            raise broadcast_error(a.shape, b.shape) from None
        if type(r) is not ndarray:
            r = asarray(r)
        out = new_object(Tensor)
        out._array = r
        out._edge = out._grad = out._vc = out._view = out._hooks = None
        out._nr = 0
        out._rg = False
        if x._view is not None:
            sync(x)
        rx = x._rg
        if (rx or ry) and differentiable and (modes.special == 0 or modes.recording()):
            keep_x, keep_y, keep_out = plans[rx + 2 * ry]
            node = new_object(cls)
            if type(y) is float or type(y) is int:
                node.saved = (a if keep_x else None, y if keep_y else None, r if keep_out else None)
                node.guards = (x if keep_x else None,) if keep_x or keep_y else ()
                node.edges = (x._edge or x, None)
                node.nrs = (x._nr, 0) if x._nr else None
                node.versions = (version_of(x),) if keep_x and x._vc is not None else None
                node.fix = None
            else:
                node.saved = (a if keep_x else None, b if keep_y else None, r if keep_out else None)
                node.guards = (x if keep_x else None, y if keep_y else None) if keep_x or keep_y else ()
                node.edges = (x._edge or x if rx else None, y._edge or y if ry else None)
                node.nrs = (x._nr, y._nr) if x._nr or y._nr else None
                if x._vc is not None or y._vc is not None:
                    node.versions = (version_of(x if keep_x else None), version_of(y if keep_y else None))
                else:
                    node.versions = None
                node.fix = None if a.shape == b.shape else ((a.shape, dtype), (b.shape, dtype))
            node.hooks = None
            if keep_out:
                out._vc = counter = VersionCounter()
                node.out_guard = ((counter, 0, r),)
            else:
                node.out_guard = None
            node.seq = next_sequence()
            if _places:  # provenance.here(), spelled out
                frame = _getframe(1)
                code = frame.f_code
                try:
                    while _inside[code.co_filename]:
                        frame = frame.f_back
                        code = frame.f_code
                    node.place = (code, frame.f_lasti)
                except KeyError:
                    node.place = provenance.here()
            else:
                node.place = None
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                hub.recorded(node, (x, y), out)
        if modes.special:
            _finish(out)
        return out

    return call


_scalars: dict[tuple[Any, Any], Any] = {}


def _scalar(value: float, dtype: Any) -> Any:
    """A Python number as a 0-dim array (NumPy is twice as fast with one); remembered, but for signed zeros."""
    if value == 0:
        return asarray(value, dtype)
    found = _scalars.get((value, dtype))
    if found is None:
        found = asarray(value, dtype)
        if len(_scalars) < 1000 and value == value:
            _scalars[value, dtype] = found
    return found


def _finish(out: Tensor) -> None:
    """What modes away from the default add to a fresh output."""
    if modes.state.inference:
        out._vc = INFERENCE
    elif out._edge is not None:
        if modes.state.saved_hooks:
            pack(out._edge, (out,))
        if modes.state.anomaly:
            remember_stack(out._edge)


def remember_stack(node: Node) -> None:
    """In anomaly mode a node keeps the whole traceback of its birth."""
    import traceback

    frames = [f for f in traceback.extract_stack() if not _inside.get(f.filename, False)]
    node.metadata["traceback_"] = traceback.format_list(frames)


# The general path ----------------------------------------------------------------------------------


def _general_call(op: Op) -> Callable[..., Any]:
    if op.variadic:

        def call_many(tensors: Any, *params: Any) -> Any:
            return general_call(op, (*tensors, *params), len(tensors))

        return call_many

    def call(*args: Any) -> Any:
        return general_call(op, args)

    return call


def general_call(op: Op, args: tuple[Any, ...], n_in: int | None = None) -> Any:
    """Run an operation on any inputs and record it: promotion, optional and variadic inputs, several outputs."""
    if n_in is None:
        n_in = len(op.inputs)
        if len(args) < op.arity:
            missing = op.arity - len(args)
            args += op.defaults[len(op.defaults) - missing :]
    inputs, params = args[:n_in], args[n_in:]
    for position, value in enumerate(inputs):
        if value is not None and not isinstance(value, (Tensor, int, float, complex, np.generic)):
            raise not_a_tensor(op, position, value)
    arrays, half = op.raw_operands(list(inputs))
    try:
        result = op.kernel(arrays, *params) if op.variadic else op.kernel(*arrays, *params)
    except ValueError as error:
        if op.broadcast and "broadcast" in str(error):
            raise broadcast_error(*[np.shape(a) for a in arrays if a is not None]) from None
        raise
    results = result if type(result) is tuple or type(result) is list else (result,)
    outs = tuple(new_tensor(_rounded(r, half)) for r in results)
    if op.differentiable and (modes.special == 0 or modes.recording()):
        record(op, inputs, params, outs)
    if modes.special:
        if modes.state.inference:
            for out in outs:
                out._vc = INFERENCE
        elif outs and outs[0]._edge is not None:
            _finish_node(outs[0]._edge, outs)
    return outs[0] if len(op.outputs) == 1 and type(result) is not list else outs


def _finish_node(node: Node, outs: tuple[Tensor, ...]) -> None:
    if modes.state.saved_hooks:
        pack(node, outs)
    if modes.state.anomaly:
        remember_stack(node)


def _rounded(r: Any, half: Any) -> Any:
    if type(r) is not ndarray:
        r = asarray(r)
    if half is not None and r.dtype in (f32, f64):
        r = r.astype(half)
    return r


def record(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...]) -> Node | None:
    """Add a call to the graph, if any of its inputs requires a gradient."""
    mask = 0
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor):
            if t._view is not None:
                sync(t)
            if t._rg:
                mask |= 1 << i
    if not mask:
        return None
    node = make_node(op, inputs, params, outs, mask)
    for i, out in enumerate(outs):
        if i in op.grad_outputs or (len(op.outputs) == 1 and out._array.dtype in INEXACT):
            out._edge = node
            out._rg = True
            out._nr = i
    if len(outs) > 1:
        node.n_out = len(outs)
        node.out_meta = tuple((out._array.shape, out._array.dtype) for out in outs)
    if hub.recorded is not None:
        hub.recorded(node, inputs, outs[0])
    return node


def make_node(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], mask: int) -> OpNode:
    """The node of a call: what its rules name is saved, with guards on it."""
    keep = _variadic_keep(op, len(inputs)) if op.variadic else op.keep(mask)
    n_in, n_par = len(inputs), len(params)
    node = new_object(op.node_class)
    node.guards = ()
    if any(keep[:n_in]):
        node.guards = tuple([t if k and isinstance(t, Tensor) else None for t, k in zip(inputs, keep, strict=False)])
    saved = [_saved_form(t) if k else None for t, k in zip(inputs, keep, strict=False)]
    saved += [p if k else None for p, k in zip(params, keep[n_in:], strict=False)]
    guards = []
    for out, k in zip(outs, keep[n_in + n_par :], strict=False):
        saved.append(out._array if k else None)
        if k:
            counter = out._counter()
            guards.append((counter, counter.n, out._array))
    if op.uses_shapes:
        saved += [None if t is None else np.shape(t._array if isinstance(t, Tensor) else t) for t in inputs]
    node.saved = tuple(saved) if any(keep) or op.uses_shapes else ()
    node.out_guard = tuple(guards) if guards else None
    node.versions = None
    if any(t is not None and t._vc is not None for t in node.guards):
        node.versions = tuple([version_of(t) for t in node.guards])
    edges, nrs, fix, must_fix = [], [], [], False
    out_array = outs[0]._array
    for i, t in enumerate(inputs):
        if mask >> i & 1:
            edges.append(t._edge or t)
            nrs.append(t._nr)
            a = t._array
            fix.append((a.shape, a.dtype))
            must_fix |= a.dtype != out_array.dtype or a.dtype in HALF or (op.broadcast and a.shape != out_array.shape)
        else:
            edges.append(None)
            nrs.append(0)
            fix.append(None)
    node.edges = tuple(edges)
    node.nrs = tuple(nrs) if any(nrs) else None
    # A rule that meets an operand of another type may leave the gradient in a wider one.
    must_fix |= any(isinstance(t, Tensor) and t._array.dtype != out_array.dtype for t in inputs)
    node.fix = tuple(fix) if must_fix else None
    node.seq = next_sequence()
    node.place = provenance.here()
    node.hooks = None
    if hub.saved is not None:
        for t in node.guards:
            if t is not None:
                hub.saved(node, t)
    return node


def _saved_form(t: Any) -> Any:
    """The data of a tensor; a number as Python's own, which leaves the type of a gradient alone."""
    if isinstance(t, Tensor):
        return t._array
    return t.item() if isinstance(t, np.generic) else t


def _variadic_keep(op: Op, n: int) -> tuple[bool, ...]:
    named = set(op.joint.names) if op.joint is not None else set()
    return (op.inputs[0] in named,) * n + tuple(name in named for name in op.params + op.outputs)


# Views ---------------------------------------------------------------------------------------------


def _view_call(op: Op) -> Callable[..., Any]:
    kernel, arity, defaults = op.kernel, op.arity, op.defaults

    def call(x: Any, *params: Any) -> Any:
        if not isinstance(x, Tensor):
            raise not_a_tensor(op, 0, x)
        if len(params) + 1 < arity:
            params += defaults[len(defaults) - (arity - 1 - len(params)) :]
        result = kernel(x._array, *params)
        if op.multi_view:
            outs = tuple(as_view(x, r, ((op, params, i),), "multi") for i, r in enumerate(result))
        else:
            outs = (as_view(x, result, ((op, params, None),)),)
        if op.differentiable and outs and (modes.special == 0 or modes.recording()):
            node = record(op, (x,), params, outs)
            if node is not None and modes.special:
                _finish_node(node, outs)
        return outs if op.multi_view else outs[0]

    return call


def as_view(x: Tensor, array: Any, chain: tuple[Any, ...], creation: str = "normal") -> Tensor:
    """A tensor that shares `x`'s memory and version counter, and knows how it was taken from its base."""
    out = new_tensor(array)
    counter = x._vc
    if counter is None:
        counter = x._vc = VersionCounter()
    out._vc = counter
    if counter is INFERENCE:
        return out
    if modes.special:
        if modes.state.inference:
            creation = "inference"
        elif not modes.state.grad:
            creation = "no_grad"
    above = x._view
    if above is None:
        out._view = View(x, chain, counter.n, creation)
    else:
        if above.creation != "normal" and creation == "normal":
            creation = above.creation
        out._view = View(above.base, above.chain + chain, counter.n, creation)
    return out


# Nodes of operations -------------------------------------------------------------------------------


class OpNode(Node):
    """A recorded operation: runs the rules of its `op`."""

    __slots__ = ()

    def apply_raw(self, g: Any) -> Any:
        saved = self.saved
        if saved is FREED:
            raise freed_error(self)
        for t in self.guards:
            if t is not None and t._vc is not None:
                check_versions(self)
                break
        else:
            if self.out_guard is not None:
                check_versions(self)
        op = self.op
        if self.versions is PACKED:
            saved = tuple([v.unpack(self)._array if isinstance(v, Packed) else v for v in saved])
        dtype = g.dtype if type(g) is not tuple else next(x.dtype for x in g if x is not None)
        if dtype is not f32 and dtype is not f64:
            g, saved = _prepare_raw(op, dtype, g, saved)
        if op.joint is not None:
            grads = _run_joint(self, op, g, saved, registry.raw)
        else:
            grads = self._run_rules(op, g, saved, registry.raw)
        if self.fix is not None:
            grads = [r if r is None or f is None else fix_raw(r, f) for r, f in zip(grads, self.fix, strict=True)]
        return grads

    def apply_tensors(self, g: Any) -> Any:
        op = self.op
        values: Any = unpack_all(self)
        first = g if type(g) is not tuple else next(x for x in g if x is not None)
        if op.conj and first.is_complex():
            values = [v.conj() if isinstance(v, Tensor) and v.is_complex() else v for v in values]
            values = [v.conjugate() if type(v) is complex else v for v in values]
        if op.joint is not None:
            grads = _run_joint(self, op, g, tuple(values), lifted)
        else:
            grads = self._run_rules(op, g, values, lifted)
        if self.fix is not None:
            grads = [r if r is None or f is None else fix_tensor(r, f) for r, f in zip(grads, self.fix, strict=True)]
        return grads


    def _run_rules(self, op: Op, g: Any, values: Any, namespace: Any) -> list[Any]:
        return [
            None if edge is None or rule is None else rule(g, values, namespace)
            for edge, rule in zip(self.edges, op.rules, strict=True)
        ]


def _run_joint(node: Node, op: Op, g: Any, values: tuple[Any, ...], namespace: Any) -> Any:
    """A rule that gives the gradients of all inputs at once."""
    if op.variadic:
        return _run_variadic(node, op, g, values, namespace)
    assert op.joint is not None
    missing = len(op.layout) + len(op.inputs) - len(values)
    values = (*values, *(None,) * missing, tuple([e is not None for e in node.edges]))
    return op.joint(g, values, namespace)


def _run_variadic(node: Node, op: Op, g: Any, values: tuple[Any, ...], namespace: Any) -> Any:
    """A variadic operation's joint rule gets its inputs as one list under their name."""
    n = len(node.edges)
    if op.joint is None:
        raise errors.EngineError(f"{op.name} has no gradient rule")
    count = len(op.params) + len(op.outputs)
    rest = values[n : n + count] if values else (None,) * count
    known = {f"{op.inputs[0]}_shape": values[n + count :]}
    known |= {op.inputs[0]: values[:n], "ops": namespace, "needs": tuple(e is not None for e in node.edges)}
    known |= dict(zip(op.params + op.outputs, rest, strict=True))
    return op.joint.fn(g, *[known[name] for name in op.joint.names])


def _prepare_raw(op: Op, dtype: Any, g: Any, saved: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Complex: conjugate what was saved. Half: widen to float32 (see the notes above)."""
    if dtype.kind == "c":
        if op.conj:
            saved = tuple([v.conj() if isinstance(v, ndarray) and v.dtype.kind == "c" else v for v in saved])
            saved = tuple([v.conjugate() if type(v) is complex else v for v in saved])
    elif dtype in HALF and not op.moves:
        saved = tuple([v.astype(f32) if isinstance(v, ndarray) and v.dtype in HALF else v for v in saved])
        g = tuple([None if x is None else x.astype(f32) for x in g]) if type(g) is tuple else g.astype(f32)
    return g, saved


def fix_raw(g: Any, meta: tuple[tuple[int, ...], Any]) -> Any:
    """Undo broadcasting and promotion: bring a gradient to its input's shape and type."""
    shape, dtype = meta
    if g.shape != shape:
        g = unbroadcast(g, shape)
    return g if g.dtype == dtype else cast(g, dtype)


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array over the dimensions along which `shape` was broadcast to it."""
    extra = g.ndim - len(shape)
    if extra < 0:
        return np.broadcast_to(g, shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
    if axes:
        g = g.sum(axis=axes, keepdims=True)
    if extra:
        g = g.reshape(g.shape[extra:])
    return g if g.shape == shape else np.broadcast_to(g, shape)


def fix_tensor(g: Any, meta: tuple[tuple[int, ...], Any]) -> Any:
    """`fix_raw` for Tensors, recorded."""
    shape, dtype = meta
    have = g._array.shape
    if have != shape:
        extra = len(have) - len(shape)
        if extra < 0:
            g = lifted.expand(g, shape)
        else:
            axes = tuple(range(extra)) + tuple(
                i + extra for i, n in enumerate(shape) if n == 1 and have[i + extra] != 1
            )
            if axes:
                g = lifted.sum(g, axes, True)
            if extra:
                g = lifted.view(g, g._array.shape[extra:])
            if g._array.shape != shape:
                g = lifted.expand(g, shape)
    return g if g._array.dtype == dtype else lifted.cast(g, dtype)


# Messages ------------------------------------------------------------------------------------------


def broadcast_error(*shapes: tuple[int, ...]) -> errors.ShapeError:
    """Shapes that do not broadcast: the sizes and the dimension, as PyTorch says it."""
    a, b = shapes[0], shapes[-1]
    for shape in shapes[1:]:
        if _clash(a, shape) is not None:
            b = shape
            break
    ndim = max(len(a), len(b))
    dim = _clash(a, b)
    if dim is None:
        return errors.ShapeError(f"shapes {[list(s) for s in shapes]} cannot be broadcast together")
    sa, sb = a[dim - ndim], b[dim - ndim]
    return errors.ShapeError(
        f"The size of tensor a ({sa}) must match the size of tensor b ({sb}) at non-singleton dimension {dim}\n"
        f"The shapes are {list(a)} and {list(b)}; dimensions are matched from the right, and only size 1 stretches.\n"
        f"At {provenance.text(provenance.here())}"
    )


def _clash(a: tuple[int, ...], b: tuple[int, ...]) -> int | None:
    ndim = max(len(a), len(b))
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            return ndim - i
    return None


def not_a_tensor(op: Op, position: int, value: Any) -> errors.ArgumentTypeError:
    """An argument that should have been a Tensor."""
    names = {"x": "input", "y": "other"}
    name = op.inputs[min(position, len(op.inputs) - 1)]
    return errors.ArgumentTypeError(
        f"{op.name}(): argument '{names.get(name, name)}' (position {position + 1}) must be Tensor, not {type(value).__name__}"
    )
