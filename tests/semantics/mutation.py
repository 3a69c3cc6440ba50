"""allow_mutation_on_saved_tensors: values saved for backward may be overwritten, and backward still sees them."""

from __future__ import annotations

from .programs import double, refusal


def _allowed(t):
    return t.autograd.graph.allow_mutation_on_saved_tensors()


def base(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.sum().backward()
    return a.grad


def without_it(t):
    a = double(t)
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    return refusal(out.backward)


def several_writes(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        first = (b**2).sum()
        b.mul_(3)
        second = (b**2).sum()
        b.zero_()
        (first + second).backward()
    return a.grad


def write_through_view(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
        b[0].zero_()
        b.view(3, 1)[1:] = 7.0
        out.backward()
    return a.grad


def saved_output_written(t):
    with _allowed(t):
        a = double(t)
        y = a.exp()
        out = y.sum()
        y.zero_()
        out.backward()
    return a.grad


def saved_output_of_softmax(t):
    with _allowed(t):
        a = double(t)
        y = a.softmax(0)
        out = (y * t.tensor([1.0, 2.0, 3.0], dtype=t.float64)).sum()
        y.detach().zero_()
        out.backward()
    return a.grad


def detach_write(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b * b).sum()
        b.detach().add_(5)
        out.backward()
    return a.grad


def leaf_written_under_no_grad(t):
    with _allowed(t):
        a = double(t)
        out = (a * a).sum()
        with t.no_grad():
            a.add_(10)
        out.backward()
    return a.grad, a


def mask_assignment(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
        b[b > 1] = 0.0
        out.backward()
    return a.grad


def out_argument(t):
    with _allowed(t):
        a = double(t)
        w = t.ones(3, dtype=t.float64)
        out = (a * w).sum()
        t.add(w, 5, out=w)
        out.backward()
    return a.grad


def copy_in_place(t):
    with _allowed(t):
        a = double(t)
        w = t.ones(3, dtype=t.float64)
        out = (a * w).sum()
        w.copy_(t.zeros(3, dtype=t.float64))
        out.backward()
    return a.grad, w


def written_in_backward_hooks(t):
    with _allowed(t):
        a = double(t)
        w = t.ones(3, dtype=t.float64)
        y = a * w
        y.register_hook(lambda g: None if w.zero_() is w else g)
        y.sum().backward()
    return a.grad


def double_backward(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**3).sum()
        b.zero_()
        (g,) = t.autograd.grad(out, a, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), a)
    return g, h


def backward_outside(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
    return refusal(out.backward)


def nested(t):
    def run():
        with _allowed(t):
            with _allowed(t):
                pass

    return refusal(run)


def usable_again_after_nesting_failed(t):
    refusal(lambda: nested(t))
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
        b.zero_()
        out.backward()
    return a.grad


def after_the_block_checks_are_back(t):
    with _allowed(t):
        pass
    a = double(t)
    b = a.clone()
    out = (b**2).sum()
    b.zero_()
    return refusal(out.backward)


def exception_leaves_the_mode(t):
    try:
        with _allowed(t):
            raise KeyError
    except KeyError:
        pass
    with _allowed(t):
        return "entered again"


def retained_graph(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = (b**2).sum()
        b.mul_(2)
        out.backward(retain_graph=True)
        b.mul_(2)
        out.backward()
    return a.grad


def inplace_of_inplace(t):
    with _allowed(t):
        a = double(t)
        b = a.clone()
        b.sin_()
        b.cos_()
        b.sum().backward()
    return a.grad


def sigmoid_chain_in_place(t):
    with _allowed(t):
        a = double(t)
        b = a * 1
        b.sigmoid_()
        b.mul_(2)
        b.exp_()
        b.sum().backward()
    return a.grad


def custom_function_saved(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    with _allowed(t):
        a = double(t)
        b = a.clone()
        out = F.apply(b).sum()
        b.zero_()
        out.backward()
    return a.grad


def factory_tensor_as_operand(t):
    with _allowed(t):
        a = double(t)
        steps = t.arange(3, dtype=t.float64)
        total = 0
        for _ in range(3):
            total = total + (a * steps).sum()
            steps.add_(1)
        total.backward()
    return a.grad


def backward_in_another_block(t):
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        a = t.ones(2, requires_grad=True)
        out = (a**2).sum()
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        try:
            out.backward()
        except AssertionError as error:
            return "outside of the 'allow_mutation_on_saved_tensors' context" in str(error)
