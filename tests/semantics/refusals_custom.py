"""What custom Functions, hooks, checkpoints, optimizers and operations refuse, as in `refusals.py`.

Every program takes the namespace (`clarion`, or PyTorch itself in the comparison) and must raise.
"""

from __future__ import annotations

from .refusal import leaf, refused


def _function(t, backward, forward=None):
    class F(t.autograd.Function):
        pass

    F.forward = staticmethod(forward or (lambda ctx, x: x * 2))
    if backward is not None:
        F.backward = staticmethod(backward)
    return F


@refused("returned an incorrect number of gradients (expected 1, got 2)")
def function_returns_too_many(t):
    _function(t, lambda ctx, g: (g, g)).apply(leaf(t)).sum().backward()


@refused("returned an invalid gradient at index 0 - got [7] but expected shape compatible with [3]")
def function_returns_other_shape(t):
    _function(t, lambda ctx, g: t.ones(7)).apply(leaf(t)).sum().backward()


@refused("save_for_backward can only save variables, but argument 0 is of type int", TypeError)
def function_saves_a_number(t):
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x * 2

    _function(t, lambda ctx, g: g, forward).apply(leaf(t))


@refused("trying to differentiate twice a function that was marked with @once_differentiable")
def once_differentiable_twice(t):
    backward = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = leaf(t)
    y = _function(t, backward).apply(x * x)
    (g,) = t.autograd.grad(y.sum() * y.sum(), x, create_graph=True)
    g.sum().backward()


@refused(
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.",
    NotImplementedError,
)
def function_without_backward(t):
    _function(t, None).apply(leaf(t)).sum().backward()


@refused("Some elements marked as dirty during the forward method were not returned as output.")
def dirty_not_returned(t):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    _function(t, lambda ctx, g: g, forward).apply(leaf(t).clone())


@refused("returned nan values in its 0th output.")
def anomaly_of_nan(t):
    import warnings

    x = t.tensor([0.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with t.autograd.detect_anomaly():
            ((x * 0).sqrt() * 0).sum().backward()


@refused("A different number of tensors was saved during the original forward and recomputation.")
def checkpoint_saves_fewer(t):
    calls = []

    def region(x):
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin()

    t.utils.checkpoint.checkpoint(region, leaf(t), use_reentrant=False).sum().backward()


@refused("Recomputed values for the following tensors have different metadata than during the forward pass.")
def checkpoint_saves_other(t):
    calls = []

    def region(x):
        calls.append(1)
        return (x if len(calls) == 1 else x.repeat(2)).sin()

    t.utils.checkpoint.checkpoint(region, leaf(t), use_reentrant=False).sum().backward()


@refused("Output of saved tensor unpack_hook expected to be a Tensor but got result of type int", TypeError)
def unpack_returns_a_number(t):
    with t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: 3):
        y = leaf(t) * t.ones(3)
    y.sum().backward()


@refused("_push_saved_tensors_default_hooks(): incompatible function arguments.", TypeError)
def unpack_hook_is_nothing(t):
    with t.autograd.graph.saved_tensors_hooks(lambda x: x, None):
        _ = leaf(t) * t.ones(3)


@refused("A saved tensor pack hook is modifying its input in place.")
def pack_writes_in_place(t):
    with t.autograd.graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x):
        _ = leaf(t) * t.ones(3)


@refused("Jacobian mismatch for output 0 with respect to input 0,")
def gradcheck_mismatch(t):
    f = _function(t, lambda ctx, g: g * 3)
    t.autograd.gradcheck(f.apply, (t.ones(2, dtype=t.float64, requires_grad=True),))


@refused("gradcheck expects at least one input tensor to require gradient,", ValueError)
def gradcheck_without_inputs(t):
    t.autograd.gradcheck(lambda x: x, (t.ones(2, dtype=t.float64),))


@refused("can't optimize a non-leaf Tensor", ValueError)
def optimize_a_non_leaf(t):
    t.optim.SGD([leaf(t) * 2], lr=0.1)


@refused("optimizer got an empty parameter list", ValueError)
def optimize_nothing(t):
    t.optim.SGD([], lr=0.1)


@refused("The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped.")
def clip_a_non_finite_norm(t):
    x = leaf(t)
    x.grad = t.full((3,), float("inf"))
    t.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)


@refused("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")
def shapes_that_do_not_broadcast(t):
    _ = t.ones(2) + t.ones(3)


@refused("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
def shapes_that_do_not_multiply(t):
    _ = t.ones(2, 3) @ t.ones(2, 3)


@refused("view size is not compatible with input tensor's size and stride")
def view_of_a_transpose(t):
    t.ones(2, 3).t().view(6)


@refused("Only Tensors of floating point and complex dtype can require gradients")
def integer_data_with_grad(t):
    t.tensor([1, 2], requires_grad=True)
