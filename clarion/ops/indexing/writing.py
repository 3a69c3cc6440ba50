"""Writing by index: `x[...] = v` and index_put. How an index is taken apart stands in reading.py."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.devices import HOST, as_array, ndarray, write, xp_of
from ...core.dtypes import FROM_NUMPY, HALF, NumpyNumber, b1, broadcast_shapes, f32, f64, i64, iinfo
from ...core.following import refuse_creation, sync
from ...core.general_call import LARGEST, as_scalar
from ...core.inplace import _before, inplace, rebase, refuse, refuse_history, refuse_overlap, written_out, wrote
from ...core.namespace import OPS, lifted
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...core.versions import INFERENCE, Part
from ...errors import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    DtypeError,
    EngineError,
    InplaceError,
    ShapeError,
    not_a_tensor,
)
from ...events import hub
from ...kernels.portable.indexing import reading as kernels
from ...kernels.registry import raw
from ..elementwise.cast import overflow
from ..faces.api import FUNCTIONS, METHODS, call, method, public
from .reading import (
    check_bare,
    check_mask,
    index_error,
    index_put_mask_op,
    index_tensor,
    one_view,
    parse,
    sized,
    spread_masks,
    walk,
)


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """`self[index] = value`."""
    if not (self._rg or self._view is not None or modes.special or hub.will_write is not None) and _put_quickly(
        self, index, value
    ):
        wrote(self)
        return
    source = value if isinstance(value, Tensor) else new_tensor(scalar(self, value))
    if type(index) is int or type(index) is slice:
        check_bare(self._array, index)
        items = [index]
    elif type(index) is Tensor and index._array.ndim and (index._array.dtype is b1 or index._array.dtype is i64):
        items = [index]
    else:
        items = parse(index)
    if index is False:
        return
    if self._view is not None:
        sync(self)
    if (self._rg or source.requires_grad or modes.special) and _is_followed(self, source):
        if items and not isinstance(items[0], Tensor) and _written_quickly(self, items, source):
            return
        leaf = self
        if self._rg and self._edge is None:
            # PyTorch refuses leaves here as views of themselves, unless all of it is written; and so do we.
            whole = all(item is ... or isinstance(item, Tensor) or item == slice(None) for item in items)
            leaf = self if whole else lifted.alias(self)
        try:
            refuse_history(leaf, "__setitem__")
        except InplaceError:
            _check_part(self._array, items, source._array)
            raise
        with_graph(self, items, source)
        return
    target, tensors = walk(self._array, items, raw)
    refuse_write(self, target, "index_put_" if tensors else "__setitem__")
    if tensors:
        op, indices, params, source = put_plan(target, tensors, source, False)
        _put(op, target, source, indices, params)
        wrote(self)
    else:
        given = source._array
        if given.shape != target.shape:
            given = strip(given, target)
            check_expand(given.shape, target.shape, given)
        if given.dtype.kind == "c" and target.dtype.kind not in "cbW":
            given = given.real
        if type(given) is type(target):
            target[...] = given
        else:  # a number, made on the host, into the array of another device
            write(target, given)
        wrote(self, part=target)
    if modes.special and hub.applied is not None:
        hub.applied(OPS["copy"], (self, value), (), (self,))


def _check_part(array: Any, items: list[Any], given: Any) -> None:
    """Of a write that is refused: raise if there is no such part, or the value does not fit into it. PyTorch looks at that first."""
    target, tensors = walk(array, items, raw)
    if not tensors and given.shape != target.shape:
        check_expand(strip(given, target).shape, target.shape, given)


def _put_quickly(x: Tensor, index: Any, value: Any) -> bool:
    """Write where there is nothing to record, unusual or refused: a number, or a tensor of the type and shape of a plain part; else nothing was done."""
    array, kind, counter = x._array, type(value), x._vc
    if type(array) is not ndarray or not array.ndim or 0 in array.strides:
        return False
    if counter is not None and (counter is INFERENCE or counter.shadow_of is not None):  # (whose parts are told apart)
        return False
    if kind is float or kind is int:
        floats = array.dtype is f32 or array.dtype is f64
        if floats:
            if not -1e38 < value < 1e38:
                return False
        elif array.dtype is not i64 or kind is float or not -LARGEST <= value <= LARGEST:
            return False
        where = index
        if type(index) is Tensor:  # a mask of the same shape, or numbers of rows
            where = index._array
            if floats and where.dtype is b1 and where.shape == array.shape:
                raw.masked_fill(array, where, as_scalar(value, array.dtype), out=array)
                return True
            if not floats or where.dtype is not i64 or not where.ndim:
                return False
        elif not _is_plain(index):
            return False
        try:
            array[where] = value
        except IndexError:  # which is said in PyTorch's words elsewhere
            return False
        return True
    if kind is not Tensor or value._rg or type(value._array) is not ndarray or not _is_plain(index):
        return False
    given = value._array
    if given.dtype is not array.dtype:
        return False
    try:
        part = array[index]
    except IndexError:
        return False
    if type(part) is not ndarray or part.shape != given.shape:
        return False
    part[...] = given
    return True


def _is_plain(index: Any) -> bool:
    """Is an index of whole numbers and slices of such, forwards? (Then NumPy's means the same.)"""
    for item in index if type(index) is tuple else (index,):
        if type(item) is slice:
            for each in (item.start, item.stop, item.step):
                if each is not None and type(each) is not int:
                    return False
            if item.step is not None and item.step < 1:
                return False
        elif type(item) is not int:
            return False
    return True


def _written_quickly(x: Tensor, items: list[Any], source: Tensor) -> bool:
    """Write a part of `x` that is a view in one step, recorded, where nothing is unusual or refused: else nothing was done.

    The view is nobody's: it gets no node of its own, and stands in the history where `x` does.
    """
    edge, above = x._edge, x._view
    if (
        modes.special
        or hub.will_write is not None
        or type(x) is not Tensor
        or x._vc is INFERENCE
        or (edge is None and x._rg)
    ):
        return False
    if above is not None and (above.creation != "normal" or (above.base._edge is None and above.base._rg)):
        return False
    part = one_view(x, tuple(items))
    if part is None:
        return False
    have, want = source._array.shape, part._array.shape
    if have != want and (
        len(have) > len(want) or any(n != m != 1 for n, m in zip(want[::-1], have[::-1], strict=False))
    ):
        return False
    part._edge, part._nr, part._rg = edge, x._nr, x._rg
    part._view.__class__ = Part
    inplace(OPS["copy" if have or not want else "fill_tensor_into"], part, source)
    return True


def _is_followed(x: Tensor, source: Tensor) -> bool:
    """Is a write recorded, or do tangents follow it?"""
    if modes.special == 0:
        return True
    if modes.recording() and (x._rg or source._rg):
        return True
    return modes.dual is not None and bool(modes.dual.touches((x, source)))


def refuse_write(x: Tensor, target: Any, name: str = "__setitem__") -> None:
    """Raise if the part `target` of `x` must not be written now."""
    if x._vc is INFERENCE and not modes.state.inference:
        refuse(x, "__setitem__")
    if x._view is not None or x._rg or hub.will_write is not None:
        refuse_history(x, "__setitem__")
    if 0 in target.strides:
        refuse(new_tensor(target), name)


def with_graph(self: Tensor, items: list[Any], source: Tensor) -> None:
    """`setitem` where the write has to be recorded."""
    view, tensors = walk(self, items, lifted)
    if tensors:
        put_index(view, view._array, tensors, source, False)
        return
    shape = view._array.shape
    if source._array.shape != shape:
        if source._array.ndim > len(shape):
            source = lifted.view(source, strip(source._array, view._array).shape)
        check_expand(source._array.shape, shape, source._array)
    inplace(OPS["copy" if source._array.ndim or not shape else "fill_tensor_into"], view, source)


def scalar(x: Tensor, value: Any) -> Any:
    """A Python number as an array of the type of `x`; refuses what does not fit."""
    target = x._array.dtype
    kind = type(value)
    if (kind is float or kind is int) and (target is f32 or target is f64) and -1e38 < value < 1e38:
        return as_scalar(value, target)
    if isinstance(value, NumpyNumber) and value.dtype.kind in "iu":  # (others of NumPy's are refused)
        return scalar(x, int(value))
    if not isinstance(value, (bool, int, float, complex)):
        owner = kind.__module__ + "." if kind.__module__ != "builtins" else ""
        raise ArgumentTypeError(
            f"can't assign a {owner}{kind.__name__} to a torch.{FROM_NUMPY[target].old}Tensor\n"
            "Assign a number or a Tensor: torch.tensor(value) makes one."
        )
    if target.kind == "b":
        return as_array(bool(value))
    if isinstance(value, complex) and target.kind != "c":
        raise overflow(f64 if target in HALF else target)
    if target.kind in "iu":
        if isinstance(value, float) and value - value != 0:
            raise overflow(target)
        whole = int(value)  # type: ignore[arg-type]
        limits = iinfo(target)
        if not limits.min <= value <= limits.max:  # type: ignore[operator]
            if not -(2**63) <= whole < 2**64:
                raise ArgumentValueError("Overflow when unpacking long long")
            if limits.min != 0 or not -limits.max <= whole < 0 or isinstance(value, float):
                raise overflow(target)
            whole += limits.max + 1
        return HOST.xp.asarray(whole, target)
    with HOST.xp.errstate(all="ignore"):
        array = as_array(value).astype(target)
    if target is f32 and isinstance(value, (int, float)) and HOST.xp.isinf(array) and value - value == 0:
        raise overflow(target)
    return array


def strip(given: Any, target: Any) -> Any:
    """Leading dimensions of size 1 that the target does not have do not count."""
    extra = given.ndim - target.ndim
    return given.reshape(given.shape[extra:]) if extra > 0 and given.shape[:extra] == (1,) * extra else given


def check_expand(given: tuple[int, ...], shape: tuple[int, ...], array: Any) -> None:
    """A value must broadcast to the place it is written to."""
    if len(given) > len(shape):
        raise ShapeError(
            f"expand(torch.{FROM_NUMPY[array.dtype].old}Tensor{{{list(given)}}}, size={list(shape)}): the number of "
            f"sizes provided ({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(given)})"
        )
    extra = len(shape) - len(given)
    for d in range(len(given) - 1, -1, -1):
        if given[d] != shape[d + extra] and given[d] != 1:
            raise ShapeError(
                f"The expanded size of the tensor ({shape[d + extra]}) must match the existing size ({given[d]}) at "
                f"non-singleton dimension {d + extra}.  Target sizes: {list(shape)}.  Tensor sizes: {list(given)}"
            )


def put_index(x: Tensor, target: Any, tensors: list[tuple[int, Tensor]], values: Tensor, accumulate: bool) -> None:
    """Write to the places that index tensors and masks name; `target` is the array of `x`, or a view of it."""
    op, indices, params, values = put_plan(target, tensors, values, accumulate)
    if modes.special and modes.dual is not None and modes.dual.touches((x, values)):
        modes.dual.write(op, x, (values, *indices, *params))
        return
    inputs = (x, values, *indices)
    try:
        if not modes.special and target is x._array and written_out(op, x, (*inputs[1:], *params)):
            return
    except IndexError as error:
        raise index_error(error, indices, target.shape, params[0]) from None
    recording = modes.special == 0 or modes.recording()
    if x._view is not None and recording:
        refuse(x, "index_put_")
        refuse_creation(x, any(t.requires_grad for t in inputs))
    before = _before(op, x, inputs) if recording else x
    _put(op, target, values, indices, params)
    wrote(x)
    if recording:
        rebase(op, x, (before, *inputs[1:]), params)
    if modes.special and hub.applied is not None:
        hub.applied(op, inputs, params, (x,))


def _put(op: Op, target: Any, values: Tensor, indices: list[Tensor], params: tuple[Any, ...]) -> None:
    """Write to an array."""
    arrays = [each._array for each in indices]
    try:
        if op is index_put_mask_op:
            kernels.put_mask(xp_of(target), target, values._array, *arrays, *params)
        else:
            kernels.put(xp_of(target), target, values._array, *arrays, *params)
    except IndexError as error:
        raise index_error(error, indices, target.shape, params[0]) from None


def put_plan(target: Any, tensors: list[tuple[int, Tensor]], values: Tensor, accumulate: bool) -> tuple[Any, ...]:
    """Check a write with index tensors; the operation, its index inputs, its parameters and the values in shape."""
    shape = target.shape
    if len(tensors) == 1 and tensors[0][0] == 0 and tensors[0][1]._array.dtype == b1:
        mask = tensors[0][1]
        check_mask(shape, 0, mask._array)
        result = (
            (int(xp_of(mask._array).count_nonzero(mask._array)), *shape[mask._array.ndim :])
            if values._array.ndim
            else ()
        )
        op, indices = index_put_mask_op, [mask]
        params: tuple[Any, ...] = (accumulate,)
    else:
        where, indices = spread_masks(shape, tensors)
        result = indexed_shape(shape, where, indices) if values._array.ndim else ()
        op, params = sized("index_put", len(indices)), (where, accumulate)
        if accumulate:  # plain assignment checks for itself, before it writes
            for dim, each in zip(where, indices, strict=True):
                check_range(each._array, dim, shape[dim])
    given = values._array.shape
    if not given:
        return op, indices, params, _in_type_of(target, tensors, values, accumulate)
    if len(given) > len(result) and given[: len(given) - len(result)] == (1,) * (len(given) - len(result)):
        values = lifted.view(values, given[len(given) - len(result) :])
    given = values._array.shape
    if len(given) > len(result) or any(
        n not in (1, m) for n, m in zip(given, result[len(result) - len(given) :], strict=True)
    ):
        raise ShapeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of shape "
            f"{list(result)}"
        )
    return op, indices, params, _in_type_of(target, tensors, values, accumulate)


