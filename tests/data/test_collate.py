"""default_collate and default_convert."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import clarion as torch
from clarion.utils.data import default_collate, default_convert
from clarion.utils.data._utils.collate import collate, default_collate_fn_map

Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("samples", "dtype", "values"),
    [
        ([1, 2], torch.int64, [1, 2]),
        ([True, False], torch.bool, [True, False]),
        ([1.5, 2], torch.float64, [1.5, 2.0]),
        ([np.float32(1), np.float32(2)], torch.float32, [1.0, 2.0]),
        ([np.ones(2, np.int16), np.zeros(2, np.int16)], torch.int16, [[1, 1], [0, 0]]),
        ([np.array(1), np.array(2)], torch.int64, [1, 2]),
        ([torch.tensor(1.0), torch.tensor(2.0)], torch.float32, [1.0, 2.0]),
        ([torch.ones(2, 1), torch.zeros(2, 1)], torch.float32, [[[1.0], [1.0]], [[0.0], [0.0]]]),
        ([torch.ones(2), torch.arange(2)], torch.float32, [[1.0, 1.0], [0.0, 1.0]]),
        ([torch.ones(2, dtype=torch.bfloat16)] * 2, torch.bfloat16, [[1.0, 1.0], [1.0, 1.0]]),
    ],
)
def test_becomes_a_tensor(samples, dtype, values) -> None:
    batch = default_collate(samples)
    assert batch.dtype is dtype
    assert batch.tolist() == values


def test_structures() -> None:
    assert default_collate(["a", "b"]) == ["a", "b"]
    columns = default_collate([(1, "a", [2.0]), (3, "b", [4.0])])
    assert isinstance(columns, list)
    assert (columns[0].tolist(), columns[1], columns[2][0].tolist()) == ([1, 3], ("a", "b"), [2.0, 4.0])
    point = default_collate([Point(1, "s"), Point(2, "t")])
    assert isinstance(point, Point)
    assert point.x.tolist() == [1, 2]
    table = default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert isinstance(table, collections.OrderedDict)
    assert table["a"].tolist() == [1, 2]


def test_samples_are_left_alone() -> None:
    sample = {"a": 1}
    default_collate([sample, {"a": 2}])
    assert sample == {"a": 1}


def test_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    default_collate([x, x]).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("samples", "kind", "phrase"),
    [
        ([None, None], TypeError, "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists"),
        ([np.array(["a"])], TypeError, "default_collate: batch must contain .* found <U1"),
        ([[1, 2], [3]], RuntimeError, "each element in list of batch should be of equal size"),
        ([torch.ones(2), torch.ones(3)], RuntimeError, "stack expects each tensor to be equal size"),
        ([{"a": 1}, {"b": 1}], KeyError, "a"),
    ],
)
def test_refusals(samples, kind, phrase) -> None:
    with pytest.raises(kind, match=phrase):
        default_collate(samples)


def test_convert() -> None:
    converted = default_convert({"x": np.ones(2), "y": (np.zeros(1), "s", 3), "p": Point(np.array(0), None)})
    assert converted["x"].tolist() == [1.0, 1.0]
    assert isinstance(converted["y"], list)
    assert (converted["y"][0].tolist(), converted["y"][1:]) == ([0.0], ["s", 3])
    assert isinstance(converted["p"], Point)
    strings = np.array(["a"])
    assert default_convert(strings) is strings


def test_table_of_ones_own() -> None:
    table = {**default_collate_fn_map, str: lambda batch, *, collate_fn_map: "".join(batch)}
    assert collate([{"s": "a", "n": 1}, {"s": "b", "n": 2}], collate_fn_map=table)["s"] == "ab"
