"""Operations: what one is (`Op`) and how it differentiates.

    sigmoid = Op("sigmoid", "x", elementwise=True, promote="float")
    sigmoid.vjp(x=lambda g, out: g * out * (1 - out))      # names `out`: only `out` is saved

How rules are run stands in rules.py: see NOTE [Two worlds].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import NotSupportedError
from ..kernels import held, registry
from . import modes
from .calls import pick_call
from .devices import kind_of
from .dtypes import EIGHT_BITS, FROM_NUMPY, HALF, INEXACT, WIDER, default_float, f32, f64, result_type
from .general_call import WIDE_NUMBERS, as_scalar
from .jvp import Forward, forward_rule
from .namespace import OPS
from .op_node import OpNode, cast
from .rules import Rule, spelled_at_first_use
from .saved import saved_attributes
from .tensor import Tensor
from .traits import known_traits


def _never(*args: Any) -> None:
    """A quick kernel that is for nothing."""


_NO_TRAITS: frozenset[str] = frozenset()


class Op:
    """One operation. `op.call(*inputs, *parameters)` runs and records it; `inplace(op, x, ...)` (inplace.py) writes into x.

    inputs        names of the tensor inputs; `name?` may be None; a single `*names` takes any number
    params        names of the other arguments, in order (`defaults` fills the last ones)
    outputs       names of the outputs; `grad_outputs` the numbers of those that are differentiable
    elementwise   element by element: one or two inputs that broadcast, on the hot path
    pointwise     the same of any number of inputs, on the general way; results lie in memory as the inputs do
    pair          two inputs on the hot path, though not element by element (products): `pair(a, b)` says of two arrays
                  of different shapes whether their gradients must be summed back
    promote       None; "common": inputs are brought to their common type; "float": and integers to the default float
    view          the kernel returns a view of the first input
    moves         the kernel only moves data: no half-precision detour
    saved_as      PyTorch's name of a saved value -> its name here; `saved_constants`: what PyTorch saves and is implied here
    traits        what the operation is, in words that others ask for (see traits.py)
    """

    looks_first = False  # no write in place without a look at the types
    mirrors = False  # a view whose memory is another's in other words: conjugates (kernels/mirrors.py)
    checks_types = False  # a subclass looks at the types of its inputs (`raw_operands`) before it runs
    write: Callable[..., Any] | None = None  # how it is written in place and recorded: see write_texts.py
    overwrites = False  # in place, nothing of the first input is left: it gets no gradient
    quick: Callable[
        ..., Any
    ]  # of a view: all of a call in one, where no mode is on; None where it is not for these arguments
    quiet: Callable[..., Any]  # the same where nothing is on but `no_grad`
    quick_write: Callable[
        ..., Any
    ]  # all of a write in one, of what has no history, where no mode is on; None where it is not for these arguments
    quick_draw: Callable[..., Any]  # of a draw: a new tensor of few numbers, from a source and sizes, or None
    refuse = ""  # NumPy's letters of the kinds of numbers that it is not defined on

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
        pair: Callable[[Any, Any], bool] | None = None,
        broadcast: bool = False,
        pointwise: bool | None = None,
        promote: str | None = None,
        view: bool = False,
        multi_view: bool = False,
        moves: bool = False,
        conj: bool = True,
        differentiable: bool = True,
        saved_as: dict[str, str] | None = None,
        saved_constants: dict[str, Any] | None = None,
        traits: str = "",
    ) -> None:
        if name in OPS:
            raise ValueError(f"operation {name!r} is declared twice")
        self.name, self.traits = name, known_traits(name, traits) if traits else _NO_TRAITS
        self.variadic = inputs.startswith("*")
        self.inputs = tuple(part.strip("*?") for part in inputs.split())
        self.optional = "?" in inputs or self.variadic  # may an input be None?
        self.params = tuple(params.split())
        self.defaults = defaults
        self.outputs = tuple(outputs.split())
        self.grad_outputs = grad_outputs
        self.elementwise, self.pair = elementwise, pair
        if elementwise:
            registry.elementwise.add(name)
        self.pointwise = elementwise and len(self.inputs) > 1 if pointwise is None else pointwise
        self.broadcast = broadcast or pair is not None or self.pointwise or (elementwise and len(self.inputs) > 1)
        self.promote, self.view, self.multi_view = promote, view or multi_view, multi_view
        self.moves = moves or self.view
        if self.moves:
            registry.moving.add(name)
        self.conj = conj
        self.differentiable = differentiable
        self.kernel: Callable[..., Any]
        self.writes: bool
        registry.follow(name, self._use)
        self.arity = len(self.inputs) + len(self.params)
        self.layout = self.inputs + self.params + self.outputs
        self.reduces = "keepdim" in self.params
        self.out_positions = tuple((self.arity + i, i) for i in range(len(self.outputs)))
        self.rules: list[Rule | None] = [None] * len(self.inputs)
        self.joint: Rule | None = None
        self.at_once: Callable[..., Any] | None = None  # `at_once(g, *inputs, edges)`: see NOTE [At once] in rules.py
        self.forward: Forward | None = None
        self.uses_shapes = False
        self._keep: dict[int, tuple[bool, ...]] = {}
        self.saved_names = {"self": "x", "other": "y", "result": "out", **(saved_as or {})}
        self.saved_constants = saved_constants or {}
        title = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        self.node_class: type[OpNode] = type(title, (OpNode,), {"op": self, "__slots__": ()})
        self.call: Callable[..., Any] = pick_call(self)
        OPS[name] = self

    def __repr__(self) -> str:
        return f"<operation {self.name}({', '.join(self.inputs + self.params)})>"

    @property
    def whole(self) -> str:
        """The kinds of booleans and whole numbers that the kernel takes as they are."""
        return "" if self.promote == "float" else "".join(kind for kind in "biu" if kind not in self.refuse)

    @property
    def mixes(self) -> bool:
        """Whether its rules are given saved whole numbers in the type it computes with: see `Mixed`. Products do without."""
        return (
            self.promote is not None
            and self.joint is None
            and not ("arithmetic" in self.traits and len(self.inputs) == 2)
        )

    def _use(self, kernel: Callable[..., Any]) -> None:
        """The kernel is another one from now on."""
        self.kernel, self.writes = kernel, registry.writes(self.name) and not self.looks_first
        if self.view or self.variadic:
            self.quick = held.form_of(kernel) or _never
            self.quiet = held.form_of(kernel, held.UNRECORDED) or _never
        self.quick_write = held.form_of(kernel, held.COUNTED) or _never
        self.quick_draw = held.form_of(kernel, held.DRAWN) or _never

    def quick_in_mode(self) -> Callable[..., Any]:
        """`quick` where a mode is on: for `no_grad` there is one, for others there is none."""
        return self.quiet if modes.unrecorded_alone() else _never

    # Rules ---------------------------------------------------------------------------------------

    def vjp(self, joint: Callable[..., Any] | None = None, **rules: Callable[..., Any]) -> Op:
        """Declare how gradients flow: one rule per input, or one `joint` rule that returns all of them.

        A rule's first argument is the gradient `g` (a tuple where several outputs are differentiable); the
        others are named: an input, its shape (`x_shape`), a parameter, an output, `ops`, `needs` (which
        inputs want a gradient), and `before` (a gradient to be added to that of the first input: NOTE [Onto] in rules.py).
        """
        if joint is not None:
            self.joint = self._rule(joint)
        for name, fn in rules.items():
            if name not in self.inputs:
                raise ValueError(f"{self.name}: a rule for {name!r}, which is no input (inputs: {self.inputs})")
            self.rules[self.inputs.index(name)] = self._rule(fn)
        self._keep.clear()
        if self.joint is None and not self.multi_view and len(self.grad_outputs) == 1:
            self.node_class.apply_raw = spelled_at_first_use(self, "raw")  # type: ignore[method-assign]
            if "fused" not in self.traits:
                self.node_class.apply_tensors = spelled_at_first_use(self, "tensors")  # type: ignore[method-assign]
        elif self.joint is not None and not self.variadic and not self.multi_view:
            self.node_class.apply_raw = spelled_at_first_use(self, "raw")  # type: ignore[method-assign]
            self.node_class.onto = "before" in self.joint.names
        self.offer_saved()
        self.call, self.write = pick_call(self), None
        return self

    def jvp(self, rule: Callable[..., Any] | str) -> Op:
        """Declare how tangents flow, where that is cheaper than what the gradient rules give (see forward.py).

        A rule's arguments are named: `dx` the tangent of the input `x` (None if it has none), the others as for
        gradients; it returns the tangent of the output. "each": the operation is linear in each of its inputs;
        "together": in all of them together.
        """
        self.forward = forward_rule(self, rule)
        return self

    def _rule(self, fn: Callable[..., Any]) -> Rule:
        code = fn.__code__  # inspect.signature would cost 0.1 s at import
        first, *names = code.co_varnames[: code.co_argcount]
        if first != "g":
            raise ValueError(f"{self.name}: a rule's first argument is g, not {first!r}")
        shapes = tuple(f"{name}_shape" for name in self.inputs)
        known = {name: i for i, name in enumerate((*self.layout, *shapes, "needs", "before", "ops"))}
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

    def offer_saved(self) -> None:
        """Give the nodes `_saved_NAME` and `_raw_saved_NAME`."""
        for name, attribute in saved_attributes(self).items():
            setattr(self.node_class, name, attribute)

    # Calling -------------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        """Arrays ready for the kernel (promoted, half precision widened), and the type to round results to."""
        plain = None if self.promote is None else _of_one_float(operands)
        if plain is not None:
            return plain, None
        arrays = [t._array if isinstance(t, Tensor) else t for t in operands]
        if self.promote is not None:
            common = result_type([a for a in arrays if a is not None])
            self._refuse_stored(common)
            if self.promote == "float" and common not in INEXACT:
                common = default_float()
            if self.elementwise and _meet_in_the_kernel(arrays):
                return arrays, None
            wide = WIDER.get(common)
            if wide is None or _takes_half(arrays):
                return [None if a is None else cast(a, common) for a in arrays], None
            if self.name not in WIDE_NUMBERS:
                arrays = [None if a is None else cast(a, common) for a in arrays]
            return [None if a is None else cast(a, wide) for a in arrays], common
        if self.moves or _takes_half(arrays):
            return arrays, None
        half = next((a.dtype for a in arrays if a is not None and getattr(a, "dtype", 0) in WIDER), None)
        self._refuse_stored(*(getattr(a, "dtype", None) for a in arrays))
        if half is not None:
            arrays = [cast(a, WIDER[a.dtype]) if getattr(a, "dtype", 0) in WIDER else a for a in arrays]
        return arrays, half

    def _refuse_stored(self, *kinds: Any) -> None:
        """Types of eight bits are for storing: PyTorch looks at them, compares them, and computes nothing."""
        for kind in kinds:
            if kind in EIGHT_BITS and self.name not in _ON_EIGHT_BITS:
                name = FROM_NUMPY[kind].old
                raise NotSupportedError(
                    f"\"{self.name}_cpu\" not implemented for '{name}'\nConvert it first: x.float()."
                )


def _meet_in_the_kernel(arrays: list[Any]) -> bool:
    """Float32 and one kind of half precision, where kernels read both as they are: nothing is cast before."""
    if not _takes_half(arrays) or not all(getattr(a, "ndim", 0) for a in arrays):
        return False
    kinds = {a.dtype for a in arrays}
    return len(kinds - {f32}) <= 1 and all(kind == f32 or kind in HALF for kind in kinds)


def _takes_half(arrays: list[Any]) -> bool:
    """Do the arrays live where kernels see to half precision themselves?"""
    return any(kind_of(a).half for a in arrays)


_ON_EIGHT_BITS = frozenset(["eq", "ne", "isclose", "isnan", "isinf", "isfinite", "abs", "any", "all", "where"])


def _of_one_float(operands: list[Any]) -> list[Any] | None:
    """The operands as arrays if all are float32 (or all float64) tensors or plain numbers: nothing to convert."""
    first = operands[0]
    if not isinstance(first, Tensor):
        return None
    dtype = first._array.dtype
    if dtype is not f32 and dtype is not f64:
        return None
    arrays: list[Any] = []
    for t in operands:
        if isinstance(t, Tensor):
            if t._array.dtype is not dtype:
                return None
            arrays.append(t._array)
        elif t is None:
            arrays.append(None)
        elif type(t) is float or type(t) is int:
            arrays.append(as_scalar(t, dtype))
        else:
            return None
    return arrays
