"""Which functions mixed precision casts, and to what: said where they are written, by `@autocast(policy)`.

    lower     products: computed in the lower precision
    float32   losses, decompositions, what loses too much: computed in float32
    widest    all arguments in the widest type among them
    plain     computed as it comes, though it is written with functions that are cast

The policies are PyTorch's for the CPU; on a GPU some functions have another one (`ON_GPU`). How they are carried out stands in
amp/standins.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_POLICIES = ("lower", "float32", "widest", "plain")


class Cast(NamedTuple):
    """A function that is cast; `when`, called with its arguments, says whether this call is."""

    function: Any
    policy: str
    when: Callable[..., bool] | None


CASTS: list[Cast] = []

# PyTorch's lists for CUDA, where they differ from those for the CPU. What they do not name keeps its policy.
ON_GPU: dict[str, str] = dict.fromkeys(
    """
    acos asin cosh cumprod cumsum dist erfinv exp expm1 group_norm layer_norm log log10 log1p log2 log_softmax norm normalize
    pow prod reciprocal rsqrt sinh softmax softmin softplus square sum tan renorm cosine_similarity cdist
    """.split(),  # noqa: SIM905
    "float32",
) | dict.fromkeys(["addcdiv", "addcmul", "atan2", "cross", "dot", "index_put", "scatter_add", "stack"], "widest")
ON_GPU |= dict.fromkeys(
    ["avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"], "plain"
)
ON_GPU |= dict.fromkeys(["mv", "addmv", "addr"], "lower")
# Operators that PyTorch computes by functions of these names.
OPERATORS = {"__pow__": "pow", "__rtruediv__": "reciprocal"}
# These are computed in float32 anyway where kernels take half precision as it is: no wide copy is made of their argument.
WIDE_INSIDE = frozenset(["cross_entropy"])


def autocast(policy: str, when: Callable[..., bool] | None = None) -> Callable[[F], F]:
    """Declare what mixed precision does with a function. It stands next to the function, below `@public`."""
    if policy not in _POLICIES:
        raise ValueError(f"autocast policies are {', '.join(_POLICIES)}, not {policy!r}")

    def declare(function: F) -> F:
        CASTS.append(Cast(function, policy, when))
        return function

    return declare
