"""Where clarion differs from PyTorch on purpose (docs/differences.md), it does so as written there."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

import clarion
import clarion.utils.checkpoint
from clarion.errors import Explained


def leaf() -> clarion.Tensor:
    return clarion.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """The garbage collector is off: only reference counting frees anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_errors_explain_themselves_after_the_phrase() -> None:
    y = leaf().exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time") as caught:
        y.backward()
    assert "test_differences.py" in str(caught.value)


def test_exceptions_can_be_sliced() -> None:
    with pytest.raises(Explained) as caught:
        leaf().backward()
    assert caught.value[:10] == "grad can b"


def test_apply_takes_keyword_arguments() -> None:
    class Scale(clarion.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor=2.0):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf()
    Scale.apply(x, factor=5.0).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0, 5.0]


def test_checkpoint_errors_name_lines() -> None:
    calls = []

    def region(x):
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin()

    y = clarion.utils.checkpoint.checkpoint(region, leaf(), use_reentrant=False).sum()
    with pytest.raises(RuntimeError, match="A different number of tensors") as caught:
        y.backward()
    assert "test_differences.py" in str(caught.value)


def test_decorated_coroutines_have_their_mode() -> None:
    seen = []

    @clarion.no_grad()
    async def work() -> bool:
        seen.append(clarion.is_grad_enabled())
        await asyncio.sleep(0)
        return clarion.is_grad_enabled()

    async def main() -> list[bool]:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        seen.append(clarion.is_grad_enabled())
        return [await task, clarion.is_grad_enabled()]

    assert asyncio.run(main()) == [False, True]
    assert seen == [False, True]


def test_decorated_async_generators_have_their_mode() -> None:
    seen = []

    @clarion.no_grad()
    async def work():
        try:
            got = yield clarion.is_grad_enabled()
            await asyncio.sleep(0)
            try:
                yield got, clarion.is_grad_enabled()
            except KeyError:
                yield "caught", clarion.is_grad_enabled()
        finally:
            seen.append(clarion.is_grad_enabled())

    async def main():
        agen = work()
        found = [await agen.asend(None), await agen.asend("sent"), await agen.athrow(KeyError("k"))]
        await agen.aclose()
        return found, clarion.is_grad_enabled()

    assert asyncio.run(main()) == ([False, ("sent", False), ("caught", False)], True)
    assert seen == [False]


def test_gradients_computed_in_inference_mode_are_ordinary() -> None:
    x = leaf()
    y = (x * x).sum()
    with clarion.inference_mode():
        y.backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0]


