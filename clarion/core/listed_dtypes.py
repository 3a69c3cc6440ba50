"""Types that PyTorch lists and clarion has no arithmetic for: they can be named and compared; a tensor of them is refused."""

from __future__ import annotations

from typing import Any

from ..errors import NotSupportedError
from .dtypes import complex32, dtype


class ListedDtype(dtype):
    """A type that exists by name."""

    __slots__ = ()

    def __init__(self, name: str, itemsize: int, category: int, signed: bool) -> None:
        self.name = self.old = name
        self.category = category
        self.itemsize = itemsize
        self.is_floating_point, self.is_complex, self.is_signed = category == 2, category == 3, signed

    @property
    def numpy(self) -> Any:  # type: ignore[override]
        """Refused: there is no such array."""
        raise NotSupportedError(
            f"clarion has no tensors of torch.{self.name}: use float16, bfloat16 or an integer type"
        )

    def __reduce__(self) -> Any:
        return LISTED.__getitem__, (self.name,)


_BITS = ("bits1x8", "bits2x4", "bits4x2", "bits8", "quint4x2", "quint2x4", "quint8")

LISTED: dict[str, ListedDtype] = {
    each.name: each
    for each in (
        ListedDtype("float4_e2m1fn_x2", 1, 2, True),
        *([] if complex32 else [ListedDtype("complex32", 4, 3, True)]),
        *(ListedDtype(f"int{n}", 1, 1, True) for n in range(1, 8)),
        *(ListedDtype(f"uint{n}", 1, 1, False) for n in range(1, 8)),
        *(ListedDtype(name, 1, 1, False) for name in _BITS),
        ListedDtype("bits16", 2, 1, False),
        ListedDtype("qint8", 1, 1, True),
        ListedDtype("qint32", 4, 1, True),
    )
}
