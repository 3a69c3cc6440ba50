"""Fourier transforms. Real inputs and outputs only: complex ones are seen as pairs of real numbers."""

from __future__ import annotations

import numpy as np

from ..layers.interpolate import inner
from ..row import Row

PLANES = ((2, 3, 5),)


def pairs(z):
    return np.stack((z.real, z.imag), -1)


def spectrum(name, *args, **options):
    """A transform of a real signal."""
    return lambda t, x: t.view_as_real(getattr(t.fft, name)(x, *args, **options).resolve_conj())


def complexly(name, *args, **options):
    """A transform of a complex signal that is given as pairs."""
    return lambda t, x: t.view_as_real(getattr(t.fft, name)(t.view_as_complex(x.contiguous()), *args, **options))


def signal(name, *args, **options):
    """A transform to a real signal."""
    return lambda t, x: getattr(t.fft, name)(t.view_as_complex(x.contiguous()), *args, **options)


def whole(x):
    return x[..., 0] + 1j * x[..., 1]


def seen(name, *params):
    """An operation that only gradients use, with pairs in and real numbers out."""

    def run(t, x):
        return inner(name, *params)(t, t.view_as_complex(x.contiguous()))

    run.internal = True
    return run


def seen_from_real(name, *params):
    def run(t, x):
        return t.view_as_real(inner(name, *params)(t, x))

    run.internal = True
    return run


ROWS = [
    Row("fft_r2c", spectrum("fft"), PLANES, lambda x: pairs(np.fft.fft(x))),
    Row("fft_r2c", spectrum("rfft", 4, 1, "ortho"), PLANES, lambda x: pairs(np.fft.rfft(x, 4, 1, "ortho")), label="padded"),
    Row("fft_r2c", spectrum("rfftn", dim=(2, 0)), PLANES, lambda x: pairs(np.fft.rfftn(x, axes=(2, 0))), label="many"),
    Row("fft_r2c", spectrum("ihfft", 2), PLANES, lambda x: pairs(np.fft.ihfft(x, 2)), label="inverse"),
    Row("fft_c2c", complexly("fft"), ((3, 4, 2),), lambda x: pairs(np.fft.fft(whole(x)))),
    Row("fft_c2c", complexly("ifft2", norm="forward"), ((3, 4, 2),), lambda x: pairs(np.fft.ifft2(whole(x), norm="forward")),
        label="inverse"),
    Row("fft_c2c", complexly("fftn", (2, 6)), ((3, 4, 2),), lambda x: pairs(np.fft.fftn(whole(x), (2, 6), (0, 1))), label="sizes"),
    Row("fft_c2r", signal("irfft"), ((3, 4, 2),), lambda x: np.fft.irfft(whole(x))),
    Row("fft_c2r", signal("irfft", 5), ((3, 4, 2),), lambda x: np.fft.irfft(whole(x), 5), label="odd"),
    Row("fft_c2r", signal("irfft2", (5, 4)), ((3, 4, 2),), lambda x: np.fft.irfft2(whole(x), (5, 4)), label="sizes"),
    Row("fft_c2r", signal("hfft", norm="ortho"), ((3, 4, 2),), lambda x: np.fft.hfft(whole(x), norm="ortho"), label="mirrored"),
    Row("fft_r2c_backward", seen("fft_r2c_backward", (1,), 0.5, True, 5), ((2, 3, 2),),
        lambda x: 2.5 * np.fft.ifft(whole(x), 5).real),
    Row("fft_c2r_backward", seen_from_real("fft_c2r_backward", (1,), 0.5), ((2, 5),),
        lambda x: pairs(0.5 * np.fft.rfft(x) * [1, 2, 2])),
]  # fmt: skip
