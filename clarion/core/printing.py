"""The text of a tensor, character for character as PyTorch prints it.

Everything here works on plain NumPy arrays.  What only a tensor knows (its
``grad_fn``, whether it requires grad) arrives as ready-made suffixes.

Only the elements that will be shown are ever looked at: a summarised array is
cut down to its corners first, and every later decision (width, scientific
notation) is taken on those corners alone.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "OPTIONS",
    "PrintOptions",
    "add_suffixes",
    "format_array",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
    "tensor_text",
]

Array = npt.NDArray[Any]


@dataclasses.dataclass
class PrintOptions:
    """How tensors are printed; the defaults are PyTorch's."""

    precision: int = 4
    threshold: float = 1000  # a float because the "full" profile uses infinity
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None  # None: decided for each tensor from its values


OPTIONS = PrintOptions()
"""The options in force.  Changed in place, so importing the name is safe."""

_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change the print options; those left at None keep their value.

    ``profile`` is "default", "short" or "full" and is applied first, so other
    arguments override it; as in PyTorch, an unknown profile changes nothing.
    ``sci_mode`` is the exception to "None keeps": None is itself a setting
    (automatic), so each call sets it.
    """
    if profile in _PROFILES:
        _assign(dataclasses.asdict(_PROFILES[profile]))
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _assign({name: value for name, value in given.items() if value is not None})
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The current options, as keyword arguments for ``set_printoptions``."""
    return dataclasses.asdict(OPTIONS)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Change the print options within a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_array(array: Array, indent: int = 0) -> str:
    """The nested-bracket text of ``array``.

    ``indent`` is the column at which the text will start; lines after the
    first are indented to match, and it counts towards the line width.
    """
    if array.size == 0:
        return "[]"
    edge = OPTIONS.edgeitems
    summarise = array.size > OPTIONS.threshold
    if summarise and array.ndim > 0 and edge == 0:
        return "[...]"
    is_cut = [summarise and length > 2 * edge for length in array.shape]
    shown = _corners(array, is_cut, edge)
    texts, width = _element_texts(shown)
    if shown.ndim == 0:
        return texts[0]
    return _nest(texts, width, shown.shape, is_cut, indent)


def tensor_text(
    array: Array,
    *,
    prefix: str = "tensor(",
    default_dtype: str,
    dtype_name: str,
    device: str = "",
    suffixes: Sequence[str] = (),
    values: bool = True,
) -> str:
    """The whole ``tensor([...], device=..., size=..., dtype=..., ...)`` text.

    ``dtype_name`` and ``default_dtype`` are names as printed, such as
    ``"torch.float32"``; ``device`` is empty for the CPU.  ``suffixes`` follow
    the size and the dtype.  Without ``values`` there are none to show.
    """
    own_suffixes = [f"device='{device}'"] if device else []
    if not values or array.size == 0:
        # The brackets of an empty tensor tell only the shape (0,), and without
        # elements nothing hints at the dtype.
        show_size = not values or array.ndim != 1
        show_dtype = dtype_name != default_dtype
    else:
        show_size = OPTIONS.edgeitems == 0
        show_dtype = dtype_name not in _implied_dtypes(default_dtype)
    if show_size:
        own_suffixes.append(f"size={array.shape}")
    if show_dtype:
        own_suffixes.append(f"dtype={dtype_name}")
    indent = len(prefix)
    body = prefix + (format_array(array, indent) if values else "...")
    return add_suffixes(body, [*own_suffixes, *suffixes], indent)


def add_suffixes(text: str, suffixes: Sequence[str], indent: int, force_newline: bool = False) -> str:
    """Append ``suffixes`` and the closing parenthesis to ``text``.

    A suffix that does not fit on the line goes to a new one, at ``indent``; with ``force_newline`` the first one does.
    """
    parts = [text]
    # PyTorch reckons the last line two characters longer than it is, and that
    # shows in where it breaks.
    line_length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or line_length + len(suffix) + 2 > OPTIONS.linewidth:
            force_newline = False
            parts.append(",\n" + " " * indent + suffix)
            line_length = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            line_length += len(suffix) + 2
    return "".join(parts) + ")"


