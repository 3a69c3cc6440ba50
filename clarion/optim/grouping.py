"""Lists of tensors in groups that one operation can take together, as optimizers of libraries want them."""

from __future__ import annotations

from typing import Any

Indices = list[int]
TensorListList = list[list[Any]]


def by_device_and_dtype(
    tensorlistlist: TensorListList, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[TensorListList, Indices]]:
    """Lists that belong together, element by element, in groups by where the first list's tensors are and their type."""
    groups: dict[tuple[Any, Any], tuple[TensorListList, Indices]] = {}
    for i, first in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for into, each in zip(lists, tensorlistlist, strict=True):
            if each:
                into.append(each[i])
        if with_indices:
            places.append(i)
    return groups
