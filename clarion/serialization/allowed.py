"""What a file may name under `weights_only=True`, and what may be called in what way."""

from __future__ import annotations

import _codecs
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from ..core.devices import device
from ..core.dtypes import ALL, STORED, Size
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, ArgumentValueError
from ..nn.parameter import Parameter
from . import rebuild
from .failures import RefusedError
from .names import REBUILD, torch_name
from .storages import BY_NAME as STORAGES

# Modules of which nothing is allowed, even if the user lists it.
BLOCKED = frozenset(("sys", "os", "posix", "nt"))

_SMALL = (str, int, float, bool, bytes, type(None))
_MAX_PARTS = 10_000


def check_key(key: Any) -> Any:
    """A key of a dict or member of a set. Tuples of tuples of shared tuples can take forever to hash: they are refused."""
    if type(key) in _SMALL or not isinstance(key, tuple):
        return key
    parts, left = [key], 0
    while parts:
        each = parts.pop()
        if isinstance(each, tuple):
            left += len(each) + 1
            if left > _MAX_PARTS:
                raise RefusedError(f"a key of a dict or set has more than {_MAX_PARTS} parts")
            parts.extend(each)
    return key


def _members(args: tuple[Any, ...]) -> list[Any]:
    if not args:
        return []
    if len(args) != 1 or type(args[0]) not in (list, tuple):
        raise RefusedError("a set of the file is not made from a list")
    return [check_key(item) for item in args[0]]


def _ordered(*args: Any) -> Any:
    pairs = [] if not args else args[0]
    if (
        len(args) > 1
        or type(pairs) not in (list, tuple)
        or any(type(p) not in (list, tuple) or len(p) != 2 for p in pairs)
    ):
        raise RefusedError("an OrderedDict of the file is not made from pairs")
    return OrderedDict((check_key(key), value) for key, value in pairs)


def _counter(*args: Any) -> Any:
    if args and (
        len(args) > 1 or type(args[0]) is not dict or any(type(n) not in (int, float) for n in args[0].values())
    ):
        raise RefusedError("a Counter of the file is not made from a dict of numbers")
    return Counter(*args)


def _encode(*args: Any) -> bytes:
    if len(args) == 1:
        args = (*args, "utf-8")
    if len(args) != 2 or type(args[0]) is not str or args[1] not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise RefusedError("_codecs.encode may only turn a string into bytes, as latin1, utf-8 or ascii")
    return args[0].encode(args[1])


def _bytearray(*args: Any) -> bytearray:
    if len(args) == 2 and type(args[0]) is str:
        return bytearray(_encode(*args))
    if args and (len(args) > 1 or type(args[0]) is not bytes):
        raise RefusedError("a bytearray of the file is not made from bytes")
    return bytearray(*args)


def _complex(*args: Any) -> complex:
    if len(args) > 2 or any(type(part) not in (int, float) for part in args):
        raise RefusedError("a complex number of the file is not made from two numbers")
    return complex(*args)


def _parameter(*args: Any) -> Any:
    return rebuild.rebuild_parameter(args[0] if args else None, args[1] if len(args) > 1 else True, None)


def _size(*args: Any) -> Any:
    if len(args) != 1 or type(args[0]) not in (tuple, list) or any(type(n) is not int for n in args[0]):
        raise RefusedError("a torch.Size of the file is not made from whole numbers")
    return Size(*args)


def _device(*args: Any) -> Any:
    if not args or len(args) > 2 or type(args[0]) is not str:
        raise RefusedError("a torch.device of the file has no name")
    return device(*args)


# What may be called -> what is called in its place.
CALLS: dict[Any, Callable[..., Any]] = {
    OrderedDict: _ordered,
    Counter: _counter,
    Parameter: _parameter,
    Size: _size,
    device: _device,
    _codecs.encode: _encode,
    bytearray: _bytearray,
    set: lambda *args: set(_members(args)),
    complex: _complex,
} | {function: function for function in REBUILD.values()}

VALUES: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Size": Size,
    "torch.Tensor": Tensor,
    "torch._tensor.Tensor": Tensor,
    "torch.device": device,
    "_codecs.encode": _codecs.encode,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
    **{f"torch.{d.name}": d for d in (*ALL, *STORED)},
    **STORAGES,
    **REBUILD,
}

Global = Any  # a class or function, or a pair of one and its full name

_marked: list[Global] = []


def add_safe_globals(safe_globals: Iterable[Global]) -> None:
    """Allow classes and functions in files loaded with `weights_only=True`."""
    for each in safe_globals:
        if each not in _marked:
            _marked.append(each)


def get_safe_globals() -> list[Global]:
    """What was allowed by the user."""
    return list(_marked)


def clear_safe_globals() -> None:
    """Allow nothing but the defaults again."""
    _marked.clear()


class safe_globals:
    """Allow classes and functions inside a `with` block."""

    def __init__(self, safe_globals: Iterable[Global]) -> None:
        self.safe_globals = list(safe_globals)

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *_: object) -> None:
        for each in self.safe_globals:
            if each in _marked:
                _marked.remove(each)


def by_user() -> dict[str, Any]:
    """What the user allowed, by full name."""
    found: dict[str, Any] = {}
    for each in _marked:
        if isinstance(each, tuple):
            if len(each) != 2:
                raise ArgumentValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                    f"{len(each)}"
                )
            if type(each[1]) is not str:
                raise ArgumentTypeError(
                    f"Expected second item in tuple to be str of callable full path, but got: {type(each[1])}"
                )
            found[each[1]] = each[0]
        else:
            found[f"{each.__module__}.{each.__qualname__}"] = each
            if (name := torch_name(each)) is not None:  # what files call it
                found[".".join(name)] = each
    return found
