"""oneDNN's C interface: finding and loading the library, its engine and stream, its threads.

NOTE [One at a time]: a product uses all threads, so only one runs at a time: `running` is held meanwhile. Another thread of
the program that wants one does not wait, it computes in NumPy (the offer gives NotImplemented).

NOTE [Fork]: the threads of libgomp do not live on in a forked process, and the next loop there would wait for them for
ever. With one thread it never asks for them: that is what a child gets.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from ctypes import POINTER, byref, c_char, c_float, c_int, c_int64, c_size_t, c_void_p
from typing import Any

from ... import config
from .. import registry, threads

# How often an idle thread of libgomp looks for work before it sleeps (some 50 µs). Its own default of milliseconds
# would keep a processor from the threads of other loops.
SPINS = "3000"

running = threading.Lock()
_forked = False


class Failed(RuntimeError):
    """oneDNN does not do this: another kernel does."""


class Argument(ctypes.Structure):
    """One argument of a primitive: which, and its memory."""

    _fields_ = [("arg", c_int), ("memory", c_void_p)]


Sizes = POINTER(c_int64)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "engine_create": (POINTER(c_void_p), c_int, c_size_t),
    "stream_create": (POINTER(c_void_p), c_void_p, c_int),
    "memory_desc_create_with_strides": (POINTER(c_void_p), c_int, Sizes, c_int, Sizes),
    "memory_desc_create_with_tag": (POINTER(c_void_p), c_int, Sizes, c_int, c_int),
    "memory_create": (POINTER(c_void_p), c_void_p, c_void_p, c_void_p),
    "memory_set_data_handle": (c_void_p, c_void_p),
    "primitive_create": (POINTER(c_void_p), c_void_p),
    "primitive_execute": (c_void_p, c_void_p, c_int, POINTER(Argument)),
    "reorder_primitive_desc_create": (POINTER(c_void_p), c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "matmul_primitive_desc_create": (POINTER(c_void_p), *[c_void_p] * 6),
    "convolution_forward_primitive_desc_create": (
        POINTER(c_void_p), c_void_p, c_int, c_int, *[c_void_p] * 4, *[Sizes] * 4, c_void_p,
    ),
    "convolution_backward_data_primitive_desc_create": (
        POINTER(c_void_p), c_void_p, c_int, *[c_void_p] * 3, *[Sizes] * 4, c_void_p, c_void_p,
    ),
    "convolution_backward_weights_primitive_desc_create": (
        POINTER(c_void_p), c_void_p, c_int, *[c_void_p] * 4, *[Sizes] * 4, c_void_p, c_void_p,
    ),
}  # fmt: skip


def missing() -> str | None:
    """What is missing, in words, or None."""
    if not config.ONEDNN:
        return "turned off by CLARION_ONEDNN=0"
    if _path() is None:
        return "oneDNN is not installed: pip install clarion[fast]"
    if _failure:
        return _failure[0]
    return None


_failure: list[str] = []


@functools.cache
def _path() -> str | None:
    """The library's file: its package puts it into the environment's folder `lib`."""
    folders = [sys.prefix, os.path.join(os.path.expanduser("~"), ".local"), *filter(None, sys.path)]
    paths = (os.path.join(folder, "lib", "libdnnl.so.3") for folder in folders)
    return next((path for path in paths if os.path.exists(path)), None)


class Library:
    """The loaded library: `library().memory_create(…)` calls dnnl_memory_create, and raises where that fails."""

    def __init__(self, path: str) -> None:
        before = os.environ.get("GOMP_SPINCOUNT")
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
        try:
            self.file = ctypes.CDLL(path)
        finally:
            if before is None:
                del os.environ["GOMP_SPINCOUNT"]
        for name, types in _FUNCTIONS.items():
            function = getattr(self.file, f"dnnl_{name}")
            function.argtypes, function.errcheck = types, _checked
            setattr(self, name, function)
        self.sgemm = self.file.dnnl_sgemm
        self.sgemm.argtypes = (
            c_char, c_char, c_int64, c_int64, c_int64, c_float, c_void_p, c_int64, c_void_p, c_int64, c_float, c_void_p,
            c_int64,
        )  # fmt: skip
        self.sgemm.errcheck = _checked
        self.query_md = self.file.dnnl_primitive_desc_query_md
        self.query_md.argtypes, self.query_md.restype = (c_void_p, c_int, c_int), c_void_p
        self.same_md = self.file.dnnl_memory_desc_equal
        self.same_md.argtypes = (c_void_p, c_void_p)
        self.engine, self.stream = c_void_p(), c_void_p()
        self.engine_create(byref(self.engine), 1, 0)
        self.stream_create(byref(self.stream), self.engine, 1)
        threads.follow(self._use_threads)
        os.register_at_fork(after_in_child=self._in_child)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"oneDNN's {name} is not declared in library.py")

    def _use_threads(self, count: int) -> None:
        self.file.omp_set_num_threads(1 if _forked else count)

    def _in_child(self) -> None:
        global _forked, running
        _forked, running = True, threading.Lock()
        self.file.omp_set_num_threads(1)


def _checked(status: int, function: Any, arguments: Any) -> int:
    if status:
        raise Failed(f"{function.__name__}: status {status}")
    return status


@functools.cache
def library() -> Library:
    """The library, loaded at first use; where that fails, the backend withdraws its offers."""
    path = _path()
    try:
        if path is None:
            raise OSError(missing())
        return Library(path)
    except (OSError, AttributeError, Failed) as error:
        _failure.append(f"oneDNN cannot be loaded: {error}")
        registry.withdraw("onednn")
        raise Failed(_failure[0]) from error
