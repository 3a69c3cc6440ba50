"""Random tensors and random writes in place, number for number as PyTorch draws them on the CPU."""

from __future__ import annotations

from typing import Any

from ...core import devices, modes
from ...core.devices import ndarray
from ...core.dtypes import broadcast_shapes, default_float, f32, f64, i64
from ...core.inplace import inplace
from ...core.op import Op
from ...core.tensor import Tensor, created
from ...errors import ArgumentTypeError, DtypeError, ShapeError
from ...events import hub
from ...kernels import distributions, mt19937
from ...kernels import random as draw
from ...kernels.batched.levels import Mapped, refuse_random_out
from ...kernels.permutation import randperm as randperm_array
from ...kernels.portable.random.draws import fill
from ...kernels.registry import raw
from ..creation.factories import like, take_options
from ..faces.api import method, public
from ..faces.options import (
    allocate_like,
    integer,
    numpy_type,
    one_size,
    out_type,
    place,
    put,
    size_of,
    spelled,
    tensor_argument,
)
from .generator import drawn_by, source

zeros_like_op = Op("zeros_like", "x", moves=True, differentiable=False)
multinomial_op = Op("multinomial", "x", "count gen", differentiable=False)

# A draw in place forgets what was there: its gradient is zero.
_FORGET = {"x": lambda g, ops: ops.zeros_like(g)}


def _drawing(name: str, params: str, node: str | None = None, inputs: str = "x") -> Op:
    return Op(name, inputs, params, node=node, moves=True).vjp(**_FORGET)


uniform_op = _drawing("uniform", "low high gen")
normal_op = _drawing("normal", "mean std gen")
random_op = _drawing("random", "low high gen", "RandomBackward2")
random_to_op = _drawing("random_to", "low high gen", "RandomBackward1")
random_range_op = _drawing("random_range", "low high gen", "RandomBackward0")
exponential_op = _drawing("exponential", "rate gen")
geometric_op = _drawing("geometric", "p gen")
cauchy_op = _drawing("cauchy", "median sigma gen")
log_normal_op = _drawing("log_normal", "mean std gen")
poisson_op = _drawing("poisson", "gen")
bernoulli_op = _drawing("bernoulli", "gen")
bernoulli_float_op = _drawing("bernoulli_float", "p gen", "BernoulliBackward2")

bernoulli_tensor_op = Op("bernoulli_tensor", "x p", "gen", node="BernoulliBackward1", moves=True, broadcast=True)
bernoulli_tensor_op.vjp(x=lambda g, ops: ops.zeros_like(g), p=lambda g, ops: ops.zeros_like(g))
normal_mean_op = Op("normal_mean", "mean", "std gen", node="NormalBackward1", moves=True)
normal_mean_op.vjp(mean=lambda g, ops: ops.zeros_like(g))
normal_std_op = Op("normal_std", "std", "mean gen", node="NormalBackward2", moves=True)
normal_std_op.vjp(std=lambda g, ops: ops.zeros_like(g))
normal_both_op = Op("normal_both", "mean std", "gen", node="NormalBackward3", moves=True, broadcast=True)
normal_both_op.vjp(mean=lambda g, ops: ops.zeros_like(g), std=lambda g, ops: ops.zeros_like(g))


class _Heat:
    left = 128  # draws until compiled ones are asked for


def _few(op: Op, size: Any) -> Tensor | None:
    """A new tensor of few numbers, drawn by a compiled function; None where there is none for them."""
    if default_float() is not f32 or devices.HALVES or (modes.special and (modes.batches or modes.state.inference)):
        return None
    if _Heat.left > 0:
        _Heat.left -= 1
        op.kernel(
            devices.HOST.xp.empty(0, f32), 0.0, 1.0, mt19937.default_generator
        )  # (nothing is drawn: the kernel hears that it is wanted)
        return None
    return op.quick_draw(mt19937.default_generator, size)  # type: ignore[no-any-return]