def test_overlapping_assignment_is_as_if_copied() -> None:
    x = leaf()
    y = x * 1
    y[:2] = y[1:]
    (y * clarion.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.tolist() == [2.0, 3.0, 3.0]
    assert x.grad.tolist() == [0.0, 1.0, 110.0]


def test_lists_of_outputs_are_differentiated() -> None:
    class Pair(clarion.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3]

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x = leaf()
    pair = Pair.apply(x)
    assert isinstance(pair, list)
    (pair[0].sum() + pair[1].sum()).backward()
    assert x.grad.tolist() == [5.0, 5.0, 5.0]


def test_a_returned_leaf_stays_a_leaf() -> None:
    w = leaf()

    class Other(clarion.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return w

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf()
    Other.apply(x).sum().backward()
    assert w.is_leaf
    assert x.grad.tolist() == [5.0, 5.0, 5.0]


def test_pack_hooks_get_outputs_without_history() -> None:
    seen = []

    def pack(value: clarion.Tensor) -> clarion.Tensor:
        seen.append(value.requires_grad)
        with clarion.enable_grad():
            return value * (value * 0 + 1)

    x = leaf()
    with clarion.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        y = x.exp()
    y.sum().backward()
    assert seen == [False]
    assert x.grad.tolist() == y.tolist()


@pytest.mark.usefixtures("no_collector")
def test_checkpoints_are_freed_by_reference_counting() -> None:
    x = leaf()
    y = clarion.utils.checkpoint.checkpoint(lambda v: (v * v).exp(), x, use_reentrant=False)
    clarion.utils.checkpoint.checkpoint(lambda v: (v * v).exp(), y, use_reentrant=False).sum().backward()
    gone = weakref.ref(x), weakref.ref(y)
    del x, y
    assert [reference() for reference in gone] == [None, None]


@pytest.mark.usefixtures("no_collector")
def test_multi_grad_hooks_are_freed_by_reference_counting() -> None:
    x, w = leaf(), leaf()
    clarion.autograd.graph.register_multi_grad_hook((x, w * 1, x * 2), lambda grads: None)
    (x * w).sum().backward()
    gone = weakref.ref(x), weakref.ref(w)
    del x, w
    assert [reference() for reference in gone] == [None, None]


def test_mutation_of_saved_tensors_covers_views_and_items() -> None:
    with clarion.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf()
        y = x.clone()
        loss = (y[:2] ** 2).sum() + (y[1:] ** 3).sum()
        y[1] = 50.0
        y.fill_(100.0)
        loss.backward()
    assert x.grad.tolist() == [2.0, 16.0, 27.0]


def test_every_operation_has_a_tangent() -> None:
    fw = clarion.autograd.forward_ad

    class Half(clarion.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx, dx):
            return dx * 2, None

    with fw.dual_level():
        d = fw.make_dual(clarion.tensor([1.0, 2.0]), clarion.tensor([1.0, 3.0]))
        product = clarion.ones(1).scatter_reduce(0, clarion.tensor([0, 0]), d, "prod")
        assert fw.unpack_dual(product).tangent.tolist() == [5.0]
        assert fw.unpack_dual(clarion.cdist(d[:, None], clarion.zeros(1, 1))).tangent.tolist() == [[1.0], [3.0]]
        x = d.clone()
        assert fw.unpack_dual(x.mul_(x)).tangent.tolist() == [2.0, 12.0]
        one, other = Half.apply(d)
        assert fw.unpack_dual(one).tangent.tolist() == [2.0, 6.0]
        assert fw.unpack_dual(other).tangent is None


def test_steps_and_draws_that_can_be_differentiated() -> None:
    start, grad = leaf(), leaf()
    param = start.clone()
    optimizer = clarion.optim.Adamax([param], differentiable=True)
    for _ in range(3):
        param.grad = grad * 2
        optimizer.step()
    param.sum().backward()
    assert start.grad is not None
    assert grad.grad is not None
    lower = clarion.eye(2).requires_grad_()
    clarion.distributions.Wishart(4.0, scale_tril=lower).rsample().sum().backward()
    assert lower.grad is not None


def test_functions_that_can_be_differentiated() -> None:
    x = clarion.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=clarion.float64, requires_grad=True)
    for function in (lambda x: clarion.vander(x[0], 3), lambda x: clarion.linalg.cond(x, "fro")):
        assert clarion.autograd.gradcheck(function, (x,))


def test_right_where_pytorch_is_not() -> None:
    image = clarion.arange(8.0).reshape(1, 1, 4, 2)
    small = clarion.nn.functional.interpolate(image, (2, 1), mode="bilinear", antialias=True)
    assert small.flatten().tolist() == pytest.approx([27 / 14, 71 / 14])

    table = clarion.zeros(4, 1, requires_grad=True)
    bags = clarion.nn.functional.embedding_bag(
        clarion.tensor([[1, 1, 2, 3]]), table, mode="sum", scale_grad_by_freq=True
    )
    bags.sum().backward()
    assert table.grad.flatten().tolist() == [0.0, 1.0, 1.0, 1.0]  # row 1 comes twice, and counts for half each time

    fw = clarion.autograd.forward_ad
    with fw.dual_level():
        factor = fw.make_dual(clarion.tensor([[1.0, 0.0], [1.0, 1.0]]), clarion.tensor([[0.0, 0.0], [1.0, 0.0]]))
        tangent = fw.unpack_dual(clarion.cholesky_inverse(factor)).tangent
        assert tangent.tolist() == [[2.0, -1.0], [-1.0, 0.0]]  # of [[1 + c², -c], [-c, 1]]
    whole, part = clarion.zeros(3, requires_grad=True), clarion.ones(2, requires_grad=True)
    clarion.as_strided_scatter(whole, part, (2,), (1,), 0).sum().backward()
    assert (whole.grad.tolist(), part.grad.tolist()) == ([0.0, 0.0, 1.0], [1.0, 1.0])


class Cube(clarion.autograd.Function):
    """A custom Function without a rule for vmap or forward mode."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    assert clarion.add(clarion.eye(2).to_sparse_csr(), clarion.ones(2, 2), alpha=3).tolist() == [[4.0, 3.0], [3.0, 4.0]]


def test_products_of_any_function() -> None:
    x = clarion.tensor([1.0, 2.0])
    assert clarion.func.jvp(Cube.apply, (x,), (x,))[1].tolist() == [3.0, 24.0]
    thrice = clarion.func.jacfwd(clarion.func.jacfwd(clarion.func.jacfwd(Cube.apply)))(clarion.tensor(5.0))
    assert thrice.item() == 6.0


def test_slices_of_nothing_and_many_dimensions() -> None:
    assert clarion.ones(6)[6:].storage_offset() == 0
    with pytest.raises(ValueError, match="64"):
        clarion.ones([1] * 65)


def test_operands_of_another_device() -> None:
    there, here = clarion.ones(2, 2, device="meta"), clarion.ones(2, 2)
    for program in (lambda: there @ here, lambda: here.add_(there), lambda: there.add_(here)):
        with pytest.raises(RuntimeError, match="is not on the expected device"):
            program()
    assert (there * clarion.tensor(2.0)).is_meta
    assert there[clarion.tensor([0, 0, 1])].shape == (3, 2)


def test_encoder_layers_compute_in_evaluation_what_they_compute_while_recording() -> None:
    layer, x = clarion.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), clarion.randn(2, 3, 4)
    masks = {
        "src_mask": clarion.tensor([[0.0, -0.5, -1.0], [-0.5, 0.0, -0.5], [-1.0, -0.5, 0.0]]),
        "src_key_padding_mask": clarion.tensor([[False, False, True], [True, True, True]]),
    }
    for name, mask in masks.items():
        recorded = layer(x, **{name: mask})
        with clarion.no_grad():
            assert clarion.allclose(layer(x, **{name: mask}), recorded)
        assert recorded.isfinite().all()
