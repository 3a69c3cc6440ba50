"""Values of tensors, as the diagnoses see them: those of the host as they are, those of a GPU brought there, or read a step later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import modes
from ...core.devices import HALVES, kind_of, to_host, wraps
from ...core.tensor import Tensor
from ...kernels import captures
from ...kernels.batched.levels import Mapped
from ...kernels.coo import Coo
from ...kernels.registry import raw
from ..engine import LOST

NOTHING = np.empty(0)


def whole(found: Any) -> Any:
    """An array; inside `vmap`, that of all samples."""
    while isinstance(found, Mapped):
        found = found.data
    return found


def array(t: Any) -> Any:
    """The values. Those of a device are brought to the host; while its work is being captured, there are none to read, nor
    where a class computes for itself."""
    found = t._array
    if type(found) is not np.ndarray:
        found = whole(found)
    if type(found) is np.ndarray:
        return found
    if type(found) is Coo:
        return found.dense()
    return NOTHING if captures.current() is not None or wraps(found) else to_host(found)


def seen(found: Any) -> Any:
    """Raw values as they can be looked at: those of a device are brought to the host, where that is possible."""
    found = whole(found)
    if type(found) not in HALVES:
        return found
    return LOST if captures.current() is not None else to_host(found)


def some(t: Any, count: int) -> Any:
    """The values; of a device's about so many, evenly taken."""
    found = t._array
    if type(found) is np.ndarray or type(found) is Coo or captures.current() is not None or wraps(found):
        return array(t)
    flat = whole(found).reshape(-1)
    return to_host(flat[:: max(1, flat.size // count)])


def samples_soon(tensors: list[Any], count: int) -> Any:
    """About so many values of each tensor, gathered by a GPU and sent; None of tensors that lie elsewhere."""
    arrays = [t._array for t in tensors]
    if captures.current() is not None or not arrays or not all(type(a) in HALVES for a in arrays):
        return None
    gathered = raw.samples_of_all(arrays, count)
    return None if gathered is None else kind_of(arrays[0]).letter(*gathered)


def finite_soon(values: Any) -> Any:
    """Of raw values of a device: whether all are finite, as a number there that nobody waits for; None of what can be looked at."""
    if isinstance(values, (np.ndarray, np.generic, Tensor)) or type(values) is Coo:
        return None
    if kind_of(values).name == "cpu" and not isinstance(values, Mapped):
        return None
    if captures.current() is not None or isinstance(values, Mapped):
        return True  # nothing can be looked at
    return raw.all_finite(values) if type(values) in HALVES else np.isfinite(values).all()


def letter(numbers: list[Any]) -> Any:
    """Numbers of a device that are sent to the host, to be read later."""
    where = kind_of(numbers[0])
    return where.letter(where.xp.stack(numbers))


def number(t: Any) -> Any:
    found = t._array
    if type(found) is np.ndarray:
        return found.item()
    if isinstance(found, Mapped):
        return whole(found).mean().item()
    if t.is_meta or wraps(found):
        return 0.0  # it has none (and a class that computes for itself is not asked: programs see what it is asked)
    if not late(t):
        return found.item()
    found = _sent("loss", t._array.reshape(1))
    return found[0] if found else 0.0


def late(t: Any) -> bool:
    """On a GPU values are read a step later, unless the session listens closely; while work is captured, never."""
    return type(t._array) is not np.ndarray and (not modes.watched or captures.current() is not None)


def _sent(key: str, values: Any) -> list[float] | None:
    """The values of a device that have arrived last under a name; these are on their way."""
    if captures.current() is not None:
        return None
    from ...kernels.cuda import mail

    return mail.post.read(key, values)


def squares(gradients: list[Any]) -> list[float]:
    arrays = [gradient._array for gradient in gradients]
    if set(map(type, arrays)) == {np.ndarray}:  # as nearly always
        return [_square(values) for values in arrays]
    if not gradients or any(type(whole(gradient._array)) is np.ndarray for gradient in gradients):
        return [_square(array(gradient)) for gradient in gradients]
    if captures.current() is None:
        found = raw.squares_of_all([gradient._array for gradient in gradients])
        if type(found) is not list:
            found = _sent("squares", found) if late(gradients[0]) else found.tolist()
        if found is not None:
            return found
    return [1.0] * len(gradients)  # nothing has arrived: nothing to speak of


def _square(values: Any) -> float:
    """Infinite or NaN if an element is, or if the sum is beyond the range of its type."""
    if values.dtype.kind == "f" and values.dtype.itemsize >= 4:
        flat = values.ravel()
        return float(flat.dot(flat))  # (`np.dot` asks first whether somebody else computes it)
    return float(np.square(np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))).sum())


def all_finite(t: Any) -> bool:
    return bool(np.isfinite(array(t)).all())
