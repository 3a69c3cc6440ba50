"""More corners: empty and repeated values, several outputs, mixed types, control flow, coroutines, accumulation."""

from __future__ import annotations

import asyncio
import copy

from .corners import _function
from .programs import double, leaf, refusal


def backward_of_backward_inside_no_grad(t):
    x = double(t)
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    total = g.sum()
    with t.no_grad():
        return t.autograd.grad(total, x)


def create_graph_inside_no_grad(t):
    x = double(t)
    y = (x**3).sum()
    with t.no_grad():
        (g,) = t.autograd.grad(y, x, create_graph=True)
    return g.requires_grad


def zero_size_dimensions(t):
    x = t.ones(0, 3, requires_grad=True)
    w = t.ones(3, 2, requires_grad=True)
    (x @ w).sum().backward()
    return x.grad.shape, w.grad


def broadcast_zero_size(t):
    x, w = t.ones(0, 3, requires_grad=True), leaf(t)
    (x * w).sum().backward()
    return x.grad.shape, w.grad


def unused_split_parts(t):
    x = leaf(t)
    a, b = x.split([1, 2])
    (a * 5).sum().backward()
    return x.grad


def several_outputs_partly_captured(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return t.autograd.grad(a * b + c, [a, b, c])


def captured_output_number(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return t.autograd.grad((b * 3).sum(), [b, x])


def unreachable_output_of_node(t):
    x = leaf(t)
    a, b, c = (x * 2).unbind()
    return (
        refusal(lambda: t.autograd.grad(a * 1, [b], retain_graph=True)),
        t.autograd.grad(a * 1, [b], allow_unused=True)[0],
    )


def index_with_repeats(t):
    x = leaf(t)
    y = x[[0, 0, 1]] * t.tensor([1.0, 10.0, 100.0])
    y.sum().backward()
    return x.grad


def where_with_numbers(t):
    x = leaf(t)
    t.where(x > 1.5, x * x, 0.0).sum().backward()
    return x.grad


def mixed_integer_and_float(t):
    x, i = leaf(t), t.arange(3)
    ((x * i) + i).sum().backward()
    return x.grad


def boolean_mask_as_factor(t):
    x = leaf(t)
    (x * (x > 1.5)).sum().backward()
    return x.grad


def detach_inside_expression(t):
    x = leaf(t)
    y = x * 2
    (y + (y.round() - y).detach()).sum().backward()
    return x.grad


def coroutine_with_block(t):
    async def inner(seen):
        seen.append(t.is_grad_enabled())
        await asyncio.sleep(0)
        seen.append(t.is_grad_enabled())

    async def main():
        seen = []
        with t.no_grad():
            await inner(seen)
        seen.append(t.is_grad_enabled())
        return seen

    return asyncio.run(main())


def grad_fn_is_not_callable_with_nonsense(t):
    x = leaf(t)
    y = x * 2
    return callable(y.grad_fn), refusal(lambda: y.grad_fn("hey"), 0)[0]


def grad_fn_call(t):
    x = leaf(t)
    y = x * 3
    return y.grad_fn(t.ones(3))[0]


def output_saved_by_two_nodes(t):
    x = double(t)
    y = x.exp()
    z = y.exp() * y
    z.sum().backward()
    return x.grad


def tensor_with_grad_in_python_sum_and_max(t):
    a, b = t.tensor(1.0, requires_grad=True), t.tensor(2.0, requires_grad=True)
    (sum([a, b, a]) + max(a, b)).backward()
    return a.grad, b.grad


def control_flow(t):
    x = leaf(t, 0.5, 2.0)
    total = 0
    for v in x:
        total = total + (v * v if v > 1 else v * 3)
    total.backward()
    return x.grad


def accumulate_into_grad_of_other_layout(t):
    x = t.ones(2, 3, requires_grad=True)
    x.grad = t.zeros(3, 2).t()
    held = x.grad
    (x * t.arange(6.0).reshape(2, 3)).sum().backward()
    return x.grad is held, x.grad, x.grad.stride()


def accumulate_overlapping_gradient(t):
    x = t.ones(2, 3, requires_grad=True)
    x.sum(0).sum().backward()
    x.sum(1).sum().backward()
    return x.grad, x.grad.stride()


def saved_tensor_to_bytes_and_back(t):
    import pickle

    x = leaf(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: pickle.dumps(v.detach()), lambda s: pickle.loads(s)):
        y = (x.exp() * x).sum()
    y.backward()
    return x.grad


def function_with_default_arguments(t):
    def forward(ctx, x, k=4, *more):
        ctx.k, ctx.n = k, len(more)
        return x * k

    f = _function(t, forward, lambda ctx, g: (g * ctx.k, *(None for _ in range(len(ctx.needs_input_grad) - 1))))
    x = leaf(t)
    f.apply(x).sum().backward()
    f.apply(x, 2).sum().backward()
    f.apply(x, 2, 3, 4).sum().backward()
    return x.grad


def gradient_returned_is_the_input(t):
    f = _function(t, lambda ctx, x: x.clone(), lambda ctx, g: g)
    x = leaf(t)
    y = f.apply(x)
    seed = t.ones(3)
    y.backward(seed)
    x.grad.mul_(5)
    return seed, x.grad


def same_gradient_for_two_inputs(t):
    f = _function(t, lambda ctx, x, y: x + y, lambda ctx, g: (g, g))
    x, y = leaf(t), leaf(t)
    f.apply(x, y).sum().backward()
    x.grad.mul_(7)
    return x.grad, y.grad


def leaf_gradient_is_not_a_view_of_another(t):
    x, y = leaf(t), leaf(t)
    t.cat([x, y]).sum().backward()
    x.grad.mul_(7)
    a, b = leaf(t), leaf(t)
    t.stack([a, b]).backward(t.ones(2, 3))
    a.grad.zero_()
    return y.grad, b.grad


def matrices_with_elements_that_are_no_numbers(t):
    x = t.tensor([[[float("nan"), 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]])
    return t.linalg.det(x), t.linalg.slogdet(x)[1], t.linalg.inv(x), t.linalg.solve(x, t.ones(2, 2))


def remainders_that_are_zero(t):
    x, y = t.tensor([2.0, -2.0, 1.5, -1.5]), t.tensor([-1.0, 1.0, 0.5, 0.5])
    return [t.signbit(each) for each in (x % y, x % -0.5, -2.0 % y, t.remainder(x.double(), y), (-x).remainder_(y))]


def numbers_copied_into_whole_ones(t):
    return [t.zeros(2, dtype=t.int64).copy_(each) for each in (float("nan"), 3.7, -3.7)], t.zeros(
        1, dtype=t.uint8
    ).copy_(7.5)


def sums_of_trapezoids_and_without_nan(t):
    small, far = t.tensor([250, 7, 250], dtype=t.uint8), t.tensor([1.0, float("inf"), float("-inf")])
    some = t.tensor([1.5, float("nan")])
    return t.trapezoid(small), t.trapezoid(far), t.trapezoid(far.abs(), dx=2), t.nansum(some, dtype=t.uint8)


def least_squares_cut_off_as_each_driver_does(t):
    whole, line = t.tensor([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]]).double(), t.tensor([[1.0, 2.0], [2.0, 4.0]]).double()
    whole.requires_grad_()
    found = []
    for driver in ("gels", "gelsd", "gelss"):
        for rcond in (None, -1, 0.7, 1.0, 2.0):
            solution, *rest = t.linalg.lstsq(whole, t.ones(3, 1).double(), rcond=rcond, driver=driver)
            found += [solution, *rest, t.autograd.grad(solution.sum(), whole)[0]]
            if driver != "gels":
                found += t.linalg.lstsq(line, t.ones(2, 1).double(), rcond=rcond, driver=driver)[:3]
    return found


def gradients_on_branch_cuts(t):
    x = t.tensor([2, -2, complex(2, -0.0), 0.5, 2j, -2j, 2 + 1j], dtype=t.complex128, requires_grad=True)
    functions = t.acos, t.asin, t.acosh, t.asinh, t.atanh
    found = [t.autograd.grad(f(x).sum(), x, t.tensor(1 + 0j, dtype=t.complex128))[0] for f in functions]
    low = t.tensor([-2.0, 2.0], requires_grad=True)
    # (in billionths, and + 0: neither the last digit nor the sign of a zero matters)
    return [t.view_as_real(each).mul(1e9).round() + 0 for each in found], t.autograd.grad(t.acosh(low).sum(), low)


def gradients_of_nothing_to_complex_powers(t):
    y = t.tensor([0, 1, -1, 1j, 2 + 1j], dtype=t.complex128, requires_grad=True)
    bases = 0, t.zeros(5, dtype=t.complex128), t.zeros(5, dtype=t.float64)
    return [t.autograd.grad(t.pow(base, y).sum().real, y)[0].isnan() for base in bases]


def medians_beside_nan_and_of_nothing(t):
    x = t.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    (g,) = t.autograd.grad(x.median() ** 2, x, create_graph=True)
    empty = [t.empty(0, dtype=kind) for kind in (t.int64, t.int32, t.int16, t.int8, t.uint8)]
    return g, t.autograd.grad(g.sum(), x), [each.median() for each in empty], [each.nanmedian() for each in empty]


def limits_that_are_no_numbers(t):
    nan, functional = float("nan"), t.nn.functional
    x = t.tensor([1.0, -0.2, nan, 0.5], requires_grad=True)
    slopes = [
        t.autograd.grad(f(x, lambd).sum(), x)[0]
        for f, lambd in ((functional.hardshrink, nan), (functional.hardshrink, 0.5), (functional.softshrink, 0.5))
    ]
    bad = t.tensor([[[nan, 1.0], [1.0, 1.0]], [[-1.0, nan], [1.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]])
    signs = t.linalg.slogdet(bad)[0], t.linalg.slogdet(bad.to(t.complex128))[0].isnan()
    return slopes, signs, refusal(lambda: functional.softshrink(x, nan))


def numbers_that_must_be_whole(t):
    x, half, functional = t.ones(3, 3), t.tensor(2.0), t.nn.functional
    whole = t.topk(x, t.tensor(2)).values, functional.pad(x, (t.tensor(1), 1)), x.tril(t.tensor(1))
    calls = (
        lambda: t.topk(x, half), lambda: t.topk(x, 2.0), lambda: x.kthvalue(1.0), lambda: t.tril(x, 1.5), lambda: x.triu(half),
        lambda: t.rot90(x, 1.0), lambda: functional.pad(x, (1.0, 1)), lambda: functional.pad(x, (half, 1)),
    )  # fmt: skip
    return whole, [refusal(each, "must be") for each in calls]


def values_clipped_without_gradients(t):
    return refusal(
        lambda: t.nn.utils.clip_grad_value_([t.nn.Parameter(t.ones(2))], 1.0), "nested_tensorlist[0].empty()"
    )


def numbers_that_do_not_fit(t):
    half, brain, single, byte = (t.zeros(2, dtype=d) for d in (t.float16, t.bfloat16, t.float32, t.uint8))
    first, mask = t.tensor([0]), t.tensor([True, False])
    pad, written = t.nn.functional.pad, half.clone()
    written[0] = 1e6
    refused = (
        lambda: half.masked_fill(mask, -1e9), lambda: half.masked_fill(mask, t.tensor(-1e9)), lambda: brain.fill_(1e39),
        lambda: half.scatter(0, first, 1e6), lambda: single.scatter(0, first, 1e39), lambda: half.clamp(max=1e6),
        lambda: single.clamp(-1e39, 1e39), lambda: pad(half, (1, 1), value=1e6), lambda: t.full((2,), 1e6, dtype=t.float16),
        lambda: byte.fill_(-0.5), lambda: byte.masked_fill(mask, -1.5), lambda: byte.scatter(0, first, 300),
        lambda: byte.__setitem__(0, 255.5), lambda: half.__setitem__(0, 1j), lambda: t.full((1,), 127.5, dtype=t.int8),
    )  # fmt: skip
    return (
        [refusal(each, 70) for each in refused],
        (
            written,
            half.new_full((1,), 1e6),
            half[:1].clone().fill_(1e6),
            half.fill_(t.tensor(1e6)),
            byte.scatter(0, first, -1),
            byte.fill_(-1),
        ),
    )


def gradients_beside_whole_numbers(t):
    """What an operation converts is converted in its gradient, too: a logarithm of 8 bits is no half-precision number."""
    found = []
    for kind in (t.uint8, t.int16, t.int64):
        whole = t.tensor([3, 7, 1]).to(kind)
        for run in (
            lambda x, n: n**x,
            lambda x, n: t.xlogy(x, n),
            lambda x, n: t.special.xlog1py(x, n),
            lambda x, n: t.logaddexp(x, n),
        ):
            x = t.tensor([0.5, 0.25, 0.75], dtype=t.float64, requires_grad=True)
            (g,) = t.autograd.grad(run(x, whole).sum(), x, create_graph=True)
            found.append((g, t.autograd.grad(run(x, whole).sum(), x)[0], g.requires_grad))
    return found


def numbers_that_do_not_fit_what_they_are_computed_with(t):
    """Half precision is computed in single, where the number is not written into a result."""
    f = t.nn.functional
    runs = (
        lambda x, n: f.threshold(x, n, 0), lambda x, n: f.threshold_(x, 0, n), lambda x, n: f.elu(x, n), lambda x, n: f.celu_(x, n),
        lambda x, n: f.leaky_relu(x, n), lambda x, n: f.rrelu(x, n, n), lambda x, n: f.hardtanh(x, -1, n), lambda x, n: f.softplus(x, n),
        lambda x, n: f.hardshrink(x, n), lambda x, n: f.softshrink(x, n), lambda x, n: t.lerp(x, x, n), lambda x, n: x.add_(x, alpha=n),
        lambda x, n: t.sub(x, 1, alpha=n), lambda x, n: t.rsub(x, x, alpha=n), lambda x, n: t.addcmul(x, x, x, value=n),
        lambda x, n: t.addmv(x, x.expand(3, 3), x, alpha=n), lambda x, n: t.addmm(x, x.expand(3, 3), x.expand(3, 3), beta=n),
        lambda x, n: t.addr(x, x, x, alpha=n), lambda x, n: x.index_add(0, t.tensor([0]), x[:1], alpha=n), lambda x, n: x**n,
        lambda x, n: t.linspace(0, n, 3, dtype=x.dtype), lambda x, n: t.add(x.to_sparse(), x.to_sparse(), alpha=n).to_dense(),
    )  # fmt: skip
    numbers = (
        (t.float32, 1e300), (t.float16, 1e6), (t.bfloat16, 1e300), (t.int32, 2**40), (t.uint8, 300), (t.float32, float("inf")),
    )  # fmt: skip
    found = []
    for i, run in enumerate(runs):
        for kind, number in numbers:
            try:
                found.append(str(run(t.ones(3, dtype=kind), number).tolist()))
            except NotImplementedError:  # a type that the operation does not have
                found.append("")
            except RuntimeError as error:
                found.append(str(error).splitlines()[0])
        if i == len(runs) - 1:
            found[-5] = ""  # (PyTorch does not add sparse tensors of half precision)
    return found


def numbers_that_do_not_fit_beside_a_choice(t):
    mask, small = t.tensor([True, False]), t.tensor([1, 2], dtype=t.uint8)
    texts = [refusal(lambda n=n: t.where(mask, small, n), "without overflow") for n in (300, -300)]
    return texts, t.where(mask, small, -1), t.where(mask, 7, small), t.where(mask, t.tensor([1.0, 2.0]), 2**40)


def cosines_of_two_types(t):
    """Norms are taken in the types that the tensors have."""
    x, y = t.linspace(-2, 3, 6).view(2, 3), t.linspace(1, 4, 6).view(2, 3)
    found = [t.cosine_similarity(x, y.to(kind)) for kind in (t.bfloat16, t.float64, t.int64)]
    return [*found, t.cosine_similarity(x, t.tensor(2.0, dtype=t.float64))]


def random_numbers_that_are_none(t):
    def drawn(kind, draw):
        none = t.empty(0, 2, dtype=kind)
        try:
            return str(draw(none).dtype)
        except (RuntimeError, NotImplementedError) as error:
            return type(error).__mro__[1 if type(error).__module__ != "builtins" else 0].__name__

    draws = (
        lambda x: t.randn(0, dtype=x.dtype), t.randn_like, lambda x: t.normal(0.0, 1.0, (0,), dtype=x.dtype), lambda x: x.normal_(),
        lambda x: x.log_normal_(), lambda x: x.exponential_(), lambda x: x.geometric_(0.5),
    )  # fmt: skip
    return [drawn(kind, draw) for kind in (t.int32, t.bool, t.float32) for draw in draws] + [
        refusal(lambda: t.empty(0, dtype=t.int32).uniform_()), refusal(lambda: t.empty(0, dtype=t.int32).cauchy_()),
    ]  # fmt: skip


def least_squares_of_nothing(t):
    found = []
    for shape in ((0, 0), (0, 3), (3, 0), (0, 3, 3), (2, 3, 0), (2, 0, 3)):
        for driver in ("gels", "gelsy", "gelsd", "gelss"):
            made = t.linalg.lstsq(t.ones(shape), t.ones((*shape[:-1], 2)), driver=driver)
            found.append([tuple(each.shape) for each in made])
    return found


def questions_without_a_target(t):
    x, target = t.tensor([1.0, float("nan")]), t.empty(2, dtype=t.bool)
    return [refusal(lambda ask=ask: ask(x, out=target), 0)[0] for ask in (t.isnan, t.isinf, t.isfinite, t.isreal)], [
        t.isneginf(x, out=target) is target, t.isnan(input=x),
    ]  # fmt: skip


def copies_of_a_class_on_the_meta_device(t):
    """Its `clone` makes them, as of everything that has no memory."""

    class Around(t.Tensor):
        __slots__ = ["elem"]

        @staticmethod
        def __new__(cls, elem):
            made = t.Tensor._make_subclass(cls, elem.to("meta"), elem.requires_grad)
            made.elem = elem
            return made

        def clone(self):
            return type(self)(self.elem.clone())

    x = Around(t.ones(2))
    x.note = "kept"
    copied = copy.deepcopy(x)
    return type(copied).__name__, copied.elem.tolist(), copied.elem is x.elem, copied.note, str(copied.device)


def sparse_products_of_whole_numbers_stay_whole(t):
    x = t.eye(2, dtype=t.int32)
    found = [
        t.sparse.addmm(x, x.to_sparse(), x),
        t.sparse.addmm(x, x.to_sparse(), x, alpha=2.0),
        t.addmm(x, x.to_sparse(), x, beta=3),
    ]
    return found, refusal(lambda: t.sparse.addmm(x, x.to_sparse(), x, alpha=2**40), 80)


def masked_functions_of_bool_and_complex(t):
    """What has no least or greatest value is refused where the mask would need one, and computed where there is no mask."""
    found = []
    for x in (t.tensor([True, False, True]), t.tensor([1 + 1j, 2, 0])):
        for name in ("amax", "amin", "logsumexp", "argmax", "softmax", "softmin", "mean"):
            for mask in (None, t.tensor([True, True, False])):
                function = getattr(t.masked, name)
                found.append(refusal(lambda: (y := function(x, 0, mask=mask)).tolist() and str(y.dtype), 40))
    whole = t.ones(2, dtype=t.int32)
    return (
        found,
        refusal(lambda: t.masked.mean(whole, 0), 120),
        refusal(lambda: t.masked.mean(whole * 1.0, 0, dtype=t.int8), 120),
    )


def steps_in_small_types(t):
    return (
        [t.linspace(a, b, 4, dtype=t.uint8).tolist() for a, b in ((-2, 0), (-1, -4), (0.5, 9.7), (200, 3))],
        [make(0, 1, n, dtype=t.bool).tolist() for make in (t.linspace, t.logspace) for n in (0, 1)],
        refusal(lambda: t.linspace(0, 1, 2, dtype=t.bool)),
    )


def borders_of_any_number(t):
    z, whole, small = t.ones(2, dtype=t.complex64), t.ones(2, dtype=t.int64), t.ones(2, dtype=t.uint8)
    return (
        [
            t.constant_pad_nd(x, (1, 1), v).tolist()
            for x, v in ((z, 2j), (z, 3), (whole, 1.5), (small, -1), (small, True))
        ],
        refusal(lambda: t.constant_pad_nd(t.ones(2), (1, 1), 1j)),
        refusal(lambda: t.nn.functional.pad(z, (1, 1), value=1j)),
    )


def targets_of_a_histogram(t):
    x, one, two = t.tensor([1.0, 2.0]), t.empty(1), t.empty(2)
    return (
        refusal(lambda: t.histogram(x, 1, out=(one.double(), two)), 80),
        refusal(lambda: t.histogram(x, 1, out=(one, two.double())), 90),
        [each.tolist() for each in t.histogram(x, 1, out=(one, two))],
    )
