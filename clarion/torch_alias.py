"""`import torch` gives clarion: for programs that are run as they were written.

    with alias():
        import torch                              # clarion itself
        from torch.utils.data import DataLoader   # sys.modules["torch.utils.data"] is sys.modules["clarion.utils.data"]

Every name of `torch` is the module object of clarion with the same path, never a second copy, and the real PyTorch is not
loaded, even where it is installed. What clarion does not have is refused by its name.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import clarion

from .absent import why
from .children import follow
from .core import overriding
from .version import __version__ as VERSION

PYTORCH = "2.13.0"  # the release whose behaviour is clarion's

# clarion's own rooms: in PyTorch's namespace there is nothing of these names. `diagnose` and `errors` stay attributes,
# because a program may well say `clarion.diagnose.off()`, and `torch` is the same module.
ROOMS = frozenset(
    [
        "absent",
        "bytecode",
        "children",
        "cli",
        "compiling",
        "config",
        "core",
        "diagnose",
        "doctor",
        "elsewhere",
        "errors",
        "footprint",
        "mail",
        "events",
        "forks",
        "functorch",
        "kernels",
        "pytree",
        "surface",
        "symbols",
        "torch_alias",
    ]
)
_SEEN = ("diagnose", "errors")


class TorchVersion(str):
    """A version that compares as PyTorch's do: by its numbers, with text (`"2.4"`) and with tuples (`(2, 4)`)."""

    def _key(self, other: Any) -> tuple[tuple[int, ...], bool]:
        text = ".".join(map(str, other)) if isinstance(other, tuple | list) else str(other)
        public, _, local = text.partition("+")
        found = re.match(r"\d+(\.\d+)*", public)
        release = [int(part) for part in found[0].split(".")] if found else [0]
        while len(release) > 1 and release[-1] == 0:  # 2.4 and 2.4.0 are one
            release.pop()
        return tuple(release), bool(local)

    def __lt__(self, other: Any) -> bool:
        return self._key(self) < self._key(other)

    def __le__(self, other: Any) -> bool:
        return self._key(self) <= self._key(other)

    def __gt__(self, other: Any) -> bool:
        return self._key(self) > self._key(other)

    def __ge__(self, other: Any) -> bool:
        return self._key(self) >= self._key(other)

    def __eq__(self, other: object) -> bool:
        return self._key(self) == self._key(other) if isinstance(other, tuple | list | str) else NotImplemented

    __hash__ = str.__hash__


@functools.cache
def _distribution() -> Any:
    """What `importlib.metadata` tells of the package "torch", whether PyTorch is installed or not. (Of the few who ask: to import
    that takes 15 ms.)"""
    import importlib.metadata

    class TorchDistribution(importlib.metadata.Distribution):
        """The package "torch"."""

        def read_text(self, filename: str) -> str | None:
            """The one file there is."""
            if filename != "METADATA":
                return None
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {PYTORCH}\nSummary: clarion {VERSION}, in the place of PyTorch\n"

        def locate_file(self, path: Any) -> Any:
            """Where a file of it would lie: beside clarion."""
            return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), path)

    return TorchDistribution()


class TorchFinder(importlib.abc.MetaPathFinder):
    """Finds `torch` and all below it in clarion."""

    def find_distributions(self, context: Any = None) -> Any:
        """The package "torch", for those who ask whether it is installed, and which version."""
        return iter([_distribution()] if context is None or context.name in (None, "torch") else [])

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of `torch.x`, whose module is `clarion.x`; a refusal where there is none."""
        package = name.partition(".")[0]
        if package not in ("torch", "functorch"):
            if not overriding._below and package != "clarion":  # which says itself when classes take calls over
                _look_in_module(name, path)
            return None
        if not _is_there(name):
            if _is_import():
                raise ModuleNotFoundError(_missing(name), name=name)
            return None
        return importlib.machinery.ModuleSpec(name, TorchLoader(), is_package=True)


def _look_in_module(name: str, path: Sequence[str] | None) -> None:
    """A class of this module may take calls over without being a tensor: see NOTE [Overriding]."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is not None and spec.has_location and str(spec.origin).endswith(".py"):
        overriding.look_in(str(spec.origin))


