"""`torch.__config__`: how the library was built."""

from __future__ import annotations

from .version import __version__


def show() -> str:
    """A text with what clarion stands on."""
    from importlib.metadata import PackageNotFoundError, version

    lines = [f"clarion {__version__}, in Python"]
    for name in ("NumPy", "SciPy", "llvmlite"):
        try:
            lines.append(f"  - {name} {version(name.lower())}")
        except PackageNotFoundError:
            lines.append(f"  - {name} is not installed")
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """A text on threads."""
    import os

    return f"clarion: operations run in the thread that calls them\n  - processors: {os.cpu_count()}\n"
