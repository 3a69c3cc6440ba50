"""What Python imports as it starts in the processes of a program that clarion runs (see `__init__.py`).

It stands alone and costs next to nothing: clarion is imported when the process imports torch, if it ever does. This may be
another Python than the program's, in another environment.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _WhenTorchIsImported:
    """Stands before all that finds modules, until somebody looks for torch."""

    def find_spec(self, name, path=None, target=None):
        """Begin, then let those who know find the module."""
        if name not in ("torch", "functorch"):
            return None
        sys.meta_path.remove(self)
        import importlib.util
        import json

        told = json.loads(os.environ.get("CLARION_CHILDREN") or "{}")
        if not told:  # the program has emptied the environment
            return None
        if not told["afterwards"]:
            _begin(told)
        spec = importlib.util.find_spec(name)
        if told["afterwards"] and spec is not None and spec.loader is not None:
            spec.loader = _ThenBegin(spec.loader, told)
        return spec


class _ThenBegin:
    """Loads PyTorch as ever, and begins to watch it."""

    def __init__(self, loader, told):
        self._loader, self._told = loader, told

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        """As ever."""
        return self._loader.create_module(spec)

    def exec_module(self, module):
        """As ever, and then begin."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _begin(self._told)


def _begin(told):
    """Call what the program has named, with clarion where the program has it."""
    import importlib

    module, _, function = told["begin"].partition(":")
    folder = os.path.dirname(os.path.dirname(_HERE))
    sys.path.append(folder)
    try:
        getattr(importlib.import_module(module), function)(**told["arguments"])
    except ImportError as error:
        sys.stderr.write(f"clarion: a process of this program cannot load clarion, and goes on without it: {error}\n")
    finally:
        sys.path.remove(folder)


def _hand_on():
    """The environment may have a `sitecustomize` of its own, which this one hides."""
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        sys.modules["sitecustomize"] = own


sys.path[:] = [folder for folder in sys.path if folder != _HERE]
if sys.version_info >= (3, 11):  # noqa: UP036
    sys.meta_path.insert(0, _WhenTorchIsImported())
if __name__ == "sitecustomize":
    _hand_on()
