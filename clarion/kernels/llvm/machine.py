"""The machine that kernels are compiled for, and the objects that come of it, kept on disk between processes."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import tempfile
import threading
from typing import Any

from ... import config

_lock = threading.Lock()
_kept: list[Any] = []  # engines own the memory of compiled functions
VERSION = 1  # of what is written into objects, beside their source


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
def target() -> tuple[Any, str, int]:
    """The target machine, its description, and the bytes of a vector register."""
    llvm = binding()
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    words = features.flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=words, opt=2, reloc="pic")
    width = 64 if features.get("avx512f") and features.get("avx512dq") else 32 if features.get("avx2") else 16
    return machine, f"{machine.triple} {name} {words} {llvm.llvm_version_info} {VERSION}", width


def multiplies_and_adds() -> bool:
    """Has the processor an instruction for x * y + z?"""
    _, description, _ = target()
    return "+fma" in description or "aarch64" in description or "arm64" in description


def compiled(source: str) -> Any:
    """An engine with the functions of a module, from the cache on disk or freshly compiled."""
    llvm = binding()
    machine, description, _ = target()
    name = hashlib.sha256(f"{description}\n{source}".encode()).hexdigest()
    code = _read(name)
    with _lock:
        if code is None:
            code = _compile(llvm, machine, source)
            _write(name, code)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
    _kept.append(engine)
    return engine


def _compile(llvm: Any, machine: Any, source: str) -> bytes:
    parsed = llvm.parse_assembly(source)
    parsed.verify()
    passes = llvm.create_new_module_pass_manager()
    for add in ("add_sroa_pass", "add_instruction_combine_pass", "add_simplify_cfg_pass", "add_loop_rotate_pass"):
        getattr(passes, add)()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.run(parsed, builder)
    return bytes(machine.emit_object(parsed))


# The cache ------------------------------------------------------------------------------------------------


def _read(name: str) -> bytes | None:
    try:
        with open(os.path.join(config.CACHE, f"{name}.o"), "rb") as file:
            code, digest = file.read()[:-32], b""
            file.seek(-32, os.SEEK_END)
            digest = file.read()
    except OSError:
        return None
    return code if hashlib.sha256(code).digest() == digest else None  # cut short, or of somebody else


def _write(name: str, code: bytes) -> None:
    """Whole or not at all: a reader never sees a part. A folder that cannot be written to is no error."""
    try:
        os.makedirs(config.CACHE, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=config.CACHE, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(code + hashlib.sha256(code).digest())
            os.replace(path, os.path.join(config.CACHE, f"{name}.o"))
        except OSError:
            os.unlink(path)
    except OSError:
        return


def address(engine: Any, name: str) -> int:
    """Where a compiled function stands."""
    return int(engine.get_function_address(name))


def callable_at(place: int, *types: Any) -> Any:
    """A compiled function to be called from Python; result type first. The GIL is released meanwhile."""
    return ctypes.CFUNCTYPE(*types)(place)
