"""`clarion info`: what computes here: backends and what they lack, which one computes each operation, devices, versions."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from typing import Any

from .. import accelerator, config
from ..core.namespace import OPS
from ..kernels import registry, threads
from ..version import __version__

_LIBRARIES = ("numpy", "scipy", "llvmlite", "cupy", "triton")


def info(name: str | None = None, as_json: bool = False) -> int:
    """Print the page, or the operations whose name holds `name`; returns the exit status."""
    kernels = {op: chains(op) for op in sorted(OPS) if name is None or name in op}
    if not kernels:
        print(f"clarion info: no operation's name holds {name!r}", file=sys.stderr)
        return 2
    try:
        if as_json:
            print(json.dumps(facts() | {"operations": kernels}, indent=2))
        else:
            _print(facts(), kernels, name)
            sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough; nothing is left to be written at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def facts() -> dict[str, Any]:
    """All that is not about one operation."""
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = None
    return {
        "clarion": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": found,
        "threads": threads.number(),
        "cache": config.CACHE,
        "devices": ["cpu", *([str(accelerator.current_accelerator())] if accelerator.is_available() else [])],
        "backends": [
            {"name": backend, "what": what, "missing": missing, "offers": len(offered(backend))}
            for backend, what, missing in registry.backends()
        ],
    }


def offered(backend: str) -> list[str]:
    """The operations that a backend offers a kernel for; "portable" has one for every operation."""
    if backend == "portable":
        return sorted(registry.names())
    return sorted(name for name in registry.names() if backend in registry.offers(name))


def chains(operation: str) -> dict[str, list[str]]:
    """Per array library: the backends that are asked in turn, the last of which takes everything."""
    return {
        library.name: [offer.backend for offer in registry.chain(operation, library.name)] for library in _libraries()
    }


def _libraries() -> list[registry.Library]:
    """Those that compute for a device. (Others stand for arrays for a while: of `vmap`, of what is being compiled.)"""
    return [library for library in registry.libraries() if library.backends]


def _print(found: dict[str, Any], kernels: dict[str, dict[str, list[str]]], name: str | None) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    if name is None:
        _print_facts(console, found)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Operation", no_wrap=True)
    for library in _libraries():
        table.add_column("Computed by" if library.name == "numpy" else f"On {library.name} arrays")
    # All of them would be five hundred lines, most of which say "portable".
    shown = {
        op: by for op, by in kernels.items() if name is not None or any(set(c) - {"portable"} for c in by.values())
    }
    for operation, by in shown.items():
        table.add_row(f"[cyan]{escape(operation)}[/cyan]", *(_said(chain) for chain in by.values()))
    console.print(table)
    if len(shown) < len(kernels):
        console.print(
            f"\n{len(kernels) - len(shown)} more operations: portable. `clarion info NAME` shows some, --json all."
        )


def _said(chain: list[str]) -> str:
    """`llvm` where it accepts the arguments, otherwise …"""
    *guarded, last = chain
    return ", else ".join([f"{backend} where it can" for backend in guarded] + [last])


def _print_facts(console: Any, found: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_row("clarion", f"{found['clarion']}, Python {found['python']}, {found['machine']}")
    there = [f"{library} {version}" for library, version in found["libraries"].items() if version is not None]
    absent = [library for library, version in found["libraries"].items() if version is None]
    table.add_row("Libraries", ", ".join(there) + (f" (not installed: {', '.join(absent)})" if absent else ""))
    table.add_row("Threads", str(found["threads"]))
    table.add_row("Devices", ", ".join(found["devices"]))
    table.add_row("Cache", escape(found["cache"]))
    console.print(table)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Backend", no_wrap=True)
    table.add_column("Kernels", justify="right")
    table.add_column("")
    for backend in found["backends"]:
        lacks = "" if backend["missing"] is None else f" [yellow]Not here: {escape(backend['missing'])}[/yellow]"
        table.add_row(f"[cyan]{backend['name']}[/cyan]", str(backend["offers"]), f"{backend['what']}.{lacks}")
    console.print()
    console.print(table)
    console.print()