def _few_whole(size: Any, low: int, high: int) -> Tensor | None:
    """The same of whole numbers from `low` to below `high`."""
    if devices.HALVES or (modes.special and (modes.batches or modes.state.inference)):
        return None
    if _Heat.left > 0:
        _Heat.left -= 1
        random_range_op.kernel(devices.HOST.xp.empty(0, i64), 0, 1, mt19937.default_generator)
        return None
    return random_range_op.quick_draw(mt19937.default_generator, size, low, high)  # type: ignore[no-any-return]


def _few_like(op: Op, array: Any) -> Tensor | None:
    plain = type(array) is ndarray and array.dtype is f32 and array.ndim < 4 and array.flags.c_contiguous
    return _few(op, array.shape) if plain else None


# New tensors -----------------------------------------------------------------------------------------


def _fresh(name: str, sampler: Any, size: tuple[Any, ...], generator: Any, options: dict[str, Any]) -> Tensor:
    if not options and not devices.elsewhere:
        return created(sampler(source(name, generator), size_of(name, size), default_float()))
    return _with_options(name, sampler, size, generator, options)


def _with_options(name: str, sampler: Any, size: tuple[Any, ...], generator: Any, options: dict[str, Any]) -> Tensor:
    if "size" in options:
        size = (*size, options.pop("size"))
    kind, requires_grad, out, where = _options(name, options)
    shape = size_of(name, size)
    array = where.draw(sampler.__name__, generator, shape, kind)
    if array is None:
        gen = source(name, generator)
        array = where.computed(shape, kind, lambda: sampler(gen, shape, kind))
    return created(array, requires_grad) if out is None else put(name, out, array, requires_grad)


@public(method=False)
def rand(*size: Any, generator: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1). Options: out, dtype, layout, device, pin_memory, requires_grad."""
    if generator is None and not options and not devices.elsewhere:
        out = _few(uniform_op, size)
        if out is not None:
            return out
    return _fresh("rand", draw.uniform, size, generator, options)


@public(method=False)
def randn(*size: Any, generator: Any = None, **options: Any) -> Tensor:
    """Standard normal numbers. Options: out, dtype, layout, device, pin_memory, requires_grad."""
    if generator is None and not options and not devices.elsewhere:
        out = _few(normal_op, size)
        if out is not None:
            return out
    return _fresh("randn", draw.normal, size, generator, options)


def _options(name: str, options: dict[str, Any]) -> Any:
    if options.get("out") is not None:
        refuse_random_out(name)
    return take_options(name, options)


_FLOATS = (f32, f64)


def _like(
    name: str,
    sampler: Any,
    input: Any,
    generator: Any,
    options: dict[str, Any],
    more: Any = lambda array: (),
    bounds: Any = (),
) -> Tensor:
    """Numbers in the shape and layout of a tensor; `more(array)` is what the sampler is told besides."""
    if not options and isinstance(input, Tensor) and not modes.batches and not bounds:
        array = input._array
        if type(array) is ndarray and array.dtype in _FLOATS and array.flags.c_contiguous and array.ndim < 4:
            return created(sampler(source(name, generator), array.shape, array.dtype))
    requires_grad = options.pop("requires_grad", False)
    named = {key: options.pop(key, None) for key in ("dtype", "layout", "device", "memory_format", "pin_memory")}
    if options:
        raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{next(iter(options))}'")
    array = like(name, input, **named)
    where = devices.kind_of(array)
    what = name if bounds else sampler.__name__
    if modes.batches and what == "normal" and not _in_rows(input._array):
        what = "normal_apart"
    values = where.draw(what, generator, array.shape, array.dtype, *bounds)
    if values is not None:
        return created(
            _filled(input._array, values) if isinstance(values, Mapped) else fill(array, values), requires_grad
        )
    gen = source(name, generator)
    values = where.computed(array.shape, array.dtype, lambda: sampler(gen, array.shape, array.dtype, *more(array)))
    return created(fill(array, values), requires_grad)


def _in_rows(array: Any) -> bool:
    """Will all numbers that are drawn lie in order?"""
    while isinstance(array, Mapped):
        like: Any = array
        array = like.data[0, ...] if like.varies and like.level.randomness != "different" else like.data
    return bool(allocate_like(array, array.dtype).flags.c_contiguous)


def _filled(array: Any, values: Any) -> Any:
    """`fill` inside `vmap`: what all samples drew is arranged as they lie in memory."""
    if not isinstance(values, Mapped):
        return fill(allocate_like(array, values.dtype), values)
    drawn: Any = values
    if isinstance(array, Mapped) and array.level is drawn.level:  # type: ignore[attr-defined]
        like: Any = array
        if like.varies:
            return drawn.like(_filled(like.data if drawn.varies else like.data[0, ...], drawn.data))
        array = like.data
    return drawn if drawn.varies else drawn.like(_filled(array, drawn.data))


@public(method=False)
def rand_like(input: Any, *, generator: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in the shape of a tensor. Options as for zeros_like."""
    if generator is None and not options and type(input) is Tensor:
        out = _few_like(uniform_op, input._array)
        if out is not None:
            return out
    return _like("rand_like", draw.uniform, input, generator, options)


