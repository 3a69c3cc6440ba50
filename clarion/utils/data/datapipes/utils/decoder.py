"""Bytes of files as what they stand for, by the ending of the file's name."""

from __future__ import annotations

import importlib
import io
import json
import os.path
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from .....ops.creation.from_data import tensor
from .....serialization import load
from .common import StreamWrapper

__all__ = [
    "Decoder", "ImageHandler", "MatHandler", "audiohandler", "basichandlers", "extension_extract_fn", "handle_extension",
    "imagehandler", "mathandler", "videohandler",
]  # fmt: skip

_NUMBERS = ("cls", "cls2", "class", "count", "index", "inx", "id")
_IMAGES = ("jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm")
_VIDEOS = ("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv")
_SOUNDS = ("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma")


def _needed(module: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(
            f"Package `{package}` is required to be installed for {what}.Please use `pip install "
            f"{'Pillow' if package == 'PIL' else package}`to install the package"
        ) from error


def basichandlers(extension: str, data: Any) -> Any:
    """Texts, numbers, JSON, pickles, tensors."""
    if extension in "txt text transcript":
        return data.decode("utf-8")
    if extension in _NUMBERS:
        try:
            return int(data)
        except ValueError:
            return None
    if extension in "json jsn":
        return json.loads(data)
    if extension in ("pyd", "pickle"):
        return pickle.loads(data)
    if extension == "pt":
        return load(io.BytesIO(data))
    return None


def _spec(name: str) -> tuple[str, str | None, str]:
    """The kind, the type and the mode of an image: torchrgb8 is a tensor of bytes."""
    kind = next((kind for kind in ("torch", "pil") if name.startswith(kind)), "numpy")
    rest = name.removeprefix(kind)
    mode = rest.removesuffix("8") or "rgb"
    return kind, None if kind == "pil" else "uint8" if rest.endswith("8") else "float", mode


_SPECS = "l8 rgb8 rgba8 l rgb rgba torchl8 torchrgb8 torchrgba8 torchl torchrgb torch torchrgba pill pil pilrgb pilrgba"
imagespecs = {name: _spec(name) for name in _SPECS.split()}


def handle_extension(extensions: str, f: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    """A handler of files that end so."""

    def handler(key: str, data: Any) -> Any:
        ending = key.lower().split(".")
        for target in (name.split(".") for name in extensions.lower().split()):
            if len(target) <= len(ending):
                return f(data) if ending[-len(target) :] == target else None
        return None

    return handler


class ImageHandler:
    """Reads images with Pillow."""

    def __init__(self, imagespec: str) -> None:
        if imagespec not in imagespecs:
            raise AssertionError(f"unknown image specification: {imagespec}")
        self.imagespec = imagespec.lower()

    def __call__(self, extension: str, data: Any) -> Any:
        if extension.lower() not in _IMAGES:
            return None
        images = _needed("PIL.Image", "default image decoder")
        kind, dtype, mode = imagespecs[self.imagespec]
        with io.BytesIO(data) as stream:
            image = images.open(stream)
            image.load()
        image = image.convert(mode.upper())
        if kind == "pil":
            return image
        pixels = np.asarray(image)
        if kind == "numpy":
            return pixels if dtype == "uint8" else pixels.astype("f") / 255.0
        channels_first = tensor(np.array(pixels.transpose(2, 0, 1)))
        return channels_first if dtype == "uint8" else channels_first / 255.0


def imagehandler(imagespec: str) -> ImageHandler:
    """A handler of images."""
    return ImageHandler(imagespec)


def _from_file(extension: str, data: bytes, read: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, f"file.{extension}")
        with open(name, "wb") as stream:
            stream.write(data)
        return read(name)


def videohandler(extension: str, data: Any) -> Any:
    """Videos, by torchvision."""
    if extension not in _VIDEOS:
        return None
    return _from_file(extension, data, _needed("torchvision.io", "default video file loader").read_video)


def audiohandler(extension: str, data: Any) -> Any:
    """Sounds, by torchaudio."""
    if extension not in _SOUNDS:
        return None
    return _from_file(extension, data, _needed("torchaudio", "default audio file loader").load)


class MatHandler:
    """Reads Matlab's files with SciPy."""

    def __init__(self, **loadmat_kwargs: Any) -> None:
        self.sio = _needed("scipy.io", "mat file")
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: Any) -> Any:
        if extension != "mat":
            return None
        with io.BytesIO(data) as stream:
            return self.sio.loadmat(stream, **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: Any) -> MatHandler:
    """A handler of Matlab's files."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """The ending of a file's name, without the dot."""
    return os.path.splitext(pathname)[1][1:]


class Decoder:
    """Asks its handlers in turn; the first that knows the ending decodes."""

    def __init__(self, *handler: Callable[..., Any], key_fn: Callable[[str], str] = extension_extract_fn) -> None:
        self.handlers = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Callable[..., Any]) -> None:
        """Ask these first."""
        self.handlers = [*handler, *self.handlers]

    def decode1(self, key: str, data: Any) -> Any:
        """One file."""
        if not data:
            return data
        stream = data.file_obj if isinstance(data, StreamWrapper) else data
        if isinstance(stream, io.BufferedIOBase | io.RawIOBase):
            content = b"".join(data)
            data.close()
            data = content
        for handler in self.handlers:
            if (found := handler(key, data)) is not None:
                return found
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """Files by name."""
        pairs = [data] if isinstance(data, tuple) else data or []
        found = {}
        for name, value in pairs:
            if name[0] == "_" and isinstance(value, bytes):
                found[name] = value.decode("utf-8")
            else:
                found[name] = self.decode1(self.key_fn(name), value)
        return found

    def __call__(self, data: Any) -> dict[str, Any]:
        return self.decode(data)
