"""Sampling at the points of a grid, and grids of affine maps."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import FROM_NUMPY
from ...core.op import Op
from ...errors import ArgumentValueError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.portable.layers.grid_sample import higher
from ..faces.api import functional, public
from ..faces.autocast import autocast
from ..faces.options import warn_user

# Operations --------------------------------------------------------------------------------------------
# Why these three are enough for derivatives of every order: clarion/kernels/portable/layers/grid_sample.py.


def _sampler(name: str, node: str) -> Op:
    op = Op(
        name, "x grid", "mode padding align orders", node=f"{node}Backward0", saved_as={"input": "x", "grid": "grid"}
    )
    return op.vjp(
        x=lambda g, x_shape, grid, mode, padding, align, orders, ops: ops.grid_sampler_put(
            g, grid, x_shape[2:], mode, padding, align, orders
        ),
        grid=lambda g, x, grid, mode, padding, align, orders, ops: ops.grid_sampler_dots(
            g, x, grid, mode, padding, align, orders
        ),
    )


SAMPLERS = {4: _sampler("grid_sampler_2d", "GridSampler2D"), 5: _sampler("grid_sampler_3d", "GridSampler3D")}

grid_sampler_put_op = Op(
    "grid_sampler_put", "y grid", "sizes mode padding align orders", node="GridSampler2DBackwardBackward0"
)
grid_sampler_put_op.vjp(
    y=lambda g, grid, mode, padding, align, orders, ops: ops.grid_sampler_2d(g, grid, mode, padding, align, orders),
    grid=lambda g, y, grid, mode, padding, align, orders, ops: ops.grid_sampler_dots(
        y, g, grid, mode, padding, align, orders
    ),
)


def _dots_grad(
    g: Any, y: Any, x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Any, needs: Any, ops: Any
) -> tuple[Any, Any, Any]:
    """Sums over the coordinates by which the weights were differentiated."""
    gy = gx = g_grid = 0.0
    last = len(g.shape) - 1
    for i, more in enumerate(higher(orders)):
        part = ops.select(g, last, i)
        each = ops.unsqueeze(part, 1)
        if needs[0]:
            gy = gy + each * ops.grid_sampler_2d(x, grid, mode, padding, align, more)
        if needs[1]:
            gx = gx + ops.grid_sampler_put(y * each, grid, tuple(x.shape[2:]), mode, padding, align, more)
        if needs[2]:
            g_grid = g_grid + ops.unsqueeze(part, last) * ops.grid_sampler_dots(y, x, grid, mode, padding, align, more)
    return gy if needs[0] else None, gx if needs[1] else None, g_grid if needs[2] else None


grid_sampler_dots_op = Op(
    "grid_sampler_dots", "y x grid", "mode padding align orders", node="GridSampler2DBackwardBackward0"
)
grid_sampler_dots_op.vjp(_dots_grad)

affine_grid_op = Op("affine_grid_generator", "theta", "size align")
affine_grid_op.vjp(theta=lambda g, size, align, ops: ops.affine_grid_generator_backward(g, size, align))
affine_grid_backward_op = Op("affine_grid_generator_backward", "x", "size align")
affine_grid_backward_op.vjp(x=lambda g, size, align, ops: ops.affine_grid_generator(g, size, align))

# Public faces --------------------------------------------------------------------------------------------

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def _check(x: Any, grid: Any, mode: str) -> None:
    sizes = f"got input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
    if not x.ndim or not grid.ndim or x.shape[0] != grid.shape[0]:
        raise ShapeError(f"grid_sampler(): expected grid and input to have same batch size, but {sizes}")
    if grid.shape[-1] != x.ndim - 2:
        raise ShapeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    for i, size in enumerate(x.shape[2:], 2):
        if not size:
            raise ShapeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(x.shape)} with dimension {i} being empty"
            )
    if x.ndim not in (4, 5) or x.ndim != grid.ndim:
        wanted = 4 if x.ndim == 4 else 5
        raise ShapeError(
            f"grid_sampler(): expected {wanted}D input and grid with same number of dimensions, but {sizes}"
        )
    if mode == "bicubic" and x.ndim == 5:
        raise EngineError("grid_sampler(): bicubic interpolation only supports 4D input")
    names = [FROM_NUMPY[each.dtype].old for each in (x, grid)]
    if x.dtype.kind not in "fV":
        kernel = "grid_sampler_2d_cpu_kernel_impl" if x.ndim == 4 else "grid_sampler3d_cpu"
        raise NotSupportedError(f"\"{kernel}\" not implemented for '{names[0]}'")
    if names[0] != names[1]:
        raise DtypeError(f"expected scalar type {names[0]} but found {names[1]}")


def _sampled(input: Any, grid: Any, mode: str, padding: str, align: bool) -> Any:
    _check(input._array, grid._array, mode)
    dims = input._array.ndim
    return SAMPLERS[dims].call(input, grid, mode, padding, bool(align), (0,) * (dims - 2))


def _main(name: str) -> None:
    @autocast("float32")
    def main(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
        """Samples of the input at the points of the grid; modes are numbers."""
        if interpolation_mode not in (0, 1, 2) or padding_mode not in (0, 1, 2):
            raise EngineError(f"{name}(): modes are 0, 1 or 2, but got {interpolation_mode} and {padding_mode}")
        return _sampled(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)

    public(name, method=False)(main)


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "_grid_sampler_2d_cpu_fallback"):
    _main(_name)


def _default_align(align: bool | None) -> bool:
    if align is None:
        warn_user(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        )
    return bool(align)


@functional()
@autocast("float32")
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """Samples of the input at the points of the grid, which go from -1 to 1 along each dimension, the last one first."""
    if mode not in MODES:
        raise ArgumentValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ArgumentValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    return _sampled(input, grid, mode, padding_mode, _default_align(align_corners))


@functional()
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """For each affine map (rows of numbers per output dimension) where it takes the points of an image of this size."""
    size = tuple(int(s) for s in size)
    if not theta.is_floating_point():
        raise ArgumentValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotSupportedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{list(size)}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ArgumentValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {list(size)}. Got {theta.shape}."
        )
    align = _default_align(align_corners)
    if align and min(size[2:]) == 1:
        warn_user(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is "
            "not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ArgumentValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    return affine_grid_generator(theta, size, align)


@public(method=False)
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """`affine_grid`, without its checks."""
    size = tuple(int(s) for s in size)
    if theta._array.shape[0] != size[0]:
        n = len(size) - 1
        raise ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {n}] but got: "
            f"[{theta._array.shape[0]}, {n}]."
        )
    return affine_grid_op.call(theta, size, bool(align_corners))