@public(method=False)
def randn_like(input: Any, *, generator: Any = None, **options: Any) -> Tensor:
    """Normal numbers in the shape of a tensor. Options as for zeros_like."""
    if generator is None and not options and type(input) is Tensor:
        out = _few_like(normal_op, input._array)
        if out is not None:
            return out
    return _like(
        "randn_like", draw.normal, input, generator, options, lambda array: (0.0, 1.0, array.flags.c_contiguous)
    )


@public(method=False)
def randint_like(input: Any, low: Any = None, high: Any = None, *, generator: Any = None, **options: Any) -> Tensor:
    """randint_like(input, high), randint_like(input, low, high): integers in the shape and type of a tensor."""
    low, high = (0, low) if high is None else (low or 0, high)
    bounds = integer("randint_like", "low", 2, low), integer("randint_like", "high", 3, high)
    return _like(
        "randint_like",
        lambda gen, shape, kind: draw.randint(gen, shape, *bounds, kind),
        input,
        generator,
        options,
        bounds=bounds if modes.batches else (),
    )


@public(method=False)
def randint(*args: Any, generator: Any = None, **options: Any) -> Tensor:
    """randint(high, size), randint(low, high, size): integers in [low, high). Options as for zeros."""
    if not options and not devices.elsewhere and args and type(args[-1]) is tuple and 1 < len(args) < 4:
        low, high = (0, args[0]) if len(args) == 2 else args[:2]
        if type(low) is type(high) is int:
            if generator is None and (made := _few_whole(args[-1], low, high)) is not None:
                return made
            shape = one_size("randint", args[-1])
            return created(draw.random(source("randint", generator), shape, i64, low, high))
    named = {key: options.pop(key) for key in ("low", "high", "size") if key in options}
    order = ("low", "high", "size") if len(args) + len(named) == 3 else ("high", "size")
    order = tuple(key for key in order if key not in named)
    given = {**dict(zip(order, args, strict=False)), **named}
    if len(args) != len(order) or not given.keys() >= {"high", "size"}:
        raise ArgumentTypeError(
            f"randint() received an invalid combination of arguments - got {spelled(args, named)}, but expected one of:\n"
            " * (int high, tuple of ints size)\n * (int low, int high, tuple of ints size)"
        )
    if not isinstance(given["size"], (tuple, list)):
        position = 3 if "low" in given else 2
        raise ArgumentTypeError(
            f"randint(): argument 'size' (position {position}) must be tuple of ints, not {type(given['size']).__name__}"
        )
    low = integer("randint", "low", 1, given.get("low", 0))
    high = integer("randint", "high", 2 if "low" in given else 1, given["high"])
    out = options.get("out")
    if options.get("dtype") is None and out is None:
        options["dtype"] = int
    kind, requires_grad, _, where = _options("randint", options)
    gen, shape = source("randint", generator), one_size("randint", given["size"])
    array = where.draw("integers", generator, shape, kind, low, high) if low < high else None
    if array is None:
        array = where.computed(shape, kind, lambda: draw.randint(gen, shape, low, high, kind))
    return created(array, requires_grad) if out is None else put("randint", out, array)


