"""How kernels run on all samples at once. What has no rule is run for one sample after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import EngineError
from .. import registry
from ..registry import raw
from . import losses as losses
from . import operators as operators
from . import products as products
from . import randomness as randomness
from . import ways as ways
from .array import Batched, aligned, broadcast, deepest, is_of, levels_of, one_by_one, over, spread, varying, wrapped
from .levels import open_levels, refuse_dynamic
from .namespace import xp
from .table import RULES, rule, words


def kernel_for(name: str) -> Callable[..., Any]:
    """The kernel of an operation for batched arrays."""
    found = RULES.get(name)
    if found is None and (name in registry.elementwise or name in _ELEMENTS):
        found = _elements(name)
    if found is None and name in _AS_WRITTEN:
        found = _as_written(name)
    if found is None and name in _TRAILING:
        found = _trailing(name)
    if found is None and name in _ALONG:
        found = _along(name)
    if found is None:
        found = _one_by_one(name)

    def call(*args: Any, out: Any = None) -> Any:
        result = found(*args)
        if out is None:
            return result
        over(out, result, f"{name}_")
        return out

    return call


def _one_by_one(name: str) -> Callable[..., Any]:
    return lambda *args: one_by_one(registry.bind(name), args)


# Element by element -------------------------------------------------------------------------------------

_ELEMENTS = frozenset(
    words("""add_scaled addcdiv addcmul away_from_zero bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
    bitwise_xor cast clamp clamp_tensor complex copysign_scalar dirichlet_grad divide_or_zero fill_tensor frexp gcd isclose lcm
    lerp lerp_tensor masked_fill masked_fill_tensor nan_where_zero polar pow_base rsub_scaled standard_gamma_grad
    sub_scaled where zero_where bernoulli_variance clip_unit clipped_log inside_unit nonnegative_real softplus_plain
    zeros_like zero multiply_add""")
)


def _elements(name: str) -> Callable[..., Any]:
    alike = name.endswith("_backward")  # whose arrays have one shape, but for gradients of a whole loss

    def run(*args: Any) -> Any:
        if alike:
            level = deepest(args)
            arrays = [each for each in args if hasattr(each, "ndim")]
            varies = [varying(each, level) for each in arrays]
            if any(varies) and not all(varies) and len({each.ndim for each in arrays}) == 1:
                args = tuple([spread(each, level) if hasattr(each, "ndim") else each for each in args])
                return wrapped(registry.bind(name)(*args), level, True)
        return broadcast(registry.bind(name), args)

    return run


@rule("prelu_backward")
def _prelu_backward(g: Any, x: Any, weight: Any) -> Any:
    level = deepest((g, x, weight))
    if not any(varying(each, level) for each in (g, x, weight)):
        return broadcast(registry.bind("prelu_backward"), (g, x, weight))
    given = spread(g, level), spread(x, level), aligned(weight, level, x.ndim)
    return wrapped(registry.bind("prelu_backward")(*given), level, True)


@rule("clone")
def _clone(x: Any, order: Any) -> Any:
    if order == "K" or not x.varies:
        return x.like(raw.clone(x.data, order))
    return (
        one_by_one(registry.bind("clone"), (x, order)) if order not in ("C", None) else x.like(raw.clone(x.data, order))
    )


@rule("identity_for")
def _identity_for(x: Any) -> Any:
    return wrapped(registry.bind("identity_for")(x.data), x.level, False)


@rule("copy", "fill", "fill_scalar_into", "fill_tensor_into")
def _copied(x: Any, source: Any) -> Any:
    level = deepest((x, source))
    ndim = max(x.ndim, getattr(source, "ndim", 0))
    if not varying(x, level) and varying(source, level):
        return Batched(raw.copy(spread(x, level), aligned(source, level, ndim)), level, True)
    return broadcast(registry.bind("copy"), (x, source))


# Kernels as they are written, on batched arrays -------------------------------------------------------------

_AS_WRITTEN = frozenset(
    words("""alias alias_copy as_strided diagonal diagonal_backward diagonal_copy diagonal_scatter expand expand_copy imag narrow_copy
    permute permute_copy real reshape select select_backward select_copy select_scatter slice slice_backward slice_copy
    slice_scatter split split_copy split_with_sizes split_with_sizes_copy squeeze squeeze_copy squeeze_dim squeeze_dim_copy
    squeeze_dims squeeze_dims_copy sum_to t t_copy transpose transpose_copy unbind unbind_backward unbind_copy unfold
    unfold_backward unfold_copy unsafe_split unsafe_split_with_sizes unsplit unsqueeze unsqueeze_copy view view_as_complex view_as_complex_copy
    view_as_real view_as_real_copy view_clear view_copy view_dtype view_put view_scatter view_take addmm addmv addr baddbmm outer
    cross tie_share heads heads_backward trace cat stack addbmm mse_loss_mean mse_loss_sum linear_gradients sum_rows
    euclidean_dist cdist""")
)


def _as_written(name: str) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        before, open_levels.levels = open_levels.levels, levels_of(args)
        try:
            return registry.portable(name, xp)(*args)
        finally:
            open_levels.levels = before

    return run


# Kernels of the last dimensions: the batch is one more before them ---------------------------------------------

_TRAILING = frozenset(
    words("""tril triu linalg_cholesky linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_inv linalg_lu linalg_lu_factor_ex linalg_matrix_exp
    linalg_qr linalg_slogdet linalg_svd linalg_svdvals linalg_pinv cholesky_inverse cholesky_solve linalg_solve_triangular linalg_lu_solve
    lu_unpack layer_norm rms_norm one_hot pixel_shuffle pixel_unshuffle geqrf linalg_ldl_factor_ex""")
)


def _trailing(name: str) -> Callable[..., Any]:
    def run(x: Any, *args: Any) -> Any:
        level = deepest((x, *args))
        arrays = [each for each in (x, *args) if hasattr(each, "ndim")]
        if len(arrays) > 1 and name in ("layer_norm", "rms_norm"):
            if any(varying(each, level) for each in arrays[1:]) or not varying(x, level):
                return one_by_one(registry.bind(name), (x, *args))
        if not any(varying(each, level) for each in arrays):
            given = [each.data if is_of(each, level) else each for each in (x, *args)]
            return wrapped(registry.bind(name)(*given), level, False)
        if len(arrays) > 1 and name not in ("layer_norm", "rms_norm"):
            if len({each.ndim for each in arrays}) > 1:
                return one_by_one(registry.bind(name), (x, *args))
            given = [spread(each, level) if hasattr(each, "ndim") else each for each in (x, *args)]
        else:
            given = [each.data if is_of(each, level) else each for each in (x, *args)]
        return wrapped(registry.bind(name)(*given), level, True)

    return run


# Kernels along dimensions ----------------------------------------------------------------------------------------

# Where their dimensions stand among the parameters, where the number of arrays before them is known.
_ALONG = {
    **dict.fromkeys(
        words("""all amax amin aminmax any argmax argmin argsort count_nonzero cummax cummin cumprod cumsum flip glu kthvalue log_softmax
        logcumsumexp logsumexp max_dim mean median_dim min_dim mode nanmedian_dim nansum prod reverse_cumsum softmax sort
        sort_stable std std_mean sum topk var var_mean vector_norm roll rot90 shift fft_c2c fft_c2r fft_r2c fft_c2r_backward
        fft_r2c_backward"""),
        1,
    ),
    **dict.fromkeys(words("glu_backward log_softmax_backward softmax_backward gather pick_along"), 2),
    **dict.fromkeys(words("add_along gather_backward place_along"), 2),
    **dict.fromkeys(["scatter", "scatter_add", "scatter_combine"], 3),
    "scatter_value": 2,
}
# Which of a kernel's parameters is a dimension (or several, or None for all), and which a shape.
_DIMENSION = {
    "kthvalue": 1,
    "topk": 1,
    "topk_unsorted": 1,
    "vector_norm": 1,
    "roll": 1,
    "rot90": 1,
    "gather_backward": 1,
    "place_along": 1,
}
_SHAPE = {"gather_backward": 0, "place_along": 0}


def _along(name: str) -> Callable[..., Any]:
    arrays, place, shape = _ALONG[name], _DIMENSION.get(name, 0), _SHAPE.get(name)

    def run(*args: Any) -> Any:
        level = deepest(args)
        given, params = args[:arrays], list(args[arrays:])
        if not any(varying(each, level) for each in given):
            return wrapped(
                registry.bind(name)(*[each.data if is_of(each, level) else each for each in given], *params),
                level,
                False,
            )
        ndim = given[0].ndim
        dim = params[place]
        if not ndim or not level.size or (dim is None and name not in _ALL) or (dim == () and name == "roll"):
            return one_by_one(registry.bind(name), args)
        if shape is not None:
            if not params[shape]:
                return one_by_one(registry.bind(name), args)
            params[shape] = (level.size, *params[shape])
        if dim is None:
            params[place] = tuple(range(1, ndim + 1))
        else:
            params[place] = dim + 1 if isinstance(dim, int) else tuple([d + 1 for d in dim])
        return wrapped(registry.bind(name)(*[spread(each, level) for each in given], *params), level, True)

    return run


# Those whose None means all dimensions, as a tuple of all of them does.
_ALL = frozenset(
    words("all amax amin aminmax any logsumexp mean nansum prod std std_mean sum var var_mean vector_norm")
)


def _over_all(name: str) -> Callable[..., Any]:
    """A reduction of a whole sample, by the kernel that does so along dimensions."""

    def run(x: Any) -> Any:
        if not x.varies:
            return wrapped(registry.bind(f"{name}_all")(x.data), x.level, False)
        return x.like(registry.bind(name)(x.data, tuple(range(1, x.data.ndim)), False)) if x.ndim else _alone(name, x)

    return run


def _alone(name: str, x: Any) -> Any:
    kernel = registry.bind(name)
    return x.like(kernel(x.data[:, None], (1,), False))


for _name in ("sum", "mean", "prod"):
    RULES[f"{_name}_all"] = _over_all(_name)


@rule("max_all")
def _max_all(x: Any) -> Any:
    return x.max()


@rule("min_all")
def _min_all(x: Any) -> Any:
    return x.min()


@rule("index_select")
def _index_select(x: Any, index: Any, dim: int) -> Any:
    level = deepest((x, index))
    if varying(index, level) or not x.ndim:
        return one_by_one(registry.bind("index_select"), (x, index, dim))
    return x.like(registry.bind("index_select")(x.data, index.data if is_of(index, level) else index, dim + x.varies))


@rule("index_select_backward")
def _index_select_backward(g: Any, index: Any, shape: Any, dim: int) -> Any:
    level = deepest((g, index))
    if varying(index, level) or not g.ndim:
        return one_by_one(registry.bind("index_select_backward"), (g, index, shape, dim))
    whole = (level.size, *shape) if g.varies else shape
    return g.like(
        registry.bind("index_select_backward")(
            g.data, index.data if is_of(index, level) else index, whole, dim + g.varies
        )
    )


@rule("embedding", "sparse_embedding")
def _embedding(weight: Any, indices: Any, *how: Any) -> Any:
    level = deepest((weight, indices))
    if is_of(weight, level):
        return one_by_one(registry.bind("embedding"), (weight, indices, *how))
    return indices.like(raw.embedding(weight, indices.data, *how))


# Results whose shape depends on values -----------------------------------------------------------------------------------


def _dynamic(name: str, public: str) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        level = deepest(args)
        if any(varying(each, level) for each in args):
            refuse_dynamic(f"aten::{public}")
        return one_by_one(registry.bind(name), args)

    return run


for _name, _public in {
    "nonzero": "nonzero", "unique": "_unique2", "unique_dim": "unique_dim", "unique_consecutive": "unique_consecutive",
}.items():  # fmt: skip
    RULES[_name] = _dynamic(_name, _public)


@rule("masked_select")
def _masked_select(x: Any, mask: Any) -> Any:
    if varying(mask, deepest((x, mask))):
        raise EngineError(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this "
            "would return a differently shaped Tensor. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
            "this feature."
        )
    return one_by_one(registry.bind("masked_select"), (x, mask))


@rule("index_mask")
def _index_mask(x: Any, mask: Any) -> Any:
    if varying(mask, deepest((x, mask))):
        raise EngineError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a "
            "boolean mask."
        )
    return one_by_one(registry.bind("index_mask"), (x, mask))


# Layers: the batch is more images ---------------------------------------------------------------------------------------


def _folded(name: str, outputs: int) -> Callable[..., Any]:
    """A kernel whose first array has images along its first dimension."""

    def run(x: Any, *args: Any) -> Any:
        level = deepest((x, *args))
        if not varying(x, level) or any(is_of(each, level) for each in args) or not level.size:
            return one_by_one(registry.bind(name), (x, *args))
        count = x.shape[0]
        found = registry.bind(name)(x.data.reshape(level.size * count, *x.shape[1:]), *args)
        parts = [each.reshape(level.size, count, *each.shape[1:]) for each in (found if outputs > 1 else (found,))]
        return wrapped(tuple(parts) if outputs > 1 else parts[0], level, True)

    return run


for _name in words("""adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d upsample_bicubic2d upsample_bilinear2d upsample_linear1d
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d convolution correlate"""):
    RULES[_name] = _folded(_name, 1)
for _name in ("max_pool2d", "max_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d"):
    RULES[_name] = _folded(_name, 2)
