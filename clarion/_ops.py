"""`torch.ops`: operations by namespace, name and overload: `torch.ops.aten.add.Tensor`, `torch.ops.mylib.twice`.

`aten`'s are clarion's own functions. Other namespaces hold what programs declare with `torch.library`.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, Self

from .absent import pytorch_names, refusal
from .core import below, overriding
from .core.modes import no_grad
from .core.tensor import Tensor
from .errors import EngineError
from .ops.faces.api import FUNCTIONS, METHODS, NN_FUNCTIONAL
from .ops.faces.aten import FORMS

# Declared operations: "namespace::name" -> what runs it.
DECLARED: dict[str, Callable[..., Any]] = {}


# Operations of ATen whose function has another name here.
_RENAMED = {
    "_local_scalar_dense": "item", "_to_copy": "to", "alias": "detach", "_unsafe_view": "reshape", "sym_size": "size",
    "sym_numel": "numel",
}  # fmt: skip


def _aten(name: str) -> Callable[..., Any] | None:
    """The function behind an operation of ATen. Names of linear algebra and the like drop their prefix here."""
    name = _RENAMED.get(name, name)
    if name in FORMS:
        return FORMS[name]
    for table in (FUNCTIONS, METHODS, NN_FUNCTIONAL):
        if name in table:
            return table[name]  # type: ignore[no-any-return]
    for prefix, module in (("linalg_", "linalg"), ("special_", "special"), ("fft_", "fft")):
        if name.startswith(prefix):
            import clarion

            return getattr(getattr(clarion, module), name.removeprefix(prefix), None)
    method = getattr(Tensor, name, None)
    if callable(method):
        return method  # type: ignore[no-any-return]
    return refusal(f"torch.ops.aten.{name}") if name in pytorch_names()["torch.ops.aten"] else None


class _Running(threading.local):
    """The operation that a dispatch mode is asked about, and how it is done: its arguments are those of a kernel."""

    overload: OpOverload | None = None
    run: Callable[..., Any] | None = None


RUNNING = _Running()


def modes_ask() -> bool:
    """Is a mode entered that sees operations below the graph?"""
    watchers = below.state.watchers
    return bool(watchers) and hasattr(getattr(watchers[-1], "__self__", None), "__torch_dispatch__")


def ask_mode(overload: OpOverload, classes: Any, args: Any, kwargs: Any, onward: Callable[..., Any]) -> Any:
    """Give an operation to the innermost mode; its call of the operation goes `onward`, where the mode sees nothing."""
    watchers, before = below.state.watchers, (RUNNING.overload, RUNNING.run)
    below.state.watchers, RUNNING.overload, RUNNING.run = watchers[:-1], overload, onward
    try:
        with no_grad(), overriding.Disabled():
            return watchers[-1].__self__.__torch_dispatch__(overload, tuple(classes), args, kwargs)  # type: ignore[attr-defined]
    finally:
        below.state.watchers, (RUNNING.overload, RUNNING.run) = watchers, before


def _takers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    return overriding.takers((*args, *kwargs.values())) if overriding.state.enabled else []


class _Unique:
    """There is one of each, which stands for itself wherever it is copied to."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class OpOverload(_Unique):
    """One form of an operation: `torch.ops.aten.add.Tensor`."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self._overloadpacket = packet
        self._overloadname = overload
        self.__name__ = f"{packet.__name__}.{overload}"
        self.namespace = packet._qualified_op_name.partition("::")[0]

    def name(self) -> str:
        """Its full name: `aten::add.Tensor`."""
        name = self._overloadpacket._qualified_op_name
        return name if self._overloadname == "default" else f"{name}.{self._overloadname}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operation in all its forms."""
        return self._overloadpacket

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.run is not None and RUNNING.overload is self:
            return RUNNING.run(args, kwargs)
        if overriding._below and overriding.wants((*args, *kwargs.values())):
            return overriding.dispatch(self, _takers(args, kwargs), args, kwargs)
        if "out" in kwargs and self.namespace == "aten" and not self._overloadname.endswith("out"):
            raise EngineError(
                f"Unknown keyword argument 'out' for operator '{self._overloadpacket._qualified_op_name}': its form "
                f"{self._overloadname!r} makes its result."
            )
        return self._overloadpacket._run(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._overloadpacket._qualified_op_name.replace('::', '.')}', overload='{self._overloadname}')>"