@public(method=False)
def randperm(
    n: Any,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The integers below n in random order."""
    where = place("randperm", device, layout, None if out is None else out._array, pin_memory)
    count = integer("randperm", "n", 1, n)
    kind = numpy_type("randperm", dtype, i64) if out is None else out_type("randperm", out, dtype)
    gen = source("randperm", generator)
    array = where.draw("permutation", generator, (count,), kind) if count > 0 else None
    if array is None:
        array = where.computed((count,), kind, lambda: randperm_array(gen, count, kind))
    return created(array, requires_grad) if out is None else put("randperm", out, array)


def _number(x: Any) -> Any:
    single = isinstance(x, Tensor) and not x._array.shape and not x._rg and x._edge is None
    return x.item() if single else x


@public(method=False, out=True)
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers: tensors of means or standard deviations, or two numbers and a size."""
    of_tensors = isinstance(mean, Tensor) or isinstance(std, Tensor)
    if of_tensors and size is not None:  # tensors of one element are numbers
        mean, std = _number(mean), _number(std)
        of_tensors = isinstance(mean, Tensor) or isinstance(std, Tensor)
    gen = drawn_by("normal", generator) if of_tensors else source("normal", generator)
    if of_tensors is (size is not None):  # their shape is the size
        given = (mean, std) if size is None else (mean, std, size)
        raise ArgumentTypeError(
            f"normal() received an invalid combination of arguments - got {spelled(given, {})}, but expected one of:\n"
            " * (Tensor mean, Tensor std)\n * (Tensor mean, float std = 1)\n * (float mean, Tensor std)\n"
            " * (float mean, float std, tuple of ints size)"
        )
    if isinstance(mean, Tensor):
        if isinstance(std, Tensor):
            return normal_both_op.call(mean, std, gen)
        return normal_mean_op.call(mean, float(std), gen)
    if isinstance(std, Tensor):
        return normal_std_op.call(std, float(mean), gen)
    where = place("normal", device, layout, None, pin_memory)
    shape, kind = one_size("normal", size), numpy_type("normal", dtype)
    array = where.draw("normal", generator, shape, kind, float(mean), float(std))
    if array is not None:
        return created(array, requires_grad)
    array = where.computed(shape, kind, lambda: draw.normal(gen, shape, kind, float(mean), float(std)))
    return created(array, requires_grad)


@public()
def bernoulli(input: Any, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """1 with the probability each element says (or `p` for all), else 0. Its gradient is zero."""
    tensor_argument("bernoulli", input)
    if out is not None:  # (of any type: ones and zeros fit into all)
        if out.shape != input.shape:
            out.resize_(input.shape)
        return bernoulli_(out, input if p is None else p, generator=generator)
    gen = mt19937.default_generator if generator is None and not modes.batches else drawn_by("bernoulli", generator)
    if p is None:
        return bernoulli_op.call(input, gen)
    # Its result is contiguous, as PyTorch's is, where bernoulli_ fills memory in the order it lies in.
    return bernoulli_float_op.call(input.contiguous(), float(p), gen)


@public()
def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None, out: Any = None
) -> Tensor:
    """Indices drawn with the weights of each row."""
    tensor_argument("multinomial", input)
    if out is not None and tensor_argument("multinomial", out, "out")._array.dtype is not i64:
        raise DtypeError(f"multinomial expects Long tensor out, got: {out.dtype.old}")
    if modes.batches and out is None and type(drawing := drawn_by("multinomial", generator)) is not mt19937.Generator:
        return created(raw.weights_drawn(input._array, num_samples, replacement, drawing))
    count = integer("multinomial", "num_samples", 2, num_samples)
    gen, weights = source("multinomial", generator), input._array
    where = devices.kind_of(weights)
    if type(weights) in devices.HALVES and (count == 1 or not replacement):
        array = raw.multinomial(weights, count, gen)
    else:
        array = where.computed(
            (*weights.shape[:-1], count),
            i64,
            lambda: distributions.multinomial(gen, where.to_host(weights), count, replacement),
        )
    drawn = put_or_make("multinomial", out, array)
    if modes.special and hub.applied is not None:
        hub.applied(multinomial_op, (input,), (), (drawn,))
    return drawn


def put_or_make(name: str, out: Any, array: Any) -> Tensor:
    """A new tensor, or `out` with these values."""
    return created(array) if out is None else put(name, out, array)


@public(method=False)
def poisson(input: Any, generator: Any = None) -> Tensor:
    """One Poisson count for each rate. Its gradient is zero."""
    return poisson_op.call(tensor_argument("poisson", input), drawn_by("poisson", generator))


# In place --------------------------------------------------------------------------------------------


def _from_to(name: str, args: tuple[Any, ...], named: dict[str, Any], defaults: tuple[Any, Any]) -> tuple[Any, Any]:
    """The arguments `from` (a Python keyword, so it arrives by name only in `**named`) and `to`."""
    if not named and len(args) == 2:
        return args[0], args[1]
    given = dict(zip(("from", "to"), args, strict=False))
    unknown = set(named) - {"from", "to"}
    if unknown or len(args) > 2 or given.keys() & named.keys():
        raise ArgumentTypeError(f"{name}() received an invalid combination of arguments - got {spelled(args, named)}")
    given |= named
    return given.get("from", defaults[0]), given.get("to", defaults[1])


@method("uniform_")
def uniform_(self: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """uniform_(from=0, to=1): fill with uniform numbers."""
    low, high = _from_to("uniform_", args, named, (0.0, 1.0)) if args or named else (0.0, 1.0)
    if generator is None and not modes.special:
        if uniform_op.quick_write(self, low, high, mt19937.default_generator) is not None:
            return self
    return inplace(uniform_op, self, float(low), float(high), drawn_by("uniform_", generator))


@method("normal_")
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    if generator is None and not modes.special:
        if normal_op.quick_write(self, mean, std, mt19937.default_generator) is not None:
            return self
    return inplace(normal_op, self, float(mean), float(std), drawn_by("normal_", generator))


@method("random_")
def random_(self: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """random_(), random_(to), random_(from, to): fill with integers."""
    gen = drawn_by("random_", generator)
    if not args and not named:
        return inplace(random_op, self, None, None, gen)
    if len(args) + len(named) == 1 and "from" not in named:
        return inplace(random_to_op, self, 0, int(args[0] if args else named["to"]), gen)
    low, high = _from_to("random_", args, named, (0, None))
    return inplace(random_range_op, self, int(low), None if high is None else int(high), gen)


@method("bernoulli_")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones of probability p (a number or a tensor) and zeros."""
    gen = drawn_by("bernoulli_", generator)
    if not isinstance(p, Tensor):
        return inplace(bernoulli_float_op, self, float(p), gen)
    try:
        fits = broadcast_shapes(p._array.shape, self._array.shape) == self._array.shape
    except ValueError:
        fits = False
    if not fits:
        raise _expand_error(p._array.shape, self._array.shape)
    return inplace(bernoulli_tensor_op, self, p, gen)


def _expand_error(have: tuple[int, ...], want: tuple[int, ...]) -> ShapeError:
    if len(have) > len(want):
        return ShapeError(
            f"The number of sizes provided ({len(want)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(have)})"
        )
    extra = len(want) - len(have)
    dim = next(i for i in reversed(range(len(want))) if i >= extra and have[i - extra] not in (1, want[i]))
    return ShapeError(
        f"The expanded size of the tensor ({want[dim]}) must match the existing size ({have[dim - extra]}) at "
        f"non-singleton dimension {dim}.  Target sizes: {list(want)}.  Tensor sizes: {list(have)}"
    )


@method("exponential_")
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`."""
    return inplace(exponential_op, self, float(lambd), drawn_by("exponential_", generator))


@method("geometric_")
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials until the first success."""
    return inplace(geometric_op, self, float(p), drawn_by("geometric_", generator))


@method("cauchy_")
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy numbers."""
    return inplace(cauchy_op, self, float(median), float(sigma), drawn_by("cauchy_", generator))


@method("log_normal_")
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithms are normal."""
    return inplace(log_normal_op, self, float(mean), float(std), drawn_by("log_normal_", generator))
