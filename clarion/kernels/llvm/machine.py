"""The machine that kernels are compiled for, and the compiler. Objects are kept on disk (kept.py) and loaded without it (objects.py)."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import platform
import threading
from typing import Any

from ... import config
from ...forks import fork_safe
from . import kept, objects

_lock = fork_safe(threading.Lock())
VERSION = 2  # of what is written into objects, beside their source


class NoCompiler(Exception):
    """llvmlite cannot be loaded."""


@functools.cache
def binding() -> Any:
    """llvmlite, or None where it is not installed. (Loading it takes 0.1 s: nobody does so without need.)"""
    if config.COMPILE == "0":
        return None
    try:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except Exception:  # not installed, or not for this machine
        return None
    return llvm


@functools.cache
def installed() -> bool:
    """Is llvmlite there? (Asked without loading it.)"""
    return config.COMPILE != "0" and importlib.util.find_spec("llvmlite") is not None


@functools.cache
def processor() -> tuple[str, int]:
    """What objects are compiled for, in words, and the bytes of a vector register. Does not load LLVM where Linux tells."""
    words: set[str] = set()
    name = ""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "flags":
                    words = set(value.split())
                    break
                name = value.strip() if key.strip() == "model name" else name
    except OSError:
        pass
    if not words:
        llvm = binding()
        if llvm is None:
            raise NoCompiler
        words = {word for word, there in llvm.get_host_cpu_features().items() if there}
        name = llvm.get_host_cpu_name()
    width = 64 if {"avx512f", "avx512dq"} <= words else 32 if "avx2" in words else 16
    return f"{platform.machine()} {platform.system()} {name} {' '.join(sorted(words))} {VERSION}", width


def x86() -> bool:
    """Has the processor the flags of floating-point errors where code for x86 looks for them?"""
    return platform.machine() in ("x86_64", "AMD64")


@functools.cache
def _target() -> Any:
    llvm = binding()
    name, words = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=words, opt=2, reloc="pic")


def multiplies_and_adds() -> bool:
    """Has the processor an instruction for x * y + z?"""
    return "fma" in processor()[0].split() or platform.machine() in ("aarch64", "arm64")


def compiled(source: str) -> Any:
    """An engine with the functions of a module, from the cache on disk or freshly compiled."""
    import hashlib  # (5 ms)

    name = hashlib.sha256(f"{processor()[0]}\n{source}".encode()).hexdigest()
    code = kept.read(name)
    with _lock:
        if code is None:
            code = _compile(source)
            kept.write(name, code)
        engine = _loaded(code)
    # For ever: when the interpreter ends, and gives back what modules hold, threads may still be in the code.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine


def _loaded(code: bytes) -> Any:
    if objects.possible():
        try:
            return objects.load(code)
        except objects.Unloadable:
            pass
    llvm = binding()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _compile(source: str) -> bytes:
    llvm = binding()
    if llvm is None:
        raise NoCompiler
    machine = _target()
    parsed = llvm.parse_assembly(source)
    parsed.verify()
    passes = llvm.create_new_module_pass_manager()
    for add in ("add_sroa_pass", "add_instruction_combine_pass", "add_simplify_cfg_pass", "add_loop_rotate_pass"):
        getattr(passes, add)()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.run(parsed, builder)
    return bytes(machine.emit_object(parsed))


def address(engine: Any, name: str) -> int:
    """Where a compiled function stands."""
    return int(engine.get_function_address(name))


def callable_at(place: int, *types: Any) -> Any:
    """A compiled function to be called from Python; result type first. The GIL is released meanwhile."""
    return ctypes.CFUNCTYPE(*types)(place)
