"""Activation checkpointing: does the recomputation of a region save what its forward pass saved?

PyTorch compares shapes and types of what both save, by the description that `_default_meta_extractor` gives of each tensor. In
its place stands one whose descriptions also know the values and the line, and notice a difference when they are compared.
"""

from __future__ import annotations

import re
import sys
import zlib
from typing import Any

import torch
import torch.utils.checkpoint as _checkpoint

from ..events import hub
from . import lines, listening, optimizers, twins, values, versions
from .lines import Place
from .nodes import held

_FILE = _checkpoint.__file__
_Norm = torch.nn.modules.batchnorm._NormBase
_COUNTS = re.compile(r"during forward: (\d+)\D+during recomputation: (\d+)")


class Region:
    """One call of `checkpoint`: its line, the lines that saved something, and those whose values differed."""

    def __init__(self, place: Place | None, replayed: bool) -> None:
        self.place, self.replayed = place, replayed
        self.saved: list[Place | None] = []
        self.differs: list[Place | None] = []
        self.shapes: list[Place | None] = []  # where a shape or a type differed
        self.written: list[tuple[Any, Place | None]] = []


class Meta(dict):  # type: ignore[type-arg]
    """What PyTorch compares: shape, type, device; and what it does not: the values."""

    __slots__ = ("place", "print", "region")

    def __ne__(self, other: object) -> bool:
        differs = dict.__ne__(self, other)
        first, again = (other, self) if isinstance(self, Again) else (self, other)
        if isinstance(first, Meta) and isinstance(again, Again) and first.region is not None:
            if differs:
                first.region.shapes.append(first.place)
            elif first.print is not None and first.print != _print_of(again.tensor) and not _is_statistic(again.tensor):
                first.region.differs.append(first.place)
        return differs

    __hash__ = None  # type: ignore[assignment]


class Again(Meta):
    """The description of what the recomputation saved."""

    __slots__ = ("tensor",)


_regions: list[Region] = []  # of this step
_written: list[tuple[Any, Place | None]] = []  # normalisations that were run again, and where
_current: tuple[int, int, Region] | None = None  # the call that is running


def start(patch: Any) -> None:
    """Put our description in the place of PyTorch's."""
    table = getattr(_checkpoint, "_allowed_determinism_checks_to_fns", None)
    original = table.get("default") if table is not None else None
    if original is None:
        versions.lack("torch.utils.checkpoint._allowed_determinism_checks_to_fns")
        return

    def describe(x: Any) -> Any:
        found = original(x)
        if held.aside or not (listening.ear.open or twins.wanted or held.running):
            return found
        return _again(found, x) if held.running else _first(found, x)

    patch(_checkpoint, "_allowed_determinism_checks_to_fns", lambda old: {**old, "default": describe})


def _again(found: Any, x: Any) -> Any:
    if _regions:
        _note_statistics()
    meta = Again(found)
    meta.region, meta.place, meta.print, meta.tensor = None, None, None, x
    return meta


def _first(found: Any, x: Any) -> Any:
    region = _region()
    if region is None:
        return found
    meta = Meta(found)
    meta.region, meta.place = region, lines.here()
    meta.print = _print_of(x)
    region.saved.append(meta.place)
    return meta


def _print_of(x: Any) -> int | None:
    return zlib.crc32(values.array(x).tobytes()) if values.is_plain(x) and x.numel() <= 1 << 20 else None


def _region() -> Region | None:
    """The call of `checkpoint` that is running, found on the stack."""
    global _current
    frame: Any = sys._getframe(2)
    while frame is not None and not (frame.f_code.co_name == "checkpoint" and frame.f_code.co_filename == _FILE):
        frame = frame.f_back
    if frame is None:
        return None
    outer = frame.f_back
    while outer is not None and lines.is_library(outer.f_code.co_filename):
        outer = outer.f_back
    place = None if outer is None else (outer.f_code, outer.f_lasti)
    key = id(frame), optimizers.steps
    if _current is None or _current[:2] != key or _current[2].place != place:
        _current = (*key, Region(place, bool(frame.f_locals.get("preserve", True))))
        _regions.append(_current[2])
        del _regions[:-64]
    return _current[2]


def _note_statistics() -> None:
    """Something is saved by a recomputation: by a layer that writes its statistics once more?"""
    frame: Any = sys._getframe(3)
    while frame is not None and frame.f_code.co_filename != _FILE:
        if frame.f_code.co_name == "forward" and isinstance(module := frame.f_locals.get("self"), _Norm):
            if module.training and module.track_running_stats and all(module is not each for each, _ in _written):
                _written.append((module, lines.here()))
            return
        frame = frame.f_back


def _is_statistic(t: Any) -> bool:
    """Is it a running mean or variance? Those are written by each run, and no gradient depends on them."""
    kept = {values.address(s) for module, _ in _written for s in (module.running_mean, module.running_var)}
    return values.address(t) in kept


def refused(message: str) -> dict[str, Any]:
    """What is known of a recomputation that PyTorch refused."""
    if "torch.utils.checkpoint" not in message or not _regions:
        return {}
    counts = _COUNTS.search(message)
    saved = (int(counts[1]), int(counts[2])) if counts else None
    region = next((r for r in reversed(_regions) if r.shapes or (saved and len(r.saved) == saved[0])), _regions[-1])
    differs = region.shapes[0] if region.shapes else None
    if saved is not None and region.saved:
        differs = region.saved[min(min(saved), len(region.saved) - 1)]
    _regions.clear()
    return {"checkpoint": region.place, "differs": differs, "operation": None, "saved": saved}


def passed() -> None:
    """A pass has ended: tell what its recomputations did."""
    for module, place in _written if _regions else ():
        where = [region for region in _regions if place in region.saved] or _regions
        where[-1].written.append((module.running_mean, place))
    _written.clear()
    regions = list(_regions)
    _regions.clear()
    for region in regions:
        if hub.recomputed is not None and (region.differs or region.written):
            facts = {"place": region.place, "differs": region.differs, "random_replayed": region.replayed}
            hub.recomputed(None, {**facts, "written": region.written})


# The older kind (use_reentrant=True) is a custom Function, whose backward calls backward() on what it computed anew.


def reentered(roots: Any) -> None:
    """A pass inside a pass: is it a region's, and did that compute the same as before?"""
    frame: Any = sys._getframe(3)
    while frame is not None and not (frame.f_code.co_name == "backward" and frame.f_code.co_filename == _FILE):
        if not lines.is_library(frame.f_code.co_filename):
            return
        frame = frame.f_back
    if frame is None:
        return
    known = getattr(frame.f_locals.get("ctx"), "clarion_region", None)
    if known is None:
        return
    region, prints = known
    again = [_print_of(t) for t in roots if isinstance(t, torch.Tensor)]
    if again != prints[: len(again)]:
        region.differs.append(region.place)
    _regions.append(region)


def forward_done(ctx: Any, place: Place | None, outputs: Any) -> None:
    """The forward pass of such a region is over."""
    every = outputs if isinstance(outputs, tuple) else (outputs,)
    prints = [_print_of(t) for t in every if isinstance(t, torch.Tensor) and t.is_floating_point()]
    ctx.clarion_region = Region(place, bool(getattr(ctx, "preserve_rng_state", True))), prints
