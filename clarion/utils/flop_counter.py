"""`torch.utils.flop_counter`: how many floating-point operations the products and convolutions of a block take.

Counted from what the engine tells (`clarion/events.py`): operations as they run, and their nodes as they run backward.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from .._ops import OpOverloadPacket, in_atens_order, ops, overload_of
from ..absent import rest
from ..core import modes
from ..core.provenance import warn_user
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..events import subscribe
from ..pytree import tree_map

# operation: its name in PyTorch, that of its backward pass, and which two inputs are multiplied
_PRODUCTS = {
    "mm": ("mm", "mm", (0, 1)),
    "fold_mm": ("mm", "mm", (0, 1)),
    "mm_nt": ("mm", "mm", (0, 1)),
    "fold_nt": ("mm", "mm", (0, 1)),
    "matmul_nt": ("bmm", "bmm", (0, 1)),
    "linear": ("mm", "mm", (0, 1)),
    "linear_rows": ("mm", "mm", (0, 1)),
    "addmm": ("addmm", "mm", (1, 2)),
    "bmm": ("bmm", "bmm", (0, 1)),
    "matmul": ("bmm", "bmm", (0, 1)),
    "contract": ("bmm", "bmm", (0, 1)),
    "baddbmm": ("baddbmm", "bmm", (1, 2)),
    "convolution": ("convolution", "convolution_backward", (0, 1)),
}
_SUFFIXES = ("", "K", "M", "B", "T")


class _Cost(NamedTuple):
    """What one product and the gradients of its factors cost, and under which names it is counted."""

    name: str
    backward: str
    factors: tuple[int, int]
    count: int
    gradients: tuple[int, int]


def _cost(op: Any, inputs: Any, params: Any, output: Any) -> _Cost | None:
    """Of an operation that has run; None of those that are not counted (products with vectors are not)."""
    known = _PRODUCTS.get(op.name)
    if known is None:
        return None
    name, backward, factors = known
    first, second = (inputs[i].shape for i in factors)
    if op.name == "convolution":
        spatial, other = (first, output.shape) if params[3] else (output.shape, first)
        count = 2 * first[0] * prod(spatial[2:]) * prod(second)
        weight = (
            2 * other[1] * prod(second[2:]) * prod(spatial)
        )  # as PyTorch counts it: of groups each with all channels
        return _Cost(name, backward, factors, count, (count, weight))
    if op.name == "contract":
        sizes = dict(zip(params[0], first, strict=True)) | dict(zip(params[1], second, strict=True))
        count = 2 * prod(sizes.values())
        return _Cost(name, backward, factors, count, (count, count))
    if len(first) < 2 or len(second) < 2:
        return None
    if op.name.startswith("linear") and len(inputs) > 2 and inputs[2] is not None:
        name = "addmm"
    count = 2 * prod(output.shape) * first[-1]
    return _Cost(name, backward, factors, count, (count, count))


# Formulas of programs: operation -> the count of a call, `formula(*args, out_val=result)`.
flop_registry: dict[Any, Callable[..., int]] = {}


def _of_shapes(formula: Callable[..., int]) -> Callable[..., int]:
    """A formula that is given the shapes of tensors, as one that is given the tensors."""

    def shape(value: Any) -> Any:
        return value.shape if isinstance(value, Tensor) else value

    @functools.wraps(formula)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        given, named, out = tree_map(shape, (args, kwargs, out_val))
        return formula(*given, out_shape=out, **named)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Any], Any]:
    """Let all counters count calls of these operations by a formula of the program's, of shapes or (`get_raw`) of tensors."""

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        taken = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, list | tuple) else (targets,):
            if not isinstance(target, OpOverloadPacket):
                raise ArgumentValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), "
                    f"JitFunction, or HigherOrderOperator, got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise EngineError(f"duplicate registrations for {target}")
            flop_registry[target] = taken
        return taken

    return register