def _assign(values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(OPTIONS, name, value)


def _implied_dtypes(default_dtype: str) -> set[str]:
    """The dtypes that the printed elements alone make clear."""
    is_double = default_dtype == "torch.float64"
    default_complex = "torch.complex128" if is_double else "torch.complex64"
    return {default_dtype, default_complex, "torch.int64", "torch.bool"}


def _corners(array: Array, is_cut: Sequence[bool], edge: int) -> Array:
    """``array`` without the middle of each axis marked as cut."""
    if not any(is_cut):
        return array
    kept = [
        np.r_[:edge, length - edge : length] if cut else np.arange(length)
        for length, cut in zip(array.shape, is_cut, strict=True)
    ]
    # One indexing over all axes at once, so that only the corners are copied.
    corners: Array = array[np.ix_(*kept)]
    return corners


def _element_texts(array: Array) -> tuple[list[str], int]:
    """The text of each element in C order, and the width to reckon with.

    Texts can exceed the width: zeros and non-finite numbers do not widen it.
    """
    if array.dtype.kind in "biu":
        return _aligned_integers(array)
    if array.dtype.name == "complex32":
        array = array.astype(np.complex64)
    if array.dtype.kind != "c":
        return _aligned_floats(array)
    real, real_width = _aligned_floats(array.real)
    imag, imag_width = _aligned_floats(array.imag)
    texts = [_complex_text(re, im) for re, im in zip(real, imag, strict=True)]
    return texts, real_width + imag_width + 1  # one more for the "j"


def _complex_text(real: str, imag: str) -> str:
    imag = imag.lstrip()
    sign = "" if imag.startswith("-") else "+"
    return f"{real}{sign}{imag}j"


def _aligned_integers(array: Array) -> tuple[list[str], int]:
    texts = [str(value) for value in array.ravel().tolist()]
    width = max(map(len, texts))
    return [text.rjust(width) for text in texts], width


def _aligned_floats(array: Array) -> tuple[list[str], int]:
    # float64 holds every narrower float exactly; bfloat16 and the like have
    # no Python scalar of their own.
    values = array.ravel().astype(np.float64)
    counts = np.isfinite(values) & (values != 0)
    spec, ending = _float_style(np.abs(values[counts]))
    texts = [format(value, spec) + (ending if math.isfinite(value) else "") for value in values.tolist()]
    counted = (len(text) for text, count in zip(texts, counts.tolist(), strict=True) if count)
    width = max(counted, default=1)
    return [text.rjust(width) for text in texts], width


def _float_style(magnitudes: npt.NDArray[np.float64]) -> tuple[str, str]:
    """The format of the elements and what follows each finite one.

    ``magnitudes`` are the absolute values of the finite nonzero elements.
    """
    whole = (".0f", ".")
    if magnitudes.size == 0:
        return whole
    sci_mode = OPTIONS.sci_mode
    if sci_mode is None:
        # Python floats: the ratio may overflow to infinity without a warning.
        smallest, largest = float(magnitudes.min()), float(magnitudes.max())
        sci_mode = largest / smallest > 1e3 or largest > 1e8 or smallest < 1e-4
    if sci_mode:
        return f".{OPTIONS.precision}e", ""
    if np.array_equal(magnitudes, np.floor(magnitudes)):
        return whole
    return f".{OPTIONS.precision}f", ""


def _nest(
    texts: list[str],
    width: int,
    shape: tuple[int, ...],
    is_cut: Sequence[bool],
    indent: int,
) -> str:
    """Bracket element texts into an array of ``shape``, innermost axis first."""
    last = len(shape) - 1
    rows = [
        _row(items, width, indent + last) for items in _groups(texts, shape[last], " ..." if is_cut[last] else None)
    ]
    for axis in reversed(range(last)):
        separator = "," + "\n" * (last - axis) + " " * (indent + axis + 1)
        rows = [
            "[" + separator.join(items) + "]" for items in _groups(rows, shape[axis], "..." if is_cut[axis] else None)
        ]
    return rows[0]


def _groups(items: list[str], size: int, ellipsis: str | None) -> Iterator[list[str]]:
    """Consecutive groups of ``size``, with the ellipsis where the cut was."""
    for start in range(0, len(items), size):
        group = items[start : start + size]
        if ellipsis is not None:
            group.insert(size // 2, ellipsis)
        yield group


def _row(items: list[str], width: int, indent: int) -> str:
    """One innermost row, broken into lines of whole elements."""
    room = OPTIONS.linewidth - indent
    per_line = max(1, room // (width + len(", ")))
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
