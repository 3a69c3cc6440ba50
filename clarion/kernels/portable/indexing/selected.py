"""Which of several equal elements `kthvalue` names: the one that PyTorch's selection leaves at the place asked for."""

from __future__ import annotations

from typing import Any

MOST = 65_536  # elements of rows with equal ones that are gone through one by one


def named_of_equals(xp: Any, x: Any, k: int, dim: int, found: tuple[Any, Any], keepdim: bool) -> tuple[Any, Any]:
    """The k-th (from 0) elements along a dimension and where they lie, with PyTorch's choice where others equal them."""
    values, places = found
    rows = xp.moveaxis(x, dim, -1)
    kth = (values.squeeze(dim) if keepdim else values)[..., None]
    several = (rows == kth).sum(-1) > 1
    if not several.any() or several.sum() * rows.shape[-1] > MOST:
        return found
    chosen = (places.squeeze(dim) if keepdim else places).copy()
    chosen[several] = [_selected(row, k) for row in rows[several].tolist()]
    return values, xp.expand_dims(chosen, dim) if keepdim else chosen


def _selected(row: list[Any], k: int) -> int:
    """The place of the element that Hoare's selection, with the middle of three as its pivot, brings to place k."""
    held = [(value != value, value) for value in row]  # NaN is larger than all
    at = list(range(len(row)))
    low, high = 0, len(row) - 1

    def swap(i: int, j: int) -> None:
        held[i], held[j], at[i], at[j] = held[j], held[i], at[j], at[i]

    while low < high:
        if high == low + 1:
            if held[low] > held[high]:
                swap(low, high)
            break
        swap(low + (high - low) // 2, low + 1)
        for i, j in ((low + 1, high), (low, high), (low + 1, low)):
            if held[i] > held[j]:
                swap(i, j)
        i, j, pivot = low + 1, high, held[low]
        while True:
            i, j = i + 1, j - 1
            while pivot > held[i]:
                i += 1
            while held[j] > pivot:
                j -= 1
            if j < i:
                break
            swap(i, j)
        swap(low, j)
        low, high = i if j <= k else low, j - 1 if j >= k else high
    return at[k]
