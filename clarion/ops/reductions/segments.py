"""`segment_reduce`: one value for each of the consecutive segments into which a dimension is cut."""

from __future__ import annotations

from typing import Any

from ...core.devices import HOST, kind_of, to_host
from ...core.dtypes import FROM_NUMPY, i64, int32
from ...core.op import Op
from ...core.tensor import created
from ...errors import ArgumentValueError, EngineError, NotSupportedError, ShapeError
from ..faces.api import public
from ..faces.options import tensor_argument
from ..faces.typed import no_gradient

segment_reduce_op = Op("segment_reduce", "x index", "dim segments reduce initial")
segment_reduce_op.vjp(
    x=lambda g, x, index, out, dim, segments, reduce, initial, ops: (
        ops.gather(g, ops.clamp(index, 0, segments - 1), dim)
        * ops.segment_weights(x, index, out, dim, segments, reduce, initial)
    )
)
_once = no_gradient("_segment_reduce_backward")
Op("segment_weights", "x index out", "dim segments reduce initial", node="NotImplemented").vjp(x=_once, out=_once)

_NAMES = {"max": "amax", "min": "amin"}


@public(aliases=("_segment_reduce",))
def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    """The sum, prod, mean, max or min of each segment; where segments lie is said by their lengths or by where they begin."""
    x: Any = tensor_argument("segment_reduce", data, "data")
    kind = _NAMES.get(reduce, reduce)
    if kind not in ("sum", "prod", "mean", "amax", "amin"):
        raise EngineError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise EngineError("segment_reduce(): indices based reduction is not supported yet.")
    if not x.is_floating_point():
        raise NotSupportedError(f"\"_segment_reduce_cpu\" not implemented for '{FROM_NUMPY[x._array.dtype].old}'")
    bounds = _bounds(x, lengths, offsets, axis, unsafe)
    axis = bounds.ndim - 1
    if bounds.shape[-1] < 2:  # no segments
        return x.narrow(axis, 0, 0)
    index = created(kind_of(x._array).receive(_segment_of_each(bounds, x.shape[axis])))
    index = index.reshape(*index.shape, *(1,) * (x.dim() - axis - 1)).expand(x.shape)
    return segment_reduce_op.call(x, index, axis, bounds.shape[-1] - 1, kind, initial)


def _bounds(x: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """Where each segment begins and the last one ends, for each row: (*rows, segments + 1)."""
    given = offsets if lengths is None else lengths
    if given is None:
        raise EngineError("segment_reduce(): Either lengths or offsets must be defined.")
    name = "offsets" if lengths is None else "lengths"
    given = tensor_argument("segment_reduce", given, name)
    if given._array.dtype not in (i64, int32.numpy):
        kind = FROM_NUMPY[given._array.dtype].old
        raise NotSupportedError(f"\"_segment_reduce_lengths_cpu_kernel1\" not implemented for '{kind}'")
    if given.dim() > x.dim():
        raise ShapeError(f"segment_reduce(): data has {x.dim()} dimensions, fewer than the {given.dim()} of {name}")
    at = axis + x.dim() if axis < 0 else axis
    if at != given.dim() - 1:
        raise ShapeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    values = to_host(given._array).astype(i64)
    xp = HOST.xp
    if name == "offsets":
        return values
    if not unsafe:
        if (values < 0).any():
            raise ArgumentValueError("lengths contains negative value!")
        if (values.sum(-1) != x.shape[at]).any():
            raise ShapeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            )
    return xp.concatenate((xp.zeros((*values.shape[:-1], 1), i64), values.cumsum(-1)), -1)


def _segment_of_each(bounds: Any, size: int) -> Any:
    """The segment of each place of the dimension; one more than the last for places in no segment."""
    xp, count = HOST.xp, bounds.shape[-1] - 1
    places = xp.arange(size)
    rows = [xp.searchsorted(row, places, side="right") - 1 for row in bounds.reshape(-1, count + 1)]
    found = xp.array(rows, i64).reshape(*bounds.shape[:-1], size)
    return xp.where(found < 0, count, found)
