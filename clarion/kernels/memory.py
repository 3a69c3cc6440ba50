"""Memory that is used again: large results do not go back to the operating system after every operation.

The C library gives blocks above a limit back as soon as they are freed, and fetches them anew for the next result of the
same size: page by page, each with a fault and zeroed by the kernel. A chain of operations on 400 kB spent two thirds of its
time there. With higher limits freed blocks stay with the process, as those of PyTorch's cached allocators do; above
`KEPT` bytes at the end of the heap they still go back.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's numbers (malloc.h)
LARGEST = 32 << 20  # blocks up to this size come from the heap: the most that glibc allows
KEPT = 512 << 20
STEP = 16 << 20  # the heap grows by at least this much


def keep_memory() -> bool:
    """Raise the C library's limits, unless the user has set them; says whether they are raised."""
    if not sys.platform.startswith("linux") or "malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return False
    if any(f"MALLOC_{name}_" in os.environ for name in ("TRIM_THRESHOLD", "TOP_PAD", "MMAP_THRESHOLD")):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    settings = {_MMAP_THRESHOLD: LARGEST, _TRIM_THRESHOLD: KEPT, _TOP_PAD: STEP}
    return all(mallopt(name, value) == 1 for name, value in settings.items())
