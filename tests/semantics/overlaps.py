"""Writes at places that are read meanwhile, writes that need not be the same each time, and results given a place of another type."""

from __future__ import annotations

from .programs import refusal


def indexed_writes_into_what_is_read(t):
    y, source, places = t.arange(6.0), t.arange(3.0), t.tensor([2, 1, 0])
    mask = t.tensor([True, False, True])
    writes = (
        lambda: y.index_add_(0, places, y[:3]),
        lambda: y.index_copy_(0, places, y[:3]),
        lambda: places.index_fill_(0, places, 0),
        lambda: places.put_(places, places.clone()),
        lambda: y.put_(places, y[:3]),
        lambda: y.index_put_((places,), y[:3]),
        lambda: mask[1:].masked_fill_(mask[:-1], False),
        lambda: source.scatter_(0, places, source),
        lambda: y[3:].index_add_(0, places, y[:3]),  # beside each other
        lambda: y[::2].index_copy_(0, places, y[1::2]),  # between each other
    )
    return [refusal(write, 40) for write in writes], y, places, mask


def without_deterministic_algorithms(t):
    unpool = t.nn.functional.max_unpool2d
    x, places = t.arange(4.0).view(1, 1, 2, 2), t.tensor([0, 1, 2, 3]).view(1, 1, 2, 2)
    t.use_deterministic_algorithms(True)
    try:
        found = [
            refusal(lambda: t.zeros(3).put_(t.tensor([0, 0]), t.ones(2)), 60),
            refusal(lambda: unpool(x, places, 2), 60),
            t.get_deterministic_debug_mode(),
        ]
        t.use_deterministic_algorithms(True, warn_only=True)
        found.append(t.get_deterministic_debug_mode())
    finally:
        t.use_deterministic_algorithms(False)
    return found, refusal(lambda: t.use_deterministic_algorithms(1), 80)


def places_of_another_type(t):
    t.manual_seed(0)
    counts = t.zeros(4, dtype=t.int8)
    drawn = t.bernoulli(t.tensor([0.0, 1.0, 1.0, 0.0]), out=counts)
    pairs = t.zeros(2, dtype=t.complex32).copy_(t.tensor([1.25 + 2.5j, 3 - 1j]))
    pairs[:1] = t.tensor([2 + 4j])
    return (
        drawn is counts,
        counts,
        t.view_as_real(pairs).float(),
        refusal(lambda: t.logcumsumexp(t.ones(2, dtype=t.float64), 0, out=t.zeros(2)), 60),
        refusal(lambda: t.cummax(t.ones(2), 0, out=(t.zeros(2, dtype=t.int16), t.zeros(2, dtype=t.int64))), 60),
    )


def rows_that_are_not_there(t):
    x = t.ones(3, 2)
    return [
        refusal(lambda: t.index_select(x, 1, t.tensor([5])), 60),
        refusal(lambda: t.index_select(x, 0, t.tensor([5])), 26),
        refusal(lambda: t.index_select(x[:0], 0, t.tensor([0])), 60),
        refusal(lambda: t.nn.functional.nll_loss(t.tensor(1.0), t.tensor(0)), 60),
        refusal(lambda: t.nn.functional.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 1).double()), 40),
        refusal(lambda: t.isclose(x, x, 0.1, t.tensor(0.1, requires_grad=True)), 60),
    ]


def writes_into_parts_of_expanded_tensors(t):
    mask, places = t.tensor([[True, False, False], [False, False, True]]), t.tensor([0])
    writes = (
        lambda y: y.masked_fill_(mask, 5.0),
        lambda y: y.__setitem__(mask, 9.0),
        lambda y: y.index_fill_(0, places, 4.0),
        lambda y: y.index_fill_(1, places, 4),
        lambda y: y.index_put_((places,), t.tensor(7.0)),
        lambda y: y.__setitem__((0, 1), 8.0),
    )
    found = []
    for write in writes:
        y = t.arange(3.0).expand(2, 3)
        write(y)
        found.append(y)
    return found


def masks_added_to_places_that_repeat(t):
    mask, places = t.tensor([[True, False], [False, False]]), t.tensor([1, 1])
    written = mask.clone()
    written.index_put_((places,), mask, accumulate=True)
    return (
        mask.index_put((places,), mask, accumulate=True),
        written,
        mask.index_put((places, places), mask[0], accumulate=True),
    )


def what_has_no_derivative_into_a_given_place(t):
    x, mine = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([3.0, 4.0], requires_grad=True)
    found = [
        t.lt(x, 1.5, out=t.empty(2, dtype=t.bool)),
        t.logical_not(x, out=t.empty(2)),
        t.argmax(x, 0, out=t.tensor(5)),
    ]
    t.greater(x, 1.5, out=mine)
    return found, mine, mine.is_leaf, refusal(lambda: t.add(x, x, out=t.empty(2)), 40)


def a_mask_that_is_filled_itself(t):
    """Read element by element before it is written."""
    masks = [t.tensor([True, False, True]) for _ in range(3)]
    masks[0].masked_fill_(masks[0], False)
    masks[1].masked_fill_(masks[1][:], t.tensor(False))
    masks[2].masked_fill_(masks[2], masks[2][0])
    return masks