class FlopCounterMode:
    """Counts inside its block, per module and operation; on leaving, the table is printed (it needs `tabulate`)."""

    def __init__(self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: Any = None) -> None:
        if mods is not None:
            warn_user("mods argument is not needed anymore, you can stop passing it")
        self._formulas = flop_registry | {
            packet: formula if getattr(formula, "_get_raw", False) else _of_shapes(formula)
            for packet, formula in (custom_mapping or {}).items()
        }
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self._names: dict[int, tuple[str, Any]] = {}  # by identity, with the module, so that it stays what it is
        self._inside: list[str] = []
        self._costs: dict[int, tuple[Any, _Cost, frozenset[str]]] = {}  # of recorded nodes, by identity
        self._last: tuple[Any, Any] | None = None  # the node that was recorded last, and its inputs
        self._stops: list[Any] = []

    def get_total_flops(self) -> int:
        """Of everything."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """`{module: {operation: count}}`; "Global" is everything."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        heard = {
            "recorded": self._recorded,
            "applied": self._applied,
            "declared": self._declared,
            "ran": self._ran,
            "module_entered": self._entered,
            "module_left": self._left,
        }
        self._stops = [subscribe(event, handler) for event, handler in heard.items()]
        modes.watch(True, f"flops {id(self)}")
        return self

    def __exit__(self, *error: object) -> None:
        modes.watch(False, f"flops {id(self)}")
        for stop in self._stops:
            stop()
        self._names.clear()
        self._costs.clear()
        self._inside.clear()
        self._last = None
        if self.display:
            print(self.get_table(self.depth))

    # What is heard -----------------------------------------------------------------------------------

    def _recorded(self, node: Any, inputs: Any, output: Any) -> None:
        self._last = node, inputs

    def _applied(self, op: Any, inputs: Any, params: Any, outputs: Any) -> None:
        packet = overload_of(op.name, tuple(inputs)).overloadpacket if self._formulas else None
        if packet in self._formulas:
            args = in_atens_order(op.name, (*inputs, *params))
            self._count(packet, self._formulas[packet](*args, out_val=outputs[0]))
            return
        cost = _cost(op, inputs, params, outputs[0])
        if cost is None:
            return
        modules = frozenset(("Global", *self._inside))
        self._add(cost.name, cost.count, modules)
        node = outputs[0]._edge
        if node is not None and self._last is not None and node is self._last[0]:
            self._costs[id(node)] = node, cost, modules

    def _declared(self, name: str, args: Any, kwargs: Any, output: Any) -> None:
        packet = next((each for each in self._formulas if each._qualified_op_name == name), None)
        if packet is not None:
            self._count(packet, self._formulas[packet](*args, **kwargs, out_val=output))

    def _count(self, packet: Any, count: int) -> None:
        for module in frozenset(("Global", *self._inside)):
            self.flop_counts[module][packet] += count

    def _ran(self, node: Any, gradient: Any, result: Any) -> None:
        known = self._costs.get(id(node))
        if known is not None:
            _, cost, modules = known
            count = sum(n for i, n in zip(cost.factors, cost.gradients, strict=True) if result[i] is not None)
            self._add(cost.backward, count, modules)

    def _add(self, name: str, count: int, modules: frozenset[str]) -> None:
        packet = getattr(ops.aten, name)
        for module in modules if count else ():
            self.flop_counts[module][packet] += count

    def _entered(self, module: Any) -> None:
        if id(module) not in self._names:
            self._name(module, type(module).__name__)
        self._inside.append(self._names[id(module)][0])

    def _name(self, module: Any, name: str) -> None:
        self._names[id(module)] = name, module
        for child_name, child in module.named_children():
            if id(child) not in self._names:
                self._name(child, f"{name}.{child_name}")

    def _left(self, module: Any, output: Any) -> None:
        name = self._names[id(module)][0] if id(module) in self._names else None
        while self._inside and self._inside.pop() != name:  # those that an exception left are gone, too
            pass

    # The table ---------------------------------------------------------------------------------------

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table: modules down to a depth, each with its operations."""
        import tabulate

        tabulate.PRESERVE_WHITESPACE = True
        depth = depth or self.depth or 999999
        total = self.get_total_flops()
        rows: list[list[str]] = []
        subsumed = False
        for module in sorted(self.flop_counts):
            level = module.count(".") + 1
            if module != "Global" and level <= depth:
                subsumed |= sum(self.flop_counts[module].values()) >= total
                rows += self._rows(module, level - 1, total)
        if "Global" in self.flop_counts and not subsumed:
            rows = self._rows("Global", 0, total) + [[" " + row[0], *row[1:]] for row in rows]
        return tabulate.tabulate(
            rows or [["Global", "0", "0%"]],
            headers=["Module", "FLOP", "% Total"],
            colalign=("left", "right", "right"),
        )

    def _rows(self, module: str, level: int, total: int) -> list[list[str]]:
        power = max(i for i in range(len(_SUFFIXES)) if i == 0 or total >= 1000**i)
        counts = self.flop_counts[module]
        named = [(module, sum(counts.values())), *((f" - {packet}", count) for packet, count in counts.items())]
        return [
            [
                " " * level + name,
                f"{count / 1000**power:.3f}{_SUFFIXES[power]}",
                f"{count / total:.2%}" if total else "0%",
            ]
            for name, count in named
        ]


__getattr__ = rest(__name__)
