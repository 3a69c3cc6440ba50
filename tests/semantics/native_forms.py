"""Functions in their native forms, and values that change nothing in a reduction."""

from __future__ import annotations

from .programs import refusal


def norms_that_give_their_statistics(t):
    x = t.arange(24.0, dtype=t.float64).view(2, 4, 3).sin().requires_grad_()
    weight = t.arange(4.0, dtype=t.float64).requires_grad_()
    mean, var = t.zeros(4, dtype=t.float64), t.ones(4, dtype=t.float64)
    layer = t.native_layer_norm(x, (3,), None, None, 1e-5)
    batch = t.native_batch_norm(x, weight, None, mean, var, True, 0.1, 1e-5)
    still = t.native_batch_norm(x, weight, None, mean, var, False, 0.1, 1e-5)
    group = t.native_group_norm(x, weight, None, 2, 4, 3, 2, 1e-5)
    (layer[0].exp().sum() + batch[0].exp().sum() + still[0].sum() + group[0].exp().sum()).backward()
    return layer, batch, still[0], still[1].shape, group, mean, var, x.grad, weight.grad


def statistics_written_where_they_belong(t):
    x = t.arange(12.0).view(3, 4)
    room = t.empty(0), t.empty(0), t.empty(0)
    given = t.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5, out=room)
    return [a is b for a, b in zip(given, room, strict=True)], room


def what_dropout_left_and_where(t):
    t.manual_seed(0)
    x = t.arange(24.0, dtype=t.float64).requires_grad_()
    left, kept = t.native_dropout(x, 0.25, True)
    left.exp().log().sum().backward()
    return left, kept, kept.requires_grad, t.native_dropout(x, 0.25, False), t.native_dropout(x, 1.0, None), x.grad


def normal_numbers_have_the_shape_of_their_tensors(t):
    zeros = t.zeros(2)
    return [refusal(lambda a=a: t.normal(*a), 60) for a in ((zeros, 1, 3), (0, zeros, 3), (zeros, zeros, (2,)), (0, 1))]


def statistics_of_a_batch(t):
    mean, var = t.zeros(2), t.ones(2)
    found = t.batch_norm_update_stats(t.arange(8.0).view(4, 2), mean, var, 0.5)
    return found, mean, var, refusal(lambda: t.batch_norm_update_stats(t.ones(0, 2), mean, var, 0.5), 80)


def what_changes_nothing(t):
    identity = t.masked._reduction_identity
    names = ("sum", "masked.prod", "amax", "amin", "logsumexp", "mean", "norm")
    return [[identity(name, x) for name in names] for x in (t.ones(2), t.ones(2, dtype=t.int8))]


def losses_of_every_element(t):
    x = t.arange(6.0).view(2, 3)
    log = t.zeros(5, 2, 3).log_softmax(2)
    lengths = t.tensor([5, 5]), t.tensor([2, 2])
    return (
        t.margin_ranking_loss(x, x + 1, x).shape,
        t.hinge_embedding_loss(x, x.sign()).shape,
        t.triplet_margin_loss(x, x, x + 1).shape,
        t.ctc_loss(log, t.ones(2, 2, dtype=t.int64), *lengths).shape,
        t.margin_ranking_loss(x, x + 1, x, 0.0, 1).shape,
    )


def pooling_with_samples_of_ones_own(t):
    pool = t.nn.functional.fractional_max_pool2d
    refused = [(0, 4, 2), (1, 3, 2), (1, 4, 3), (4, 2)]
    return (
        pool(t.zeros(0, 4, 8, 8), 2, output_size=(3, 3), _random_samples=t.rand(0, 4, 2)).shape,
        [
            refusal(lambda s=s: pool(t.zeros(1, 4, 8, 8), 2, output_size=(3, 3), _random_samples=t.rand(s)), 60)
            for s in refused
        ],
        refusal(lambda: t.distributions.HalfCauchy(1.0, validate_args=True).log_prob(1), 40),
        refusal(lambda: t.ones(2, 2).eig(), 60),
    )


def draws_too_small_to_tell_apart(t):
    t.manual_seed(1)
    drawn = t.distributions.Beta(t.full((20,), 1e-6), t.full((20,), 1e-6)).sample()
    return bool(t.isfinite(drawn).all()), bool((drawn > 0).all())


def chosen_places_of_an_expanded_tensor(t):
    x = t.zeros(1).expand(3)
    x[x == 0] = 1.0
    return x


def normal_numbers_of_single_tensors_and_a_size(t):
    t.manual_seed(3)
    one = t.tensor(1.0)
    drawn = [t.normal(one, 2, (2,)), t.normal(0.0, one * 2, (2,)), t.normal(one, one, (2,))]
    return (
        drawn,
        refusal(lambda: t.normal(one, -1, (2,))),
        refusal(lambda: t.normal(t.tensor(1.0, requires_grad=True), 2.0, (2,)), 60),
    )


def attention_of_several_heads_with_samples_first(t):
    t.manual_seed(0)
    x, weights = t.randn(3, 4, 8), (t.randn(24, 8), t.randn(24), t.randn(8, 8), t.randn(8))
    keys = t.arange(4).expand(3, 4) == 3
    pairs = t.ones(4, 4, dtype=t.bool).triu(1)
    masks = [
        {"mask": keys, "mask_type": 1},
        {"mask": pairs, "mask_type": 0},
        {"mask": pairs.expand(3, 2, 4, 4), "mask_type": 2},
    ]
    attend = lambda **more: t._native_multi_head_attention(x, x, x, 8, 2, *weights, **more)
    found = [attend(**more) for more in ({}, {"average_attn_weights": False}, *masks)]
    with t.autocast("cpu", t.bfloat16):
        lower = attend()
    return (
        [(out.double().round(decimals=3), shares.double().round(decimals=4)) for out, shares in found],
        attend(need_weights=False)[1], [str(each.dtype) for each in lower], refusal(lambda: attend(mask=pairs)),
    )  # fmt: skip


def special_functions_of_two_bytes(t):
    """Some are not defined there, whatever they are given beside."""
    found = []
    for kind in (t.float16, t.bfloat16):
        x = t.ones(2, dtype=kind)
        for name in ("bessel_j1", "airy_ai", "erfcx", "ndtri", "log_ndtr", "i0e", "i1e", "ndtr", "entr"):
            found.append(refusal(lambda: str(getattr(t.special, name)(x).dtype)))
        for name in ("zeta", "xlog1py", "chebyshev_polynomial_t", "legendre_polynomial_p"):
            function = getattr(t.special, name)
            found.append(
                (refusal(lambda: str(function(x, 2).dtype)), refusal(lambda: str(function(x, x.float()).dtype)))
            )
    return found
