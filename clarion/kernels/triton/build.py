"""Triton's compiler without PyTorch: a kernel is compiled once per signature, kept on disk by Triton, and launched through CuPy.

    add = Kernel(source, warps=4)                        # `source` is a `@triton.jit` function
    add.launch((blocks,), (out, a, n), BLOCK=1024)       # arrays, numbers, then the constants of the text

Triton's own launcher asks PyTorch for the device and the stream, and takes 18 µs a call; CuPy's 2 µs beside what the driver takes;
a `Launch`, whose arguments are prepared, half of that.
"""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable
from ctypes import addressof, c_uint64
from functools import cache
from struct import Struct
from typing import Any

import cupy
import numpy as np
import triton
from cupy.cuda import get_current_stream
from cupy_backends.cuda.api import driver
from ml_dtypes import bfloat16
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ...forks import fork_safe

launch_kernel = driver.launchKernel

_SHARED_SIZE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_FREELY_SHARED = 48 * 1024  # bytes of shared memory that a block gets without asking

# How Triton calls the types.
_NAMES: dict[Any, str] = {
    np.dtype(np.float32): "fp32",
    np.dtype(np.float64): "fp64",
    np.dtype(np.float16): "fp16",
    np.dtype(bfloat16): "bf16",
    np.dtype(np.int64): "i64",
    np.dtype(np.int32): "i32",
    np.dtype(np.int16): "i16",
    np.dtype(np.int8): "i8",
    np.dtype(np.uint8): "u8",
    np.dtype(np.bool_): "i1",
}


FLOATS = frozenset(
    [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), np.dtype(bfloat16)]
)  # (bfloat16 is of kind "V")


@cache
def target() -> GPUTarget:
    """The GPU to compile for."""
    return GPUTarget("cuda", int(cupy.cuda.Device().compute_capability), 32)


_compiling = fork_safe(threading.RLock())  # Triton's compiler serves one thread at a time


class Kernel:
    """A Triton function that is compiled at its first launch for each signature."""

    def __init__(self, function: Any, warps: int = 4, stages: int = 3) -> None:
        self.function, self.warps, self.stages = function, warps, stages
        self._ready: dict[Any, Any] = {}

    def ready(self, args: tuple[Any, ...], **constants: Any) -> Any:
        """The compiled function for arguments like these: to be called with a grid and such arguments."""
        return self.of_kinds(tuple([_kind(a) for a in args]), constants)

    def of_kinds(self, kinds: tuple[str, ...], constants: dict[str, Any]) -> Any:
        """The compiled function for a signature."""
        key = (kinds, tuple(constants.items()))
        ready = self._ready.get(key)
        if ready is None:
            with _compiling:
                ready = self._ready.get(key)
                if ready is None:
                    ready = self._ready[key] = self._compile(kinds, dict(constants))
        return ready

    def launch(self, grid: tuple[int, ...], args: tuple[Any, ...], **constants: Any) -> None:
        """Run on the current stream. Numbers that are floats are passed as float32."""
        self.ready(args, **constants)(grid, tuple([np.float32(a) if type(a) is float else a for a in args]))

    def _compile(self, kinds: tuple[str, ...], constants: dict[str, Any]) -> Compiled:
        names = self.function.arg_names
        warps, stages = constants.pop("num_warps", self.warps), constants.pop("num_stages", self.stages)
        plain = [name for name in names if name not in constants]
        signature: dict[str, str] = dict.fromkeys(constants, "constexpr")
        attributes: dict[tuple[int], Any] = {}
        for name, kind in zip(plain, kinds, strict=True):
            signature[name] = kind.removesuffix("/16")
            if kind.endswith("/16"):  # Triton loads wide vectors where it knows that addresses are multiples of 16
                attributes[(names.index(name),)] = [["tt.divisibility", 16]]
        signature = {name: signature[name] for name in names}
        source = ASTSource(self.function, signature, constants, attributes)
        built = triton.compile(source, target=target(), options={"num_warps": warps, "num_stages": stages})
        module = cupy.cuda.function.Module()
        module.load(built.asm["cubin"])
        function = module.get_function(built.metadata.name)
        shared = built.metadata.shared
        if shared > _FREELY_SHARED:
            driver.funcSetAttribute(function.ptr, _SHARED_SIZE, shared)
        return Compiled(module, function, 32 * warps, shared)


class Compiled:
    """A kernel for one signature."""

    def __init__(self, module: Any, function: Any, threads: int, shared: int) -> None:
        self.module = module  # it must live as long as its function
        self.function, self.threads, self.shared = function, threads, shared

    def __call__(self, grid: tuple[int, ...], args: tuple[Any, ...]) -> None:
        """Run on the current stream. (Triton's kernels end in two pointers to scratch memory, which ours do not use.)"""
        grid = grid + (1,) * (3 - len(grid))
        self.function(grid, (self.threads, 1, 1), (*args, 0, 0), self.shared)


