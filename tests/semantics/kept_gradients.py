"""The gradients that leaves keep: their type, their layout, and what else may be said of a tensor."""

from __future__ import annotations

from .programs import refusal


def _doubling(t):
    body = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "backward": staticmethod(lambda ctx, g: g.to(t.float64)),
    }
    return type(t.autograd.Function)("Mine", (t.autograd.Function,), body)


def types_of_gradients(t):
    found = []
    for kind in ("own", None, t.float16):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        if kind != "own":
            x.grad_dtype = kind
        _doubling(t).apply(x).sum().backward()
        found.append((str(x.grad.dtype).split(".")[-1], x.grad.tolist()))
    y = t.tensor([1.0], requires_grad=True, dtype=t.bfloat16)
    y.grad_dtype = None
    (y * 2).sum().backward()
    y.grad = y.grad.to(t.float32)
    (y * 3).sum().backward()
    return found, str(y.grad.dtype).split(".")[-1], y.grad.tolist()


def refusals_of_types(t):
    x = t.ones(2, requires_grad=True)
    product, half = x * 2, t.float16
    x.grad = t.ones(2)

    def set_type(tensor):
        tensor.grad_dtype = half

    found = [
        refusal(lambda: product.grad_dtype, "grad_dtype can only be accessed on leaf tensors"),
        refusal(lambda: set_type(product), "grad_dtype can only be set on leaf tensors"),
        refusal(lambda: set_type(x), "because there is already a gradient with dtype 'float'"),
    ]
    x.grad = None
    set_type(x)

    def assign():
        x.grad = t.ones(2)

    return found, refusal(assign, "to a tensor with grad_dtype 'Half'")


def layouts_of_gradients(t):
    found = []
    for leaf in (t.ones(2, 3).t(), t.ones(2, 3, 4).permute(2, 0, 1), t.ones(4, 4)[:, ::2], t.ones(3).expand(2, 3)):
        leaf = leaf.detach().requires_grad_()
        (leaf * 2).sum().backward()
        found.append(leaf.grad.stride())
        leaf.grad = None
        (leaf * leaf).sum().backward(create_graph=True)
        found.append((leaf.grad.stride(), type(leaf.grad.grad_fn).__name__))
        leaf.grad = None
    return found


def materialized_gradients_can_be_differentiated(t):
    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    loss = (x * x).sum()
    return [
        [
            g.requires_grad
            for g in t.autograd.grad(loss, (x, y), retain_graph=True, create_graph=graph, materialize_grads=True)
        ]
        for graph in (False, True)
    ]


def views_say_what_their_base_says(t):
    x = t.ones(4, requires_grad=True)
    with t.no_grad():
        unrecorded = x[:2]
    with t.inference_mode():
        inferred = x.view(2, 2)
    later = t.ones(4)
    early = later[:2]
    later.requires_grad_()
    found = []
    for view in (unrecorded, inferred, early):
        y = (view * 3).sum()
        y.backward()
        found.append((view.requires_grad, view.is_leaf, y.requires_grad, view.grad, view._base.grad))
    return found


def several_views_of_a_written_base(t):
    x = t.ones(4, requires_grad=True)
    y = x * 1
    a, _ = y.split(2)
    with t.no_grad():
        unrecorded = y[:2]
    y.mul_(2)
    return (
        refusal(
            lambda: a + 1, "is a view and its base or another view of its base has been modified inplace. This view is"
        ),
        refusal(lambda: unrecorded.grad_fn, "A view was created in no_grad mode and its base or another view"),
        unrecorded.requires_grad,
    )


def deletions(t):
    x = t.ones(2, requires_grad=True)
    x.sum().backward()
    del x.grad
    return x.grad, *(
        refusal(lambda name=name: delattr(x, name)) for name in ("data", "requires_grad", "_grad_fn", "_backward_hooks")
    )


def switches_of_backward(t):
    x = t.ones(2, 2, requires_grad=True)

    def written():
        y = x.clone().view(-1)
        y.add_(1)
        return type(y.grad_fn).__name__

    found = [written(), t.autograd.is_view_replay_enabled(), t.autograd.is_multithreading_enabled()]
    with t.autograd._force_original_view_tracking(True), t.autograd.set_multithreading_enabled(False):
        found += [written(), t.autograd.is_view_replay_enabled(), t.autograd.is_multithreading_enabled()]
    return found, t.autograd.is_view_replay_enabled(), t.autograd.is_multithreading_enabled()


def leaves_that_share_a_gradient_keep_their_own(t):
    a, b = t.ones(3, requires_grad=True), t.ones(3, requires_grad=True)
    for _ in range(2):
        ((a + b) * 2 * t.tensor([1.0, 2.0, 3.0])).sum().backward()
    same = a.grad.data_ptr() == b.grad.data_ptr()
    c, d = t.ones(2, 3, requires_grad=True), t.ones(2, 3, requires_grad=True)
    (c + d)[1].backward(t.ones(3))
    c.grad.mul_(5)
    return a.grad, b.grad, same, c.grad, d.grad


def the_last_hook_sees_the_gradient_itself(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]

    def shift(leaf):
        leaf.grad.add_(0.5)

    x.register_post_accumulate_grad_hook(shift)
    seen = []
    node.register_hook(lambda _, grads: seen.append(grads[0].tolist()))
    (x * 2).sum().backward()
    x.grad = None
    x.sum().backward()  # this one is spread out: it is copied
    return seen, x.grad.tolist()
