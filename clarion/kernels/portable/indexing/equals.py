"""The order in which equal elements come out of a sort that does not keep their order: that of the C++ library, step by step.

PyTorch sorts with `std::sort`, and finds the largest with `std::partial_sort` or `std::nth_element` (of libstdc++). Where
elements are equal, what comes first depends on every exchange those make: routers whose scores are equal choose their experts by
it. An element is one number: its rank above, its place in the lower 32 bits; comparisons see the rank alone.
"""

from __future__ import annotations

from typing import Any

from ...registry import kernel

SHORT = 16  # elements that are sorted by insertion, which keeps the order of equals
PARTIAL = 64  # a heap finds the largest if they are one in so many, or fewer


def depth(n: int) -> int:
    """How often a range is cut in two, before a heap takes over."""
    return 2 * (n.bit_length() - 1) if n else 0


MOST = 1 << 16  # elements that Python exchanges; among more, equal ones keep their order (compiled, all are exchanged)


@kernel("exchanged")
def exchanged(xp: Any, elements: Any, k: int, in_order: bool) -> Any:
    """Rows of elements, sorted (k = 0) or with the first k of the order in front; in order, or as they were found."""
    if elements.size > MOST:
        return xp.sort(elements, axis=-1)
    n = elements.shape[-1]
    rows = elements.tolist()
    for row in rows:
        if k == 0:
            _sort(row, n)
        elif k * PARTIAL <= n:
            _heap_select(row, 0, k, n)
            _sort_heap(row, 0, k)
        else:
            _select(row, k - 1, n)
            if in_order:
                _sort(row, k - 1)
    return xp.asarray(rows, dtype=elements.dtype).reshape(elements.shape)


def _sort(e: list[int], n: int) -> None:
    ranges = [(0, n, depth(n))]
    while ranges:
        first, last, left = ranges.pop()
        while last - first > SHORT:
            if left == 0:
                _heap_select(e, first, last, last)
                _sort_heap(e, first, last)
                break
            left -= 1
            cut = _partition(e, first, last)
            ranges.append((first, cut, left))
            first = cut
    _insertion(e, 0, n)


def _select(e: list[int], nth: int, n: int) -> None:
    first, last, left = 0, n, depth(n)
    while last - first > 3:
        if left == 0:
            _heap_select(e, first, nth + 1, last)
            e[first], e[nth] = e[nth], e[first]
            return
        left -= 1
        cut = _partition(e, first, last)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion(e, first, last)


def _partition(e: list[int], first: int, last: int) -> int:
    """Smaller ones before, greater ones behind: the median of three is compared with, and stays in front."""
    low, middle, high = (e[i] >> 32 for i in (first + 1, first + (last - first) // 2, last - 1))
    if low < middle:
        which = 1 if middle < high else 2 if low < high else 0
    else:
        which = 0 if low < high else 2 if middle < high else 1
    at = (first + 1, first + (last - first) // 2, last - 1)[which]
    e[first], e[at] = e[at], e[first]
    pivot = e[first] >> 32
    first += 1
    while True:
        while e[first] >> 32 < pivot:
            first += 1
        last -= 1
        while pivot < e[last] >> 32:
            last -= 1
        if first >= last:
            return first
        e[first], e[last] = e[last], e[first]
        first += 1


def _insertion(e: list[int], first: int, last: int) -> None:
    for i in range(first + 1, last):
        value = e[i]
        rank = value >> 32
        while i > first and rank < e[i - 1] >> 32:
            e[i] = e[i - 1]
            i -= 1
        e[i] = value


def _adjust(e: list[int], first: int, hole: int, size: int, value: int) -> None:
    """Let the hole of a heap sink to the bottom, and the value rise from there."""
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if e[first + child] >> 32 < e[first + child - 1] >> 32:
            child -= 1
        e[first + hole] = e[first + child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        e[first + hole] = e[first + child]
        hole = child
    while hole > top and e[first + (hole - 1) // 2] >> 32 < value >> 32:
        e[first + hole] = e[first + (hole - 1) // 2]
        hole = (hole - 1) // 2
    e[first + hole] = value


def _heap_select(e: list[int], first: int, middle: int, last: int) -> None:
    """The smallest of all, as a heap in front."""
    size = middle - first
    for parent in range((size - 2) // 2, -1, -1):
        _adjust(e, first, parent, size, e[first + parent])
    for i in range(middle, last):
        if e[i] >> 32 < e[first] >> 32:
            value, e[i] = e[i], e[first]
            _adjust(e, first, 0, size, value)


def _sort_heap(e: list[int], first: int, last: int) -> None:
    for end in range(last - 1, first, -1):
        value, e[end] = e[end], e[first]
        _adjust(e, first, 0, end - first, value)
