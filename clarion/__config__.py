"""`torch.__config__`: how the library was built."""

from __future__ import annotations

from .version import __version__


def show() -> str:
    """A text with what clarion stands on."""
    import numpy
    import scipy

    return f"clarion {__version__}, in Python\n  - NumPy {numpy.__version__}\n  - SciPy {scipy.__version__}\n"


def parallel_info() -> str:
    """A text on threads."""
    import os

    return f"clarion: operations run in the thread that calls them\n  - processors: {os.cpu_count()}\n"
