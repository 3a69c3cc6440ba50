"""Activation checkpointing: does the recomputation of a region save what its forward pass saved?

PyTorch compares shapes and types of what both save, by the description that `_default_meta_extractor` gives of each tensor. In
its place stands one whose descriptions also know the values and the line, and notice a difference when they are compared.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import torch
import torch.utils.checkpoint as _checkpoint

from ..events import hub
from . import lines, listening, twins, values, versions
from .lines import Place
from .nodes import held
from .runs import Runs

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
        self.results: list[int | None] = []  # of the older kind
        self.runs = Runs()


class Meta(dict):  # type: ignore[type-arg]
    """What PyTorch compares: shape, type, device; and what it does not: the values."""

    __slots__ = ("place", "print", "region")

    def __ne__(self, other: object) -> bool:
        differs = dict.__ne__(self, other)
        first, again = (other, self) if isinstance(self, Again) else (self, other)
        if isinstance(first, Meta) and isinstance(again, Again) and first.region is not None:
            if differs:
                first.region.shapes.append(first.place)
            elif (
                first.print is not None
                and first.print != values.checksum(again.tensor)
                and not _is_statistic(again.tensor)
            ):
                first.region.differs.append(first.place)
        return differs

    __hash__ = None  # type: ignore[assignment]


class Again(Meta):
    """The description of what the recomputation saved."""

    __slots__ = ("tensor",)


_regions: list[Region] = []  # of this step
_written: list[tuple[Any, Place | None]] = []  # normalisations that were run again, and where


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
    patch(_checkpoint, "_checkpoint_without_reentrant_generator", _beginning)
    patch(_checkpoint.CheckpointFunction, "forward", _reentrant)


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
    meta.print = values.checksum(x)
    region.saved.append(meta.place)
    return meta


_running: dict[int, Region] = {}  # the frame of a call of `checkpoint` -> what is known of it


def _region() -> Region | None:
    """The call of `checkpoint` that is running, found on the stack."""
    frame: Any = sys._getframe(2)
    while frame is not None and not (frame.f_code.co_name == "checkpoint" and frame.f_code.co_filename == _FILE):
        frame = frame.f_back
    return None if frame is None else _running.get(id(frame))


def _beginning(original: Any) -> Any:
    """Around the part of `checkpoint` that prepares a region and ends its forward pass."""

    def generator(function: Any, preserve: Any = True, *args: Any, **kwargs: Any) -> Any:
        if held.aside or not (listening.ear.open or twins.wanted):
            return original(function, preserve, *args, **kwargs)
        region = Region(lines.here(), bool(preserve))
        _regions.append(region)
        del _regions[:-64]
        made = original(region.runs.repeated(function), preserve, *args, **kwargs)
        return _watched(region, id(sys._getframe(1)), made)

    return generator


def _watched(region: Region, frame: int, preparing: Iterator[None]) -> Iterator[None]:
    _running[frame] = region
    try:
        with region.runs.running_first():
            yield from preparing
    finally:
        _running.pop(frame, None)


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
    operation = region.runs.other_operation()
    return {"checkpoint": region.place, "differs": differs, "operation": operation, "saved": saved}


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
            first = region.runs.other_value() if region.differs else None
            differs = region.differs if first is None else [first, *region.differs]
            facts = {"place": region.place, "differs": differs, "random_replayed": region.replayed}
            hub.recomputed(None, {**facts, "written": region.written})


# The older kind (use_reentrant=True) is a custom Function, whose backward calls backward() on what it computed anew.


def _reentrant(original: Any) -> Any:
    def forward(ctx: Any, function: Any, preserve: Any, *args: Any) -> Any:
        if held.aside > 1 or not listening.ear.open:  # one stands for `apply`
            return original.__func__(ctx, function, preserve, *args)
        region = ctx.clarion_region = Region(lines.here(), bool(preserve))
        calls = iter([function])  # the first is the forward pass
        repeated = region.runs.repeated(function)
        with region.runs.running_first():
            return original.__func__(ctx, lambda *given: next(calls, repeated)(*given), preserve, *args)

    return staticmethod(forward)


def reentered(roots: Any) -> None:
    """A pass inside a pass: is it a region's, and did that compute the same as before?"""
    frame: Any = sys._getframe(3)
    while frame is not None and not (frame.f_code.co_name == "backward" and frame.f_code.co_filename == _FILE):
        if not lines.is_library(frame.f_code.co_filename):
            return
        frame = frame.f_back
    if frame is None:
        return
    region = getattr(frame.f_locals.get("ctx"), "clarion_region", None)
    if region is None:
        return
    again = [values.checksum(t) for t in roots if isinstance(t, torch.Tensor)]
    if again != region.results[: len(again)]:
        region.differs.append(region.place)
    _regions.append(region)


def forward_done(ctx: Any, outputs: Any) -> None:
    """The forward pass of such a region is over."""
    region = getattr(ctx, "clarion_region", None)
    if region is not None:
        every = outputs if isinstance(outputs, tuple) else (outputs,)
        tensors = [t for t in every if isinstance(t, torch.Tensor) and t.is_floating_point()]
        region.results = [values.checksum(t) for t in tensors]
