"""How tensors lie in memory: orders of dimensions, shapes set in place, bits as other types, memory that nobody wrote to."""

from __future__ import annotations

from .programs import refusal


def orders_of_dimensions(t):
    x = t.zeros(2, 3, 4, 5)
    last = x.contiguous(memory_format=t.channels_last)
    unsure = t.zeros(2, 1, 4, 5)
    return (
        x.dim_order(),
        last.dim_order(),
        x.permute(3, 1, 0, 2).dim_order(),
        refusal(lambda: unsure.dim_order(ambiguity_check=True)),
        refusal(lambda: x.dim_order(ambiguity_check="none"))[0],
    )


def bits_of_no_elements(t):
    x = t.zeros(0, 5, 64, dtype=t.float64)
    kinds = (t.float32, t.int64, t.complex128, t.uint8)
    return [(x.view(kind).shape, x.view(kind).stride()) for kind in kinds]


def shapes_set_in_place(t):
    last = t.zeros(2, 3, 4, 5).contiguous(memory_format=t.channels_last)
    return (
        t.zeros(1).resize_(2, 3, 4, 5, memory_format=t.channels_last).stride(),
        t.zeros(1).resize_as_(last).stride(),
        t.zeros(1).resize_as_(last, memory_format=t.preserve_format).stride(),
        refusal(lambda: t.zeros(0).resize_(2**31, 2**31, 2**31)),
    )


def bits_as_larger_numbers(t):
    x = t.zeros(4, 4, 2, dtype=t.int16)
    return (
        refusal(lambda: x.as_strided((4, 4, 2), (2, 1, 1)).view(t.int32)),
        refusal(lambda: x[:, :, 1:].view(t.int32)),
        list(x.view(t.int32).shape),
    )


def memory_that_nobody_wrote_to(t):
    t.use_deterministic_algorithms(True)
    try:
        kinds = (t.float32, t.int8, t.uint8, t.bool, t.int64)
        made = [t.empty(2, dtype=kind) for kind in kinds]
        made += [t.empty_like(t.ones(2)), t.ones(2).new_empty(2), t.tensor([1.0]).resize_(2)]
        t.utils.deterministic.fill_uninitialized_memory = False
        switched = t.utils.deterministic.fill_uninitialized_memory
        return switched, made
    finally:
        t.utils.deterministic.fill_uninitialized_memory = True
        t.use_deterministic_algorithms(False)


def places_that_are_not_there(t):
    x = t.arange(100).view(2, 5, 10)
    y = t.arange(4)

    def write(values):
        y[y > -1] = values

    return (
        refusal(lambda: x[0, 5]),
        refusal(lambda: x[..., 12]),
        refusal(lambda: x[None, 4]),
        refusal(lambda: t.empty(10, 0)[:, [0, 1]], "index is out of bounds for dimension with size 0"),
        refusal(lambda: write(t.tensor([]))),
        refusal(lambda: t.ones(2).flip()),
        refusal(lambda: t.nonzero(t.ones(2), out=t.zeros(0))),
        refusal(lambda: t.nonzero(t.ones(2), as_tuple=True, out=t.zeros(0, dtype=t.int64))),
    )


def reductions_of_nothing(t):
    x, nothing = t.ones(2, 2), t.tensor((), dtype=t.int64)
    return [x.scatter_reduce(0, nothing, x * 3, reduce) for reduce in ("sum", "prod", "mean", "amax", "amin")]


def steps_of_dimensions_of_size_one(t):
    maps = t.arange(32.0).view(2, 1, 16).permute(0, 2, 1)
    seen = (
        maps.view(2, 16, 1, 1),
        maps.reshape(2, 1, 4, 4, 1),
        maps.unsqueeze(0),
        maps.flatten(),
        t.ones(3, 1).t().view(3, 1),
    )
    larger = t.nn.functional.interpolate(maps.reshape(2, 16, 1, 1), size=(2, 2))
    return [list(each.stride()) for each in (*seen, larger, t.nn.functional.relu(larger))]


def what_is_dropped_follows_memory(t):
    images, found = t.ones(2, 4, 3, 3).to(memory_format=t.channels_last), []
    for drop in (t.nn.functional.dropout, t.nn.functional.alpha_dropout, t.nn.functional.feature_alpha_dropout):
        t.manual_seed(0)
        found.append((drop(images, 0.5, True) > 0.9).flatten().tolist())
    return found


def images_of_one_channel(t):
    images, function = t.ones(2, 1, 6, 6), t.nn.functional
    sampled = function.grid_sample(images, t.zeros(2, 6, 6, 2), align_corners=False)
    after = function.max_pool2d(function.conv2d(sampled, t.ones(3, 1, 3, 3)), 2)
    return [list(each.stride()) for each in (sampled, after)], list(after.view(2, -1).shape)


def a_view_is_shared_with_its_base(t):
    base = t.arange(6.0)
    view = base.view(2, 3)
    view.share_memory_()
    base[0] = 9.0
    return t.arange(4.0).view(2, 2).share_memory_().is_shared(), view.is_shared(), base.is_shared(), view.tolist()


def strides_of_dimensions_that_expand_adds(t):
    cases = (
        (t.rand(5), (1, 1, 5)),
        (t.rand(3, 1), (1, 3, 4)),
        (t.rand(2, 3).t(), (1, 3, 2)),
        (t.rand(3, 1, 2), (2, 1, 3, 1, 2)),
        (t.rand(3, 1, 2), (1, 2, 3, 5, 2)),
        (t.rand(()), (1, 2)),
    )
    return [tuple(x.expand(shape).stride()) for x, shape in cases]


def sizes_that_no_memory_holds(t):
    x = t.empty((), dtype=t.float64)
    return (
        refusal(lambda: x.resize_(2, 4, 2**29, 2**29), "Storage size calculation overflowed"),
        refusal(lambda: x.resize_(0, 4, 2**61), "Stride calculation overflowed"),
        refusal(lambda: t.rand(2, 2, 2).to_sparse().t(), "expects a tensor with <= 2 sparse and 0 dense dimensions"),
    )


def results_that_lie_row_by_row(t):
    x, far = t.arange(6.0).view(2, 3).t(), t.arange(3.0).view(3, 1, 1).expand(3, 2, 3)
    made = (
        x.repeat(1, 1),
        x.tile((1,)),
        t.tensordot(x, x, dims=0),
        t.cat([t.tensor([]), x], 1),
        t.cat([t.tensor([]), far], 2),
    )
    return [(list(each.stride()), each.view(-1).tolist()) for each in made]


def masks_among_edges(t):
    mask, edges = t.tensor([True, False]), t.tensor([-1.0, 0.0, 1.0])
    return (
        t.bucketize(mask, edges),
        t.searchsorted(edges, mask),
        refusal(lambda: t.searchsorted(mask, mask), "not implemented for 'Bool'"),
    )


def stacked_images_keep_their_channels_last(t):
    images, volumes = t.zeros(2, 3, 4, 5), t.zeros(2, 3, 4, 5, 6)
    last = images.contiguous(memory_format=t.channels_last)
    deep = volumes.contiguous(memory_format=t.channels_last_3d)
    return (
        [t.stack([last, last], d).stride() for d in range(5)],
        [t.stack([deep, deep], d).stride() for d in range(6)],
        [t.stack([last, images], d).stride() for d in range(5)],
    )
