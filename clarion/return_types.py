"""The named tuples that operations with several results return (`torch.return_types`)."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


class _Shown:
    """Prints a named tuple as PyTorch does: one field a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))  # type: ignore[attr-defined, call-overload]
        return f"torch.return_types.{type(self).__name__}(\n{fields})"


def named(name: str, fields: str) -> Any:
    """A named tuple class of that name, with the given fields; found again as `return_types.name`."""
    if name not in globals():
        globals()[name] = type(name, (_Shown, namedtuple(name, fields)), {"__slots__": (), "__module__": __name__})
    return globals()[name]


for _name in ("max", "min", "cummax", "cummin", "median", "nanmedian", "mode", "kthvalue", "sort", "topk"):
    named(_name, "values indices")
named("aminmax", "min max")
named("linalg_slogdet", "sign logabsdet")
named("linalg_qr", "Q R")
named("qr", "Q R")
named("linalg_eigh", "eigenvalues eigenvectors")
named("linalg_svd", "U S Vh")
named("svd", "U S V")
named("slogdet", "sign logabsdet")
named("linalg_inv_ex", "inverse info")
named("linalg_solve_ex", "result info")
named("linalg_cholesky_ex", "L info")
