"""Arrays that refuse whatever CuPy's would: without a GPU they show what runs on one.

`cupy_surface.json` holds CuPy's names and the keyword arguments that its functions take, read off CuPy itself. A strict
array is a NumPy array behind that fence: nothing else is found on it or on its namespace, it never becomes a NumPy array by
itself, it does not mix with one, and reductions give arrays, never scalars.
"""

from __future__ import annotations

import functools
import json
import operator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

SURFACE = json.loads((Path(__file__).parent / "cupy_surface.json").read_text())
HOST = {"item", "tolist", "tobytes"}  # these give what lies in the host's memory
FROM_HOST = {"array", "asarray", "ascontiguousarray"}  # and these take it


class Refused(AttributeError, TypeError):
    """CuPy has no such thing."""


class StrictArray:
    """A NumPy array that can do what CuPy's arrays can."""

    __hash__ = None  # type: ignore[assignment]
    answers = False  # functions of NumPy that meet one are the namespace's, as with CuPy's arrays; otherwise refused

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not StrictArray.answers:
            raise Refused(f"numpy.{function.__name__} meets a strict array")
        return getattr(xp, function.__name__)(*args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        scalar = any(isinstance(each, np.generic) for each in args)  # a scalar's operator: `numpy.float32(2) * x`
        if not (StrictArray.answers or scalar) or any(isinstance(each, np.ndarray) for each in args):
            raise Refused(f"numpy.{ufunc.__name__} meets a strict array")
        kwargs = {key: value[0] if key == "out" else value for key, value in kwargs.items()}
        own = getattr(xp, ufunc.__name__)
        return (own if method == "__call__" else getattr(own, method))(*args, **kwargs)

    def __init__(self, inner: np.ndarray) -> None:
        self._inner = inner

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Refused("a strict array is made a NumPy array by itself")

    def __getattr__(self, name: str) -> Any:
        if name not in SURFACE["array"]:
            raise Refused(f"CuPy's arrays have no {name!r}")
        value = getattr(self._inner, name)
        if name == "flags":
            return SimpleNamespace(**{flag: getattr(value, flag) for flag in SURFACE["flags"]})
        if not callable(value) or isinstance(value, np.dtype):
            return wrapped(value)
        return checked(f"ndarray.{name}", value, SURFACE["methods"].get(name), host=name in HOST)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_inner":
            object.__setattr__(self, name, value)
        elif name in ("real", "imag", "shape"):
            setattr(self._inner, name, unwrapped(value))
        else:
            raise Refused(f"{name!r} of CuPy's arrays cannot be set")

    def get(self) -> np.ndarray:
        """The values in the host's memory."""
        return self._inner.copy()

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> StrictArray:
        """Part of the same memory, which can be written (NumPy's cannot)."""
        out = self._inner.diagonal(offset, axis1, axis2)
        out.flags.writeable = self._inner.flags.writeable
        return StrictArray(out)

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._inner[unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._inner[unwrapped(key)] = unwrapped(value)

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Any:
        return (wrapped(part) for part in self._inner)

    def __repr__(self) -> str:
        return f"strict {self._inner!r}"


def _binary(name: str, swapped: bool = False) -> Any:
    plain = getattr(operator, f"__{name}__")

    def apply(self: StrictArray, other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            raise Refused(f"{name} of an array and a {type(other).__name__}")
        mine, other = self._inner, unwrapped(other)
        result = plain(other, mine) if swapped else plain(mine, other)
        return self if result is mine else wrapped(result)

    return apply


def _unary(name: str) -> Any:
    plain = getattr(operator, f"__{name}__")
    return lambda self: wrapped(plain(self._inner))


def _number(kind: type) -> Any:
    return lambda self: kind(self._inner)


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(StrictArray, f"__{_name}__", _binary(_name))
    setattr(StrictArray, f"__r{_name}__", _binary(_name, swapped=True))
    setattr(StrictArray, f"__i{_name}__", _binary(f"i{_name}"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(StrictArray, f"__{_name}__", _binary(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(StrictArray, f"__{_name}__", _unary(_name))
for _name, _kind in {"bool": bool, "int": int, "float": float, "complex": complex, "index": int}.items():
    setattr(StrictArray, f"__{_name}__", _number(_kind))


def wrapped(value: Any) -> Any:
    """A result: every NumPy array or scalar as a strict array."""
    if isinstance(value, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    return type(value)(map(wrapped, value)) if type(value) in (tuple, list) else value


def unwrapped(value: Any) -> Any:
    """An argument: every strict array as what it holds. NumPy's arrays are refused, its scalars are numbers."""
    if isinstance(value, StrictArray):
        return value._inner
    if isinstance(value, np.ndarray):
        raise Refused("a NumPy array meets a strict one")
    if type(value) is dict:
        return {key: unwrapped(each) for key, each in value.items()}
    return type(value)(map(unwrapped, value)) if type(value) in (tuple, list) else value


def checked(name: str, function: Any, keywords: list[str] | None, host: bool = False, from_host: bool = False) -> Any:
    """A function of strict arrays that takes CuPy's keyword arguments only."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if keywords is not None and "kwargs" not in keywords and not set(kwargs) <= set(keywords):
            raise Refused(f"CuPy's {name} takes no {sorted(set(kwargs) - set(keywords))}")
        if not (from_host and isinstance(args[0], (np.ndarray, np.generic))):
            args = unwrapped(args)
        result = function(*args, **unwrapped(kwargs))
        out = kwargs.get("out")
        return out if isinstance(out, StrictArray) else result if host else wrapped(result)

    return call


class StrictUfunc:
    """A universal function with those of its methods that CuPy has for it."""

    def __init__(self, name: str, function: np.ufunc) -> None:
        self.name, self.function = name, function
        self.nin, self.nout = function.nin, function.nout
        self.run = checked(name, function, SURFACE["functions"][name])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.run(*args, **kwargs)
        # Written into an array that was given by its place: that array, not another one.
        return args[self.nin] if len(args) > self.nin and self.nout == 1 and args[self.nin] is not None else result

    def __getattr__(self, name: str) -> Any:
        if self.name not in SURFACE["reduces"].get(name, ()):
            raise Refused(f"CuPy has no {self.name}.{name}")
        keywords = ["axis", "dtype", "out", "keepdims"] if name == "reduce" else ["axis", "dtype", "out"]
        return checked(f"{self.name}.{name}", getattr(self.function, name), keywords)


class StrictNamespace:
    """`xp` for strict arrays: NumPy, as far as CuPy goes."""

    ndarray = StrictArray
    bool = np.bool_

    def __init__(self, module: Any = np, functions: str = "functions") -> None:
        self._module, self._functions = module, functions

    def __getattr__(self, name: str) -> Any:
        if self._functions == "functions" and name in ("linalg", "fft", "special"):
            found: Any = StrictNamespace(scipy.special if name == "special" else getattr(np, name), name)
        elif name == "lib":
            strided = checked("as_strided", np.lib.stride_tricks.as_strided, ["shape", "strides"])
            found = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=strided))
        elif name not in SURFACE[self._functions]:
            raise Refused(f"CuPy has no {self._functions.removesuffix('functions')}{name!r}")
        else:
            found = getattr(self._module, name)
            if isinstance(found, np.ufunc) and name in SURFACE["ufuncs"]:
                found = StrictUfunc(name, found)
            elif callable(found) and not isinstance(found, type):
                found = checked(name, found, self._keywords(name), from_host=name in FROM_HOST)
        setattr(self, name, found)
        return found

    def _keywords(self, name: str) -> list[str] | None:
        known = SURFACE[self._functions]
        return known[name] if type(known) is dict else None


xp = StrictNamespace()
