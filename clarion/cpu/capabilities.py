"""What the processor can do, as the operating system tells it."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path
from typing import Any

# PyTorch's names of instruction sets, and Linux's where they differ.
_SETS = (
    "sse sse2 sse3 ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx_vnni_int8 avx_vnni_int16 avx_ne_convert avx512_f "
    "avx512_cd avx512_dq avx512_bw avx512_vl avx512_ifma avx512_vbmi avx512_vbmi2 avx512_bitalg avx512_vpopcntdq "
    "avx512_vnni avx512_bf16 avx512_fp16 avx512_vp2intersect avx512_4vnniw avx512_4fmaps avx10_1 avx10_2 amx_bf16 "
    "amx_tile amx_int8 amx_fp16 f16c fma3 fma4 bmi bmi2 popcnt lzcnt aes sha clflush clflushopt clwb"
)
_OF_LINUX = {
    "sse3": "pni", "avx512_f": "avx512f", "avx512_cd": "avx512cd", "avx512_dq": "avx512dq", "avx512_bw": "avx512bw",
    "avx512_vl": "avx512vl", "avx512_ifma": "avx512ifma", "avx512_vbmi": "avx512vbmi", "fma3": "fma", "bmi": "bmi1",
    "lzcnt": "abm", "sha": "sha_ni",
}  # fmt: skip


def _told() -> list[dict[str, str]]:
    """What Linux says of each processor."""
    try:
        blocks = Path("/proc/cpuinfo").read_text().strip().split("\n\n")
    except OSError:
        return []
    lines = [[line.partition(":") for line in block.splitlines()] for block in blocks]
    return [{name.strip(): value.strip() for name, _, value in each} for each in lines]


def _bytes_of_cache(number: int) -> int:
    try:
        text = Path(f"/sys/devices/system/cpu/cpu0/cache/index{number}/size").read_text().strip()
    except OSError:
        return 0
    return int(text[:-1]) * {"K": 1024, "M": 1024**2}[text[-1]] if text[-1:] in ("K", "M") else int(text or 0)


@functools.cache
def _found() -> dict[str, Any]:
    told = _told()
    here = told[0] if told else {}
    flags = set(here.get("flags", here.get("Features", "")).split())
    machine = platform.machine()
    known: dict[str, Any] = {"architecture": machine, "cpu_name": here.get("model name", platform.processor())}
    if machine in ("x86_64", "AMD64"):
        known.update((name, _OF_LINUX.get(name, name) in flags) for name in _SETS.split())
    cores = {(each.get("physical id"), each.get("core id", number)) for number, each in enumerate(told)}
    return known | {
        "num_logical_cores": os.cpu_count() or 1,
        "num_physical_cores": len(cores) or os.cpu_count() or 1,
        "num_sockets": len({each.get("physical id") for each in told}) or 1,
        "l1d_cache_size": _bytes_of_cache(0),
        "l2_cache_size": _bytes_of_cache(2),
    }


def get_capabilities() -> dict[str, Any]:
    """The processor's instruction sets, cores and caches, by name."""
    return dict(_found())
