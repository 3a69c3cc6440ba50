"""`torch.fft`: discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

from .ops.faces.api import with_out as _with_out
from .ops.faces.by_name import give_homes as _give_homes
from .ops.spectral import fourier as _fourier
from .ops.spectral.fourier import fftfreq as fftfreq
from .ops.spectral.fourier import fftshift as fftshift
from .ops.spectral.fourier import ifftshift as ifftshift
from .ops.spectral.fourier import rfftfreq as rfftfreq

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"):
    globals()[_name] = _with_out(f"fft_{_name}", getattr(_fourier, _name))


def _of_planes(name: str, many: Any) -> Any:
    """The transform along two dimensions, the last ones if nothing is said."""

    def function(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return many(input, s, dim, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name[:-1]}n` along two dimensions, the last ones if nothing is said."
    return _with_out(f"fft_{name}", function)


for _name in ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"):
    globals()[_name] = _of_planes(_name, getattr(_fourier, f"{_name[:-1]}n"))

_give_homes(dict(globals()), __name__)

__all__ = [name for name in globals() if name.strip("ir").startswith(("fft", "hfft"))]