class Launch:
    """A launch whose numbers and constants are known: only the arrays, which come first, are given each time, to `run`.

    All arguments lie in memory as the driver reads them, eight bytes each; a call writes down where the arrays are. The first
    `varying` numbers are given each time, too, after the arrays.
    """

    def __init__(
        self, kernel: Kernel, grid: tuple[int, ...], numbers: tuple[Any, ...] = (), varying: int = 0, **constants: Any
    ) -> None:
        self.kernel, self.constants, self.varying = kernel, constants, varying
        self.grid = grid + (1,) * (3 - len(grid))
        self.numbers = tuple([np.float32(a) if type(a) is float else a for a in numbers])
        self.run: Callable[..., None] = self._first

    def __call__(self, *arrays: Any) -> None:
        """Run on the current stream."""
        self.run(*arrays)

    def _first(self, *given: Any) -> None:
        """Compile, and run from now on what is prepared."""
        self.run = self._prepared(given[: len(given) - self.varying])
        self.run(*given)

    def _oddly(self, *given: Any) -> None:
        """Run on arrays that begin anywhere. (Kernels are compiled for those that begin at multiples of 16 bytes, as new ones do.)"""
        self.kernel.launch(self.grid, given + self.numbers[self.varying :], **self.constants)

    def _prepared(self, arrays: tuple[Any, ...]) -> Callable[..., None]:
        """Memory for the arguments, with the numbers written down, and a function that writes down the rest."""
        kinds = tuple([f"*{_NAMES[array.dtype]}/16" for array in arrays]) + tuple([_kind(n) for n in self.numbers])
        compiled = self.kernel.of_kinds(kinds, self.constants)
        written = [0] * len(arrays) + [_bits(n) for n in self.numbers] + [0, 0]
        values = (c_uint64 * len(written))(*written)
        first = addressof(values)
        pointers = (c_uint64 * len(written))(*[first + 8 * i for i in range(len(written))])
        varying = [_CODES[n.dtype.char] for n in self.numbers[: self.varying]]
        pack = Struct(f"{len(arrays)}Q{''.join(varying)}").pack_into
        told = compiled.function.ptr, *self.grid, compiled.threads, compiled.shared, addressof(pointers)
        run = _runner(len(arrays), self.varying)(self._oddly, values, pack, threading.Lock(), *told)
        run.kept = compiled, pointers  # (with itself: another thread may prepare one, too, while this one runs)
        return run  # type: ignore[no-any-return]


# Written out for a number of arrays: a loop over them would cost as much as the driver. What is written down is launched before
# anybody writes again.
_RUNNER = """def make(oddly, values, pack, lock, function, x, y, z, threads, shared, arguments):
    def run({all}):
        {places}
        if ({any}) & 15:
            return oddly({all})
        with lock:
            pack(values, 0, {given})
            launch_kernel(function, x, y, z, threads, 1, 1, shared, get_current_stream().ptr, arguments, 0)
    return run
"""


_CODES = {"f": "f4x", "d": "d", "l": "q", "q": "q", "i": "i4x"}  # numbers of NumPy's types, in eight bytes each


@cache
def _runner(count: int, varying: int = 0) -> Any:
    places, numbers = [f"p{i}" for i in range(count)], [f"n{i}" for i in range(varying)]
    text = _RUNNER.format(
        all=", ".join([*[f"a{i}" for i in range(count)], *numbers]), places="; ".join(f"p{i} = a{i}.data.ptr" for i in range(count)),
        any=" | ".join(places), given=", ".join(places + numbers),
    )  # fmt: skip
    scope: dict[str, Any] = {"launch_kernel": launch_kernel, "get_current_stream": get_current_stream}
    place = f"<clarion launch of {count} arrays{' and numbers' if varying else ''}>"
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    exec(compile(text, place, "exec"), scope)
    return scope["make"]


def _bits(number: Any) -> int:
    """A number as the driver reads it."""
    if type(number) is int:
        return number % 2**64
    return int.from_bytes(np.asarray(number).tobytes().ljust(8, b"\0"), "little")


def _kind(value: Any) -> str:
    """The part of a signature that one argument gives."""
    kind = type(value)
    if kind is int:
        large = "i64" if not -(2**31) <= value < 2**31 else "i32"
        return f"{large}/16" if value % 16 == 0 else large
    if kind is float:
        return "fp32"
    if isinstance(value, np.generic):
        return _NAMES[value.dtype]
    name = f"*{_NAMES[value.dtype]}"
    return f"{name}/16" if value.data.ptr % 16 == 0 else name