def _in_type_of(target: Any, tensors: list[tuple[int, Tensor]], values: Tensor, accumulate: bool) -> Tensor:
    """Values in the type they are written to: numbers and what a mask spreads are converted, all else must have it."""
    if values._array.dtype is target.dtype or values._array.dtype == target.dtype:
        return values
    one_mask = len(tensors) == 1 and tensors[0][1]._array.dtype == b1 and values._array.size == 1
    if values._array.ndim and not (one_mask and not accumulate):
        raise DtypeError(
            "Index put requires the source and destination dtypes match, got "
            f"{FROM_NUMPY[target.dtype].old} for the destination and {FROM_NUMPY[values._array.dtype].old} for the source."
        )
    converted: Tensor = lifted.cast(values, target.dtype)
    return converted


def check_range(index: Any, dim: int, size: int) -> None:
    """Indices must lie in -size … size - 1."""
    if index.size and (index.min() < -size or index.max() >= size):
        wrong = int(index[(index < -size) | (index >= size)].flat[0])
        raise ArgumentIndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def indexed_shape(shape: tuple[int, ...], where: tuple[int, ...], indices: list[Tensor]) -> tuple[int, ...]:
    """The shape of the result of indexing."""
    if not indices:
        return shape
    if len(indices) == 1:
        return (*shape[: where[0]], *indices[0]._array.shape, *shape[where[0] + 1 :])
    try:
        spread = broadcast_shapes(*[each._array.shape for each in indices])
    except ValueError:
        shapes = ", ".join(str(list(each._array.shape)) for each in indices)
        raise ArgumentIndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    rest = tuple([n for d, n in enumerate(shape) if d not in where])
    adjacent = where == tuple(range(where[0], where[0] + len(where)))
    return rest[: where[0]] + spread + rest[where[0] :] if adjacent else spread + rest


