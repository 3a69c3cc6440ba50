"""`torch.save` and `torch.load`."""

from __future__ import annotations

import contextlib
import io
import mmap as mapping
import os
import pickle
import sys
import warnings
from collections.abc import Iterator
from typing import IO, Any

from ..errors import ArgumentTypeError, ArgumentValueError, EngineError, Explained, NotSupportedError
from ..events import hub
from .atomic import replacing
from .failures import UNSAFE, RefusedError, refused_load
from .legacy import load_legacy, save_legacy
from .loading import load_zip
from .locations import LoadedStorage, location_tag, restorer
from .options import MAP_PRIVATE, get_crc32_options, get_default_mmap_options, writes_data
from .pickler import dump
from .safetensors import load_safetensors
from .storages import Saved, SavedStorages
from .zipreader import ZipReader, is_zip
from .zipwriter import ALIGNMENT, ZipWriter

DEFAULT_PROTOCOL = 2


class NoWriteError(Explained, AttributeError):
    """What was given to `save()` is neither a path nor something that can be written to."""


# Saving --------------------------------------------------------------------------------------------


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save tensors, modules' and optimizers' state, or any picklable object, in PyTorch's format.

    Tensors that share memory still do after loading. A path is replaced only when the new file is complete and on the
    disk: an interrupted save leaves the old file as it was.
    """
    if hub.state_written is not None:
        hub.state_written(obj)
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    if path is None and not hasattr(f, "write"):
        raise NoWriteError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if path is None and not callable(f.write):
        raise ArgumentTypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
    with _target(f, path) as file:
        if _use_new_zipfile_serialization:
            _save_zip(obj, file, _folder(path), pickle_module, pickle_protocol, not _disable_byteorder_record)
        else:
            save_legacy(obj, file, pickle_module, pickle_protocol)


@contextlib.contextmanager
def _target(f: Any, path: str | None) -> Iterator[Any]:
    if path is not None:
        with replacing(path) as file:
            yield file
        return
    yield f
    if callable(getattr(f, "flush", None)):
        f.flush()


def _folder(path: str | None) -> str:
    """The folder of the records: the file's name without its ending, as PyTorch names it."""
    stem = os.path.splitext(os.path.basename(os.fspath(path)))[0] if path is not None else ""
    return stem if stem.isascii() and stem.isprintable() and stem else "archive"


def _save_zip(obj: Any, file: IO[bytes], folder: str, module: Any, protocol: int, byteorder: bool) -> None:
    storages, body = SavedStorages(), io.BytesIO()

    def storage_id(saved: Saved) -> tuple[Any, ...]:
        where = saved.location if saved.location != "cpu" else location_tag(LoadedStorage(saved.flat))
        return "storage", saved.kind, saved.key, where, saved.count

    dump(obj, body, module, protocol, storages, storage_id)
    archive = ZipWriter(file.write, folder, get_crc32_options())
    archive.record("data.pkl", body.getbuffer())
    archive.record(".format_version", b"1")
    archive.record(".storage_alignment", str(ALIGNMENT).encode())
    if byteorder:
        archive.record("byteorder", sys.byteorder.encode())
    for saved in storages.all:
        archive.record(f"data/{saved.key}", saved.bytes() if writes_data() else bytes(saved.flat.nbytes))
    archive.record("version", b"3\n")
    archive.close()


# Loading -------------------------------------------------------------------------------------------


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save()` of clarion or of PyTorch wrote.

    weights_only  (the default) build tensors and plain data only: nothing in the file is run. Only files that you
                  trust may be loaded with `weights_only=False`
    mmap          map the file instead of reading it: pages are read when they are used, and copied when written to
    map_location  where storages go: a device, its name, a dict of names, or a function `(storage, location)`
    """
    weights_only = _decide(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise EngineError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_load_args and weights_only:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    options = {"encoding": "utf-8", **pickle_load_args}
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    if path is not None and path.endswith(".safetensors"):
        return _load_safetensors(path, map_location)
    module = None if weights_only else (pickle if pickle_module is None else pickle_module)
    if mmap and path is None:
        raise ArgumentValueError("f must be a file path in order to use the mmap argument")
    try:
        with opened(f) as file:
            if is_zip(file):
                return _load_archive(file, map_location, module, bool(mmap), options)
            if mmap:
                raise EngineError(
                    f"mmap can only be used with files saved with `torch.save({path}, _use_new_zipfile_serialization=True), "
                    "please torch.save your checkpoint with this option in order to use mmap."
                )
            return load_legacy(file, restorer(map_location), module, options)
    except RefusedError as error:
        raise type(error)(refused_load(str(error))) from error.__cause__


def _load_archive(file: IO[bytes], map_location: Any, module: Any, mmap: bool, options: dict[str, Any]) -> Any:
    # A private mapping: writing to a tensor changes this program's copy of the page, never the file.
    mapped = _mapped(file) if mmap else None
    archive = ZipReader(file, mapped)
    if "constants.pkl" in archive:
        if module is None:
            raise EngineError(
                f"Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. {UNSAFE}"
            )
        raise NotSupportedError("load(): the file is a TorchScript archive, which clarion does not run")
    return load_zip(archive, restorer(map_location), module, options)


def _mapped(file: IO[bytes]) -> mapping.mmap:
    """The pages of a file: private ones, unless `set_default_mmap_options` has it otherwise."""
    if get_default_mmap_options() == MAP_PRIVATE:
        return mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_COPY)
    with open(file.name, "r+b") as writable:
        return mapping.mmap(writable.fileno(), 0, access=mapping.ACCESS_WRITE)


def _load_safetensors(path: str, map_location: Any) -> Any:
    if isinstance(map_location, dict) or callable(map_location):
        what = "dict" if isinstance(map_location, dict) else "callable"
        raise EngineError(
            f"Loading safetensors file with {what} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    return load_safetensors(path, "cpu" if map_location is None else str(map_location))


def _decide(weights_only: bool | None, pickle_module: Any) -> bool:
    """The argument, its default, and the two environment variables of PyTorch's that change it."""
    yes = ("1", "y", "yes", "true")
    safe = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in yes
    unsafe = os.getenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in yes
    if safe and unsafe:
        raise EngineError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if safe:
        return True
    if weights_only is not None:
        return bool(weights_only)
    if unsafe:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return pickle_module is None


@contextlib.contextmanager
def opened(f: Any) -> Iterator[Any]:
    """A path or file, ready to be read from."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:  # large reads go around the buffer
            yield file
        return
    _check_seekable(f)
    yield f


def _check_seekable(f: Any) -> None:
    try:
        f.seek(f.tell())
    except (OSError, AttributeError) as error:
        if "seek" in str(error) or "tell" in str(error):
            kind = AttributeError if isinstance(error, AttributeError) else io.UnsupportedOperation
            raise kind(
                f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
                "like io.BytesIO and try to load from it instead."
            ) from None
        raise