class OpOverloadPacket(_Unique):
    """An operation in all its forms: `torch.ops.aten.add`. Calling it takes the one that fits."""

    def __init__(self, qualified: str, run: Callable[..., Any]) -> None:
        self._qualified_op_name = qualified
        self.__name__ = qualified.rpartition("::")[2]
        self._run = run

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        found = OpOverload(self, overload)
        setattr(self, overload, found)
        return found

    def overloads(self) -> list[str]:
        """The forms that were asked for; all do the same."""
        return [name for name, value in vars(self).items() if isinstance(value, OpOverload)] or ["default"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if overriding._below and overriding.wants((*args, *kwargs.values())):
            return overriding.dispatch(self, _takers(args, kwargs), args, kwargs)
        return self._run(*args, **kwargs)

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"


class _OpNamespace(types.ModuleType):
    """`torch.ops.name`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self._name = name
        self._packets: dict[str, OpOverloadPacket] = {}  # of declared operations, which may be declared anew

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in FORMS:
            raise AttributeError(name)
        qualified = f"{self._name}::{name}"
        run = DECLARED.get(qualified) or (_aten(name) if self._name == "aten" else None)
        if run is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        found = self._packets.get(name)
        if found is None or found._run is not run:
            found = OpOverloadPacket(qualified, run)
        if self._name == "aten":
            setattr(self, name, found)
        else:
            self._packets[name] = found
        return found

    def __contains__(self, name: str) -> bool:
        return hasattr(self, name)


class _Ops(types.ModuleType):
    """`torch.ops`."""

    __path__: list[str] = []

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _OpNamespace(name)
        setattr(self, name, found)
        return found

    def load_library(self, path: Any) -> None:
        """Refused: such a library is compiled against PyTorch's own."""
        raise OSError(f"Could not load this library: {path}: it is compiled against PyTorch's own library")

    def import_module(self, module: str) -> None:
        """Import a Python module that declares operations."""
        import importlib

        importlib.import_module(module)


ops = _Ops()


# The overload of ATen that stands for an operation here, where the name alone does not say it.
_OVERLOADS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "remainder", "fmod", "bitwise_and", "bitwise_or", "bitwise_xor", "slice"), "Tensor"),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), "Tensor"),
    **dict.fromkeys(("transpose", "select"), "int"),
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), "correction"),
    "mean": "dim", "prod": "dim_int", "sum": "dim_IntList", "where": "self", "pow": "Tensor_Tensor", "lerp": "Scalar",
    "masked_fill": "Scalar", "split": "Tensor", "unbind": "int", "any": "dim", "all": "dim",
}  # fmt: skip
_ATEN = {
    "add_scaled": "add.Tensor", "sub_scaled": "sub.Tensor", "rsub": "rsub.Scalar", "sum_all": "sum.default",
    "mean_all": "mean.default", "prod_all": "prod.default", "pow_scalar": "pow.Tensor_Scalar", "pow_base": "pow.Scalar",
    "softmax": "_softmax.default", "log_softmax": "_log_softmax.default", "max_dim": "max.dim", "min_dim": "min.dim",
    "max_all": "max.default", "min_all": "min.default", "median_dim": "median.dim", "nanmedian_dim": "nanmedian.dim",
    "masked_fill_tensor": "masked_fill.Tensor",
    "lerp_tensor": "lerp.Tensor", "linear_rows": "addmm.default", "convolution": "convolution.default",
    "batch_norm": "native_batch_norm.default", "layer_norm": "native_layer_norm.default",
    "group_norm": "native_group_norm.default", "max_pool2d": "max_pool2d_with_indices.default",
    "max_pool3d": "max_pool3d_with_indices.default", "nll_loss": "nll_loss_forward.default", "cast": "_to_copy.default",
    "squeeze_dim": "squeeze.dim", "squeeze_dims": "squeeze.dims", "div_mode": "div.Tensor_mode", "copy": "copy_.default",
    **dict.fromkeys(("fill", "fill_scalar_into"), "fill_.Scalar"), **dict.fromkeys(("fill_tensor", "fill_tensor_into"), "fill_.Tensor"),
    "vector_norm": "linalg_vector_norm.default", "adaptive_avg_pool2d": "_adaptive_avg_pool2d.default",
    **dict.fromkeys(("mm", "fold_mm", "mm_nt", "fold_nt", "fold_tn"), "mm.default"),
    **dict.fromkeys(("bmm", "matmul", "matmul_nt", "matmul_tn"), "bmm.default"),
    **dict.fromkeys(("index1", "index2", "index3", "index_mask"), "index.Tensor"),
    **dict.fromkeys(("index_put1", "index_put2", "index_put3", "index_put_mask"), "index_put.default"),
    "index_fill": "index_fill.int_Scalar", "index_fill_tensor": "index_fill.int_Tensor", "scatter": "scatter.src",
    "scatter_value": "scatter.value",
}  # fmt: skip

# Where ATen has the dimension before an index: which of our arguments stands at each of its places.
_ORDER = {
    **dict.fromkeys(("index_select", "gather"), (0, 2, 1)),
    **dict.fromkeys(("index_fill", "scatter_value"), (0, 2, 1, 3)),
    **dict.fromkeys(("index_add", "index_copy", "index_fill_tensor", "scatter", "scatter_add"), (0, 3, 1, 2)),
}


def in_atens_order(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an operation of clarion's, as ATen has them."""
    order = _ORDER.get(name, ())
    return (*(args[i] for i in order), *args[len(order) :])


def in_own_order(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an operation of ATen's, as clarion's operation has them."""
    order = _ORDER.get(name, ())
    return (*(args[order.index(i)] for i in range(len(order))), *args[len(order) :])


def overload_of(name: str, args: tuple[Any, ...]) -> OpOverload:
    """The operation of ATen that a kernel of clarion's stands for; one of the namespace `clarion` where there is none."""
    if name == "linear":
        full = "addmm.default" if len(args) > 2 and args[2] is not None else "mm.default"
    elif (
        _OVERLOADS.get(name) == "Tensor"
        and name in ("eq", "ne", "lt", "le", "gt", "ge")
        and not hasattr(args[1], "shape")
    ):
        full = f"{name}.Scalar"
    else:
        full = _ATEN.get(name) or f"{name}.{_OVERLOADS.get(name, 'default')}"
    packet, _, overload = full.partition(".")
    found = getattr(ops.aten, packet, None)
    if found is None:
        found = _OWN.setdefault(packet, OpOverloadPacket(f"clarion::{packet}", refusal(f"torch.ops.clarion.{packet}")))
    return getattr(found, overload)  # type: ignore[no-any-return]


_OWN: dict[str, OpOverloadPacket] = {}