# Public faces ----------------------------------------------------------------------------------------------


def _put_arguments(name: str, input: Any, indices: Any, values: Any) -> list[tuple[int, Tensor]]:
    if not isinstance(indices, (tuple, list)):
        raise ArgumentTypeError(
            f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    if not indices:
        raise EngineError(f"{name}(): indices are empty: at least one tensor must say where to write")
    tensors, dim = [], 0
    for position, each in enumerate(indices):
        if not isinstance(each, Tensor):
            raise ArgumentTypeError(
                f"expected Tensor as element {position} in argument 0, but got {type(each).__name__}"
            )
        each = index_tensor(each)
        if not isinstance(each, Tensor):
            each = new_tensor(as_array(each))
        tensors.append((dim, each))
        dim += each._array.ndim if each._array.dtype == b1 else 1
    if dim > input._array.ndim:
        raise ArgumentIndexError(f"too many indices for tensor of dimension {input._array.ndim} (got {dim})")
    if not isinstance(values, Tensor):
        raise not_a_tensor(name, "values", values, 2)
    if values._array.dtype != input._array.dtype:
        raise DtypeError(
            f"Index put requires the source and destination dtypes match, got {FROM_NUMPY[input._array.dtype].old} for "
            f"the destination and {FROM_NUMPY[values._array.dtype].old} for the source."
        )
    return tensors


@public(out=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """`input` with `values` written to (or added to) the places that a tuple of index tensors names."""
    tensors = _put_arguments("index_put", input, indices, values)
    op, inputs, params, values = put_plan(input._array, tensors, values, bool(accumulate))
    return call(op, input, values, *inputs, *params)


@method("index_put_")
def index_put_(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """`index_put` in place."""
    tensors = _put_arguments("index_put_", input, indices, values)
    refuse_overlap(input, (values, *indices))
    refuse(input, "index_put_")
    put_index(input, input._array, tensors, values, bool(accumulate))
    return input


FUNCTIONS["index_put_"] = index_put_
METHODS["__setitem__"] = setitem
