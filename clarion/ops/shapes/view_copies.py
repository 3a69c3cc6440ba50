"""Views as copies (`torch.view_copy`, …), parts whose writes are not watched (`unsafe_split`), and `detach` as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.constructor import view_as
from ...core.description import normalize_dim
from ...core.general_call import general_call
from ...core.namespace import OPS
from ...core.op import Op
from ...core.tensor import Tensor, created, new_tensor
from ...errors import ArgumentTypeError, EngineError
from ...kernels.layout import steps
from ..elementwise.complex import view_as_complex, view_as_real
from ..faces.api import FUNCTIONS, METHODS, method, public, with_out
from ..faces.options import tensor_argument
from .join import chunk, split, split_with_sizes, unbind
from .parts import alias_op, as_strided_copy_op, select, slice_op, striding, unfold
from .shape import expand, infer, ints, squeeze, unsqueeze, view
from .transpose import permute, t, transpose


def _copy_of(op: Op) -> Op:
    """The operation that copies what a view shows; its gradient is the view's."""
    rule = op.rules[0]
    assert rule is not None
    title = f"{op.node_class.__name__}_copy"
    return Op(f"{op.name}_copy", "x", " ".join(op.params), node=title, moves=True, traits=" ".join(op.traits)).vjp(
        x=rule.fn
    )


def _several(name: str, op: Op, title: str) -> Op:
    """The same for operations with several results: the kernel returns a list."""
    rule = op.rules[0]
    assert rule is not None
    made = Op(name, "x", " ".join(op.params), node=title, moves=True, traits=" ".join(op.traits))
    made.vjp(_joint(rule.fn, op.params))
    made.call = lambda *args: general_call(made, args)  # the quicker ways expect one result
    return made


def _joint(rule: Callable[..., Any], params: tuple[str, ...]) -> Callable[..., Any]:
    if len(params) == 1:
        return lambda g, x_shape, dim, ops: (rule(g, x_shape, dim, ops),)
    if params[0] == "size":
        return lambda g, x_shape, size, dim, ops: (rule(g, x_shape, size, dim, ops),)
    return lambda g, x_shape, sizes, dim, ops: (rule(g, x_shape, sizes, dim, ops),)


_SINGLE = (
    "view expand permute transpose t squeeze squeeze_dim squeeze_dims unsqueeze select slice unfold alias view_as_real "
    "view_as_complex"
)
_MANY = {"split": "Split", "split_with_sizes": "SplitWithSizes", "unbind": "Unbind"}

_COPIES = {name: _copy_of(OPS[name]) for name in _SINGLE.split()}
_COPIES |= {name: _several(f"{name}_copy", OPS[name], f"{title}Backward0_copy") for name, title in _MANY.items()}
_COPIES["as_strided"] = as_strided_copy_op
_UNSAFE = {
    name: _several(f"unsafe_{name}", OPS[name], f"Unsafe{_MANY[name]}Backward0")
    for name in ("split", "split_with_sizes")
}


def _instead(name: str, face: Callable[..., Any], others: dict[str, Op]) -> Callable[..., Any]:
    """A function with the arguments of a view's that runs another operation on them.

    The view is taken of the bare data: it remembers by which operation, with which parameters.
    """

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        taken = face(new_tensor(tensor_argument(name, input)._array), *args, **kwargs)
        if isinstance(taken, tuple):
            if not taken:
                return ()
            taken = taken[0]
        ((op, params, _),) = steps(taken._view.chain)
        if name == "view_as_complex_copy" and input.requires_grad and modes.recording():
            raise EngineError(f"{name} does not support automatic differentiation for outputs with complex dtype.")
        if not op.differentiable:  # the bits read as another type
            return created(taken._array.copy())
        return others[op.name].call(input, *params)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"What `{name.removesuffix('_copy').removeprefix('unsafe_')}` shows, apart from its input."
    return function


def _view_copy(input: Any, size: Any = None, *, dtype: Any = None) -> Any:
    """The elements in another shape, or their bits as another type."""
    x: Any = tensor_argument("view_copy", input)
    if dtype is not None or not isinstance(size, (int, tuple, list)):
        return created(view(new_tensor(x._array), dtype or size)._array.copy())
    return _COPIES["view"].call(x, infer(ints((size,)), x._array.size))


def _slice(x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    dim = normalize_dim(dim, x._array.ndim)
    if step <= 0:
        raise EngineError("slice step must be positive")
    begin, stop, _ = slice(start, end, step).indices(x._array.shape[dim])
    return slice_op.call(x, dim, begin, max(begin, stop), step)


def _as_strided_copy(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """A copy of a view of the memory behind `input`."""
    return as_strided_copy_op.call(input, *striding(input, size, stride, storage_offset))


FUNCTIONS["view_copy"] = with_out("view_copy", _view_copy)
FUNCTIONS["as_strided_copy"] = with_out("as_strided_copy", _as_strided_copy)
for _name, _face in {
    "expand": expand,
    "permute": permute,
    "transpose": transpose,
    "t": t,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "select": select,
    "slice": _slice,
    "unfold": unfold,
    "alias": alias_op.call,
    "view_as_complex": view_as_complex,
    "view_as_real": view_as_real,
    "split": split,
    "split_with_sizes": split_with_sizes,
    "unbind": unbind,
}.items():
    FUNCTIONS[f"{_name}_copy"] = with_out(f"{_name}_copy", _instead(f"{_name}_copy", _face, _COPIES))

for _name, _face in {"split": METHODS["split"], "split_with_sizes": split_with_sizes, "chunk": chunk}.items():
    public(f"unsafe_{_name}")(_instead(f"unsafe_{_name}", _face, _UNSAFE))


# Out of the graph ----------------------------------------------------------------------------------


@public(method=False)
def detach(input: Any) -> Tensor:
    """The same data outside the graph."""
    return tensor_argument("detach", input).detach()


@public("detach_", method=False)
def detach_(input: Any) -> Tensor:
    """Take the tensor itself out of the graph."""
    return tensor_argument("detach_", input).detach_()


@public(method=False, out=True)
def detach_copy(input: Any) -> Tensor:
    """A copy of the data outside the graph."""
    return created(tensor_argument("detach_copy", input)._array.copy())


@method("as_subclass")
def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The same data and history as a tensor of another class."""
    if not isinstance(cls, type):
        raise ArgumentTypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise ArgumentTypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
            f"Make sure your class inherits from Tensor: {cls!r} does not."
        )
    return view_as(cls, self)  # type: ignore[no-any-return]