class TorchLoader(importlib.abc.Loader):
    """Puts clarion's module under PyTorch's name."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty module that was made for the name. (Returning clarion's from `create_module` would let the
        import system write another `__spec__` into it.)"""
        sys.modules[module.__name__] = _ours(module.__name__)
        _mirror()


def _clarion_name(name: str) -> str:
    return f"clarion.{name}" if name.partition(".")[0] == "functorch" else "clarion" + name.removeprefix("torch")


def _is_there(name: str) -> bool:
    """Does clarion have a module of this name, or a stand-in for it?"""
    return not _is_room(name) and importlib.util.find_spec(_clarion_name(name)) is not None


def _is_room(name: str) -> bool:
    _, _, below = name.partition(".")
    return below.partition(".")[0] in ROOMS


def _hide_rooms() -> None:
    clarion._hidden = ROOMS.difference(_SEEN)
    for name in clarion._hidden:
        vars(clarion).pop(name, None)


def _show_rooms() -> None:
    clarion._hidden = frozenset()
    for name in ROOMS:
        if f"clarion.{name}" in sys.modules:
            setattr(clarion, name, sys.modules[f"clarion.{name}"])


def _ours(name: str) -> ModuleType:
    """The module of clarion that stands for `torch.x`."""
    return importlib.import_module(_clarion_name(name))


def _mirror() -> None:
    """Every loaded module of clarion under its other name, too.

    Importing `torch.autograd.gradcheck` when `clarion.autograd.gradcheck` is loaded would otherwise make Python put the
    module in the place of the function that its package has under this name.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("clarion.") and not _is_room(name):
            sys.modules.setdefault("torch" + name.removeprefix("clarion"), module)
    _hide_rooms()


def _missing(name: str) -> str:
    if reason := why(name):
        return f"clarion does not have {name}: {reason}"
    return f"clarion does not have {name} yet (this is clarion {VERSION}, in the place of PyTorch)"


def _is_import() -> bool:
    """Is a module being imported, or is it only asked whether it could be (`importlib.util.find_spec`)?"""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "_find_and_load_unlocked":
        if frame.f_code.co_filename == importlib.util.__file__:
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def install() -> Callable[[], None]:
    """From now on `import torch` gives clarion; returns the function that undoes it."""
    finder = TorchFinder()
    before = {name: sys.modules.pop(name) for name in _torch_modules()}
    names = clarion.__name__, clarion.__version__, clarion.version.__version__
    places = {cls: cls.__module__ for cls in _classes()}
    sys.meta_path.insert(0, finder)
    clarion.__name__ = "torch"
    for cls, place in _classes().items():
        cls.__module__ = place
    # Programs compare it with PyTorch's releases.
    clarion.__version__ = clarion.version.__version__ = TorchVersion(f"{PYTORCH}+clarion")
    _hide_rooms()
    leave_alone = follow(f"{__name__}:install")  # the processes that the program starts

    def undo() -> None:
        leave_alone()
        clarion.__name__, clarion.__version__, clarion.version.__version__ = names
        for cls, own in places.items():
            cls.__module__ = own
        sys.meta_path.remove(finder)
        _show_rooms()
        for name in _torch_modules():
            del sys.modules[name]
        sys.modules.update(before)

    return undo


def _classes() -> dict[type, str]:
    """What programs print the types of, and the modules that PyTorch says these are in: `print(type(x))` is <class 'torch.Tensor'>."""
    found = {getattr(clarion, name): "torch" for name in ("Tensor", "Size", "dtype", "device")}
    return found | {clarion.nn.Parameter: "torch.nn.parameter"}


class alias:  # it is called like a function
    """From the call on `import torch` gives clarion; after a `with` block everything is as before."""

    def __init__(self) -> None:
        self._undo = install()

    def __enter__(self) -> ModuleType:
        return clarion

    def __exit__(self, *_: object) -> None:
        self._undo()


def _torch_modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in ("torch", "functorch")]
