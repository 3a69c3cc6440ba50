"""`torch.utils.data.graph`: which pipes a pipe is made of."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Collection
from typing import Any

from .._import_utils import import_dill
from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

DataPipe = IterDataPipe | MapDataPipe
DataPipeGraph = dict[int, tuple[Any, Any]]
_WORTH_A_LOOK = (IterDataPipe, MapDataPipe, Collection)


def _stub_unpickler() -> str:
    return "STUB"


def _pipes_and_containers(state: Any) -> Any:
    """Of a state, what may hold pipes."""
    if isinstance(state, dict):
        return {name: value for name, value in state.items() if isinstance(value, _WORTH_A_LOOK)}
    if isinstance(state, tuple | list):
        return [value for value in state if isinstance(value, _WORTH_A_LOOK)]
    return state if isinstance(state, _WORTH_A_LOOK) else None


def _list_connected_datapipes(pipe: Any, only_datapipe: bool, cache: set[int]) -> list[Any]:
    """The pipes that a pipe holds, wherever: pickling it passes them all."""
    found: list[Any] = []

    def reduce_hook(each: Any) -> Any:
        if each is pipe or id(each) in cache:
            raise NotImplementedError
        found.append(each)
        cache.add(id(each))
        return _stub_unpickler, ()

    families = (IterDataPipe, MapDataPipe)
    try:
        for family in families:
            family.set_reduce_ex_hook(reduce_hook)
            if only_datapipe:
                family.set_getstate_hook(_pipes_and_containers)
        try:
            pickle.Pickler(io.BytesIO()).dump(pipe)
        except (pickle.PickleError, AttributeError, TypeError):
            if (dill := import_dill()) is None:
                raise
            dill.Pickler(io.BytesIO()).dump(pipe)
    finally:
        for family in families:
            family.set_reduce_ex_hook(None)
            if only_datapipe:
                family.set_getstate_hook(None)
    return found


def traverse_dps(datapipe: Any) -> DataPipeGraph:
    """The graph of a pipe: its id, with itself and the graphs of the pipes that its attributes hold."""
    return _traverse(datapipe, True, set())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> DataPipeGraph:
    """The same, looking into everything that its attributes hold. (Deprecated.)"""
    text = "`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead."
    if not only_datapipe:
        text += " And, the behavior will be changed to the equivalent of `only_datapipe=True`."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return _traverse(datapipe, bool(only_datapipe), set())


def _traverse(pipe: Any, only_datapipe: bool, cache: set[int]) -> DataPipeGraph:
    if not isinstance(pipe, IterDataPipe | MapDataPipe):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in cache:
        return {}
    cache.add(id(pipe))
    below: DataPipeGraph = {}
    for each in _list_connected_datapipes(pipe, only_datapipe, cache.copy()):
        below.update(_traverse(each, only_datapipe, cache.copy()))
    return {id(pipe): (pipe, below)}
