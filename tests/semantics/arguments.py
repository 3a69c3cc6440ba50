"""Arguments that are not what they should be, and such as stand for it: dimensions, sizes, operands, exponents."""

from __future__ import annotations

from .programs import refusal

DIMS = (
    "cumsum",
    "argmax",
    "unsqueeze",
    "unbind",
    "median",
    "softmax",
    "amax",
    "logsumexp",
    "sum",
    "max",
    "sort",
    "squeeze",
)


def _kind(action):
    """The type of the exception alone: of arguments PyTorch's texts list all forms."""
    found = refusal(action, 1)
    return found[0] if isinstance(found, list) else found


def what_is_no_dimension(t):
    x = t.ones(2, 3)
    wrong = "a", 1.5, True, [None]
    return {name: [_kind(lambda name=name, dim=dim: getattr(x, name)(dim)) for dim in wrong] for name in DIMS}


def dimensions_that_are_tensors(t):
    x, dim = t.arange(6.0).view(2, 3), t.tensor(1)
    return {
        name: getattr(x, name)(dim) for name in ("squeeze", "logsumexp", "sort", "median", "cumsum", "sum", "unsqueeze")
    }


def words_about_dimensions(t):
    x = t.ones(2, 3)
    functions = {name: getattr(t, name) for name in ("cumsum", "unsqueeze", "unbind", "argmax")}
    return {name: refusal(lambda f=f: f(x, "a"), "must be int, not str") for name, f in functions.items()}


def what_is_no_size(t):
    x = t.ones(2, 3)
    wrong = (3, 2.0), "a", None, (True, 6)
    return {
        name: [_kind(lambda name=name, size=size: getattr(x, name)(size)) for size in wrong]
        for name in ("view", "reshape", "expand", "repeat")
    }


def operands_that_are_none(t):
    x = t.ones(2)
    names = "add", "mul", "pow", "fmod", "remainder", "floor_divide", "copysign", "eq", "lt"
    return [_kind(lambda name=name: getattr(t, name)(x, None)) for name in names], x == None, x != None  # noqa: E711


def negative_powers_of_whole_numbers(t):
    kinds = t.uint8, t.int8, t.int64
    return (
        [refusal(lambda kind=kind: t.ones(2, dtype=kind) ** -1) for kind in kinds],
        [refusal(lambda kind=kind: t.ones(2, dtype=kind).pow_(-2)) for kind in kinds],
        t.tensor([2.0]) ** -1,
    )


def distances_of_whole_numbers(t):
    x, whole = t.ones(2, 1), t.ones(2, 1, dtype=t.int64)
    pairs = (whole, x), (x, whole), (whole > 0, x)
    return (
        [refusal(lambda a=a, b=b: t.cdist(a, b)) for a, b in pairs],
        refusal(lambda: t.pdist(whole)),
        refusal(lambda: t.eye(2).bool().trace(), 36),
    )
