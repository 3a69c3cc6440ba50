"""What several pipes need: functions that are checked, files that are found and opened, streams that are closed."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from io import IOBase
from typing import Any, ClassVar, NoReturn

from ...._import_utils import dill_available

__all__ = [
    "StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks", "validate_input_col",
    "validate_pathname_binary_tuple",
]  # fmt: skip


def length_of(pipe: Any, *sources: Any) -> list[int]:
    """The lengths of the sources of a pipe, all of which must have one."""
    if not all(isinstance(source, Sized) for source in sources):
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return [len(source) for source in sources]


def chosen(fn: Callable[..., Any], data: Any, columns: Any) -> Any:
    """Call a function with a sample, or with some columns of it."""
    if columns is None:
        return fn(data)
    if isinstance(columns, list | tuple):
        return fn(*(data[column] for column in columns))
    return fn(data[columns])


def validate_input_col(fn: Callable[..., Any], input_col: Any) -> None:
    """Does a function take as many arguments as there are columns?"""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # a builtin: nobody knows
        return
    wanted = len(input_col) if isinstance(input_col, list | tuple) else 1
    kinds = inspect.Parameter
    positional = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    any_number = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    by_name = [p for p in parameters if p.kind is kinds.KEYWORD_ONLY and p.default is p.empty]
    called = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(called, "__name__", repr(called))
    if by_name:
        raise ValueError(
            f"The function {name} takes {len(by_name)} non-default keyword-only parameters, which is not allowed."
        )
    if len(parameters) < wanted and not any_number:
        raise ValueError(f"The function {name} takes {len(parameters)} parameters, but {wanted} are required.")
    too_many = any(p.default is p.empty for p in positional[wanted:])
    if too_many or (len(positional) < wanted and not any_number):
        raise ValueError(
            f"The function {name} takes {len(positional)} positional parameters, but {wanted} are required."
        )


def _is_local_fn(fn: Any) -> bool:
    if hasattr(fn, "__code__"):
        return bool(fn.__code__.co_flags & inspect.CO_NESTED)
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    return "<locals>" in name


def _check_unpickable_fn(fn: Any) -> None:
    """Warn of a function that cannot go to a worker."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    fn = fn.func if isinstance(fn, functools.partial) else fn
    if dill_available():
        return
    local = _is_local_fn(fn)
    if local or getattr(fn, "__name__", None) == "<lambda>":
        warnings.warn(
            f"{'Local' if local else 'Lambda'} function is not supported by pickle, please use regular python function or "
            "functools.partial instead.",
            stacklevel=3,
        )


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Does a name fit one of the masks, if there are any?"""
    masks = [masks] if isinstance(masks, str) else masks
    return not any(masks) or any(fnmatch.fnmatch(name, mask) for mask in masks)


def get_file_pathnames_from_root(
    root: str, masks: str | list[str], recursive: bool = False, abspath: bool = False, non_deterministic: bool = False
) -> Iterator[str]:
    """The files of a folder (or the one file) whose names fit, sorted."""

    def onerror(error: OSError) -> NoReturn:
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, folders, files in os.walk(root, onerror=onerror):
        path = os.path.abspath(folder) if abspath else folder
        if not non_deterministic:
            files.sort()
        yield from (os.path.join(path, file) for file in files if match_masks(file, masks))
        if not recursive:
            break
        if not non_deterministic:
            folders.sort()


def get_file_binaries_from_pathnames(
    pathnames: Iterable[str] | str, mode: str, encoding: str | None = None
) -> Iterator[Any]:
    """Each path with its opened file."""
    names = pathnames if isinstance(pathnames, Iterable) else [pathnames]
    mode = f"r{mode}" if mode in ("b", "t") else mode
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"Expected string type for pathname, but got {type(name)}")
        yield name, StreamWrapper(open(name, mode, encoding=encoding))  # noqa: SIM115 (the wrapper closes it)


def validate_pathname_binary_tuple(data: Any) -> None:
    """Is it a path and its stream?"""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not isinstance(data[1], IOBase | StreamWrapper):
        raise TypeError(
            f"binary stream within the tuple should have IOBase orits subclasses as type, but it is type {type(data[1])}"
        )


class StreamWrapper:
    """A file that is closed when nobody has it any more, or when the last of the streams read from it is."""

    session_streams: ClassVar[dict[Any, int]] = {}
    debug_unclosed_streams: ClassVar[bool] = False

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.file_obj = file_obj
        self.child_counter = 0
        self.parent_stream = parent_stream
        self.close_on_last_child = False
        self.name = name
        self.closed = False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Close the streams in nested containers."""
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, dict | list | tuple) and depth < 10:
            for each in v.values() if isinstance(v, dict) else v:
                cls.close_streams(each, depth + 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the file, and the one it was read from if this was the last stream of it."""
        if self.closed:
            return
        if StreamWrapper.debug_unclosed_streams:
            del StreamWrapper.session_streams[self]
        parent = self.__dict__.get("parent_stream")
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        if hasattr(self.file_obj, "close"):
            self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Close it as soon as no stream is read from it."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self) -> list[str]:
        return list({*self.__dict__, *StreamWrapper.__dict__, *dir(self.file_obj)})

    def __del__(self) -> None:
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        name = "" if self.name is None else f"{self.name},"
        return f"StreamWrapper<{name}{self.file_obj!r}>"

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, file_obj: Any) -> None:
        self.file_obj = file_obj
