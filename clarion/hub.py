"""`torch.hub`: folders for downloaded weights, models of a local folder; nothing is fetched from repositories."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import urllib.request
from typing import Any
from urllib.parse import urlparse

from .errors import EngineError, NotSupportedError

_dir: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def _get_torch_home() -> str:
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder where downloads are kept: `set_dir`, $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    return _dir if _dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the folder."""
    global _dir
    _dir = os.path.expanduser(d)


def _hubconf(repo: Any, source: str) -> Any:
    """The module hubconf.py of a local folder."""
    if source != "local":
        raise NotSupportedError(
            f"torch.hub: clarion fetches no repository ({repo!r}). Clone it yourself, and give its folder with source='local'"
        )
    folder = os.path.expanduser(repo)
    spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, "hubconf.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def load(repo_or_dir: Any, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """What the function `model` of a folder's hubconf.py gives."""
    for option in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(option, None)
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def _entry(module: Any, name: str) -> Any:
    function = getattr(module, name, None)
    if not callable(function):
        raise EngineError(f"Cannot find callable {name} in hubconf")
    return function


def list(github: Any, force_reload: bool = False, source: str = "github", **options: Any) -> Any:
    """The names of a folder's models."""
    found = vars(_hubconf(github, source)).items()
    return [name for name, value in found if callable(value) and not name.startswith("_")]


def help(github: Any, model: str, force_reload: bool = False, source: str = "github", **options: Any) -> Any:
    """What a folder says of a model."""
    return _entry(_hubconf(github, source), model).__doc__


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetch a file; it is only there if it is whole, and if its hash begins as it should."""
    digest = hashlib.sha256()
    folder = os.path.dirname(os.path.expanduser(dst)) or "."
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            with urllib.request.urlopen(url) as source:
                while chunk := source.read(1 << 17):
                    file.write(chunk)
                    digest.update(chunk)
            found = digest.hexdigest()
            if hash_prefix and not found.startswith(hash_prefix):
                raise EngineError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
            file.close()
            shutil.move(file.name, dst)
        finally:
            if os.path.exists(file.name):
                os.unlink(file.name)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The weights at an address, fetched once and kept in a folder."""
    from .serialization import load as load_file

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        download_url_to_file(url, path, found[1] if found else None, progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)
