"""`torch.backends`: what programs ask and set about backends that are not there."""

from __future__ import annotations

from types import SimpleNamespace


class _Absent:
    """A backend that is not there; its switches can be set and do nothing."""

    enabled = False
    benchmark = False
    deterministic = False
    allow_tf32 = False

    def is_available(self) -> bool:
        """Is the backend there? No."""
        return False

    def is_built(self) -> bool:
        """Was the library built with it? No."""
        return False

    def version(self) -> None:
        """There is no version of what is not there."""


cudnn, mps, mkl, mkldnn, openmp, cuda = (_Absent() for _ in range(6))
cuda.matmul = SimpleNamespace(allow_tf32=False)  # type: ignore[attr-defined]
