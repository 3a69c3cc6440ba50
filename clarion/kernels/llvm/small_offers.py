"""Which kernels are builtins alone, for small arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from .. import registry
from ..choosing import HEAT
from .kernel import Alone

# Products of small matrices, and of batches of them: their form, and the kernels that are it.
_PRODUCTS = {
    "mm": "fold_mm mm matmul bmm",
    "nt": "fold_nt mm_nt matmul_nt",
    "tn": "fold_tn matmul_tn",
    "linear": "linear linear_rows",
}

# Elements of small arrays by their numbers, and running sums (small_lines.py).
_LINES = "all_below gather index_select index1 scatter scatter_add index_add cumsum reverse_cumsum cumprod"

# Arrays that are seen otherwise (layouts.py).
_SEEN = "alias t transpose permute unsqueeze squeeze_dim select slice expand view"

# Writes that are counted (writes.py).
_WRITES = "zero fill_scalar_into copy clamp uniform normal random_range"


def make() -> None:
    """Make all offers."""
    for form, names in _PRODUCTS.items():
        for name in names.split():
            registry.offer(name, "direct", Alone(partial(_product_card, name, form)), least=1)
    registry.offer("embedding", "direct", Alone(lambda cards: cards.Take("embedding")), least=1)
    for name, loop, together in (("normals_by_sixteen", "normals", 16), ("uniforms_between", "uniforms", 1)):
        registry.offer(name, "direct", Alone(partial(_draw_card, name, loop, together)), least=1)
    for names, kind in (
        (_LINES, "Lines"), ("cat stack masked_fill", "Moves"), ("topk sort sort_stable median_dim", "Sorts"), ("sum_rows total_norm descend_", "Plain"),
        ("index2 index1_backward index2_backward embedding_dense_backward flip constant_pad_nd max_pool2d", "Pairs"),
        ("max_dim min_dim place_along", "Extremes"),
        ("trial_factors remainders are_chances trials_each", "OfWords"), ("std any all", "Totals"),
    ):  # fmt: skip
        for name in names.split():
            registry.offer(name, "direct", Alone(partial(_card, kind, name)), least=1)
    for names, kind in ((_SEEN, "Seen"), ("split", "Parts"), (_WRITES, "Writes")):
        for name in names.split():
            registry.offer(name, "direct", _Later(partial(_card, kind, name)), least=1)
    _beside_rows()


def _beside_rows() -> None:
    """Totals over dimensions that are no rows: asked after the functions of rows, before everything else."""
    for name in ("sum", "mean", "sum_all", "amax", "amin", "var"):
        beside = Alone(partial(_card, "Totals", name))
        beside.ready = partial(registry.rebind, name)
        registry.offers(name)["llvm"].function.beside = beside  # type: ignore[attr-defined]
        registry.rebind(name)


class _Later(Alone):
    """All of these are made after some calls of any: an index asks for several of them, and a program that makes few calls loads nothing."""

    group: ClassVar[list[_Later]] = []
    left = HEAT // 6

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__(make)
        self.group.append(self)

    def warm(self, *args: Any) -> None:
        _Later.left -= 1
        if _Later.left < 0:
            for each in self.group:
                Alone.warm(each)


def _draw_card(name: str, loop: str, together: int, cards: Any) -> Any:
    return cards.Draw(name, loop, together)


def _card(kind: str, name: str, cards: Any) -> Any:
    return getattr(cards, kind)(name)


def _product_card(name: str, form: str, cards: Any) -> Any:
    return cards.Product(name, form)
