"""`torch.utils.data` beside PyTorch's: the same programs, order of batches, random numbers and refusals."""

from __future__ import annotations

import collections
import random
import warnings
from typing import Any

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

pytestmark = [
    pytest.mark.compare,
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]

Point = collections.namedtuple("Point", "x y")


def plain(value: Any) -> Any:
    """A structure without tensors, and with the types of what stood there."""
    if isinstance(value, (torch.Tensor, clarion.Tensor)):
        return "tensor", str(value.dtype), tuple(value.shape), value.tolist()
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [plain(each) for each in value]
    return value


def outcome(program: Any, lib: Any) -> Any:
    """What a program gives, or what it raises: type and first line; and its warnings."""
    lib.manual_seed(7)
    random.seed(7)
    np.random.seed(7)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(program(lib, lib.utils.data))
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            result = "raised", kinds[0], str(error).split("\n")[0]
    told = [str(w.message)[:60] for w in caught if issubclass(w.category, (UserWarning, FutureWarning))]
    return result, told, lib.initial_seed(), lib.rand(2).tolist()


def same(program: Any) -> None:
    ours, theirs = outcome(program, clarion), outcome(program, torch)
    if ours[0] != theirs[0] and isinstance(ours[0], tuple) and ours[0][:2] == theirs[0][:2] and ours[0][0] == "raised":
        # our first line may go on after PyTorch's phrase
        assert ours[0][2].startswith(theirs[0][2][:60]), (ours, theirs)
        ours, theirs = (None, *ours[1:]), (None, *theirs[1:])
    assert ours == theirs


def squares(data: Any, n: int) -> Any:
    class Squares(data.Dataset):
        def __len__(self) -> int:
            return n

        def __getitem__(self, i: int) -> Any:
            return i * i

    return Squares()


def noise(lib: Any, data: Any, n: int) -> Any:
    """Every sample says who loaded it, and draws from all three generators."""

    class Noise(data.Dataset):
        def __len__(self) -> int:
            return n

        def __getitem__(self, i: int) -> Any:
            info = data.get_worker_info()
            who = (-1, 0, 0) if info is None else (info.id, info.num_workers, info.seed)
            return i, list(who), random.random(), np.random.randint(1 << 30), lib.rand(2), lib.randn(3)

    return Noise()


def stream(data: Any, n: int, length: int | None = None, split: bool = True) -> Any:
    class Stream(data.IterableDataset):
        def __iter__(self) -> Any:
            info = data.get_worker_info()
            if info is None or not split:
                return iter(range(n))
            return iter(range(info.id, n, info.num_workers))

        def __repr__(self) -> str:
            return "Stream"

    if length is not None:
        Stream.__len__ = lambda self: length  # type: ignore[attr-defined]
    return Stream()


# Samplers and splits ---------------------------------------------------------------------------------------------

ORDERS = {
    "sequential": lambda lib, d: list(d.SequentialSampler(range(7))),
    "random": lambda lib, d: [list(d.RandomSampler(range(100))) for _ in range(2)],
    "random generator": lambda lib, d: [
        list(d.RandomSampler(range(40), generator=g)) for g in [lib.Generator().manual_seed(3)] for _ in range(3)
    ],
    "random replacement": lambda lib, d: list(d.RandomSampler(range(50), replacement=True)),
    "random replacement many": lambda lib, d: list(d.RandomSampler(range(5), True, 131)),
    "random more than there are": lambda lib, d: list(d.RandomSampler(range(9), num_samples=31)),
    "random fewer": lambda lib, d: list(d.RandomSampler(range(900), num_samples=31)),
    "subset": lambda lib, d: list(d.SubsetRandomSampler([5, 1, 8, 2], lib.Generator().manual_seed(1))),
    "subset default": lambda lib, d: list(d.SubsetRandomSampler(range(3, 90))),
    "weighted": lambda lib, d: list(d.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 40)),
    "weighted once": lambda lib, d: list(d.WeightedRandomSampler([0.9, 0.4, 0.05, 0.2, 0.3, 0.1], 5, False)),
    "batches": lambda lib, d: list(d.BatchSampler(range(10), 3, False)) + list(d.BatchSampler(range(10), 3, True)),
    "batches len": lambda lib, d: [len(d.BatchSampler(range(10), 3, last)) for last in (False, True)],
    "distributed": lambda lib, d: [
        [list(d.DistributedSampler(range(n), 3, rank, drop_last=last)) for rank in range(3)]
        for n in (2, 9, 10) for last in (False, True) if n > 2 or not last
    ],
    "split": lambda lib, d: [part.indices for part in d.random_split(range(10), [3, 7])],
    "split fractions": lambda lib, d: [part.indices for part in d.random_split(range(31), [0.3, 0.3, 0.4])],
    "split generator": lambda lib, d: [
        part.indices for part in d.random_split(range(10), [0.5, 0.5], generator=lib.Generator().manual_seed(42))
    ],
    "split empty part": lambda lib, d: [len(part) for part in d.random_split(range(2), [0.4, 0.4, 0.2])],
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name: str) -> None:
    same(ORDERS[name])


# Datasets -----------------------------------------------------------------------------------------------------------

DATASETS = {
    "tensors": lambda lib, d: list(d.TensorDataset(lib.arange(3), lib.rand(3, 2))),
    "tensors slice": lambda lib, d: d.TensorDataset(lib.arange(9), lib.rand(9, 2))[2:5],
    "concat": lambda lib, d: [(d.ConcatDataset([range(3), range(10, 14)])[i]) for i in (0, 2, 3, 6, -1, -7)],
    "concat add": lambda lib, d: list(d.DataLoader(squares(d, 3) + squares(d, 4), batch_size=5)),
    "concat sizes": lambda lib, d: d.ConcatDataset([range(3), range(10, 14)]).cummulative_sizes,
    "chain": lambda lib, d: list(stream(d, 3) + stream(d, 4)),
    "chain len": lambda lib, d: len(d.ChainDataset([stream(d, 3, 3), stream(d, 4, 4)])),
    "stack": lambda lib, d: [d.StackDataset(range(3), squares(d, 3))[2], d.StackDataset(a=range(3))[1]],
    "stack items": lambda lib, d: [
        d.StackDataset(range(3), d.Subset(squares(d, 9), [2, 3, 4])).__getitems__([0, 2]),
        d.StackDataset(a=range(3), b=d.Subset(squares(d, 9), [2, 3, 4])).__getitems__([0, 2]),
    ],
    "subset": lambda lib, d: [d.Subset(squares(d, 9), [5, 3])[i] for i in (0, 1, -1)],
    "subset of subset": lambda lib, d: list(
        d.DataLoader(d.Subset(d.Subset(d.TensorDataset(lib.arange(9)), [8, 6, 4, 2]), [3, 0]), batch_size=2)
    ),
}


@pytest.mark.parametrize("name", DATASETS)
def test_datasets(name: str) -> None:
    same(DATASETS[name])


# Collation -----------------------------------------------------------------------------------------------------------


class Ordered(collections.OrderedDict):
    pass


SAMPLES = {
    "ints": [1, 2, 3],
    "bools": [True, False],
    "floats": [1.5, 2],
    "int first": [1, 2.5],
    "complex": [1j, 2],
    "none": [None, None],
    "set": [{1}, {2}],
    "strings": ["a", "b"],
    "bytes": [b"a", b"b"],
    "tuples": [(1, "a"), (2, "b")],
    "lists": [[1, [2.0]], [3, [4.0]]],
    "ragged": [[1, 2], [3]],
    "empty lists": [[], []],
    "dicts": [{"a": 1, "b": (2.0,)}, {"a": 3, "b": (4.0,)}],
    "missing key": [{"a": 1}, {"b": 1}],
    "ordered": [Ordered(a=1), Ordered(a=2)],
    "defaultdict": [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
    "named": [Point(1, "s"), Point(2, "t")],
    "deque": [collections.deque([1, 2]), collections.deque([3, 4])],
    "range": [range(2), range(2, 4)],
    "arrays": [np.arange(3), np.arange(3)],
    "arrays f32": [np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)],
    "arrays 0-d": [np.array(1), np.array(2)],
    "arrays mixed": [np.ones(2, np.float32), np.ones(2, np.float64)],
    "arrays sizes": [np.ones(2), np.ones(3)],
    "arrays str": [np.array(["a"]), np.array(["b"])],
    "arrays object": [np.array([None]), np.array([None])],
    "np float": [np.float32(1), np.float32(2)],
    "np int": [np.int16(1), np.int16(2)],
    "np bool": [np.bool_(True), np.bool_(False)],
    "np str": [np.str_("a"), np.str_("b")],
    "mixed": [{"x": np.ones(2), "y": [1, ("a", 2.0)]}] * 3,
    "empty": [],
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collate(name: str, function: str) -> None:
    same(lambda lib, d: getattr(d, function)(SAMPLES[name]))


TENSORS = {
    "rows": lambda lib: [lib.rand(2, 3) for _ in range(3)],
    "scalars": lambda lib: [lib.rand(()) for _ in range(3)],
    "half": lambda lib: [lib.rand(2).to(lib.bfloat16) for _ in range(3)],
    "mixed": lambda lib: [lib.rand(2), lib.arange(2)],
    "sizes": lambda lib: [lib.rand(2), lib.rand(3)],
    "empty": lambda lib: [lib.rand(0), lib.rand(0)],
    "turned": lambda lib: [lib.rand(2, 3).t() for _ in range(3)],
    "nested": lambda lib: [{"a": lib.rand(2), "b": [1, lib.rand(())]} for _ in range(2)],
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collate_tensors(name: str, function: str) -> None:
    same(lambda lib, d: getattr(d, function)(TENSORS[name](lib)))


def test_collate_keeps_the_graph() -> None:
    def program(lib: Any, d: Any) -> Any:
        x = lib.rand(3, requires_grad=True)
        batch = d.default_collate([x, x * 2])
        batch.sum().backward()
        return [batch.requires_grad, type(batch.grad_fn).__name__, x.grad]

    same(program)


# Loaders ---------------------------------------------------------------------------------------------------------------


def epochs(loader: Any, n: int = 2) -> Any:
    return [list(loader) for _ in range(n)]


LOADERS = {
    "plain": lambda lib, d: epochs(d.DataLoader(squares(d, 10), 4)),
    "list": lambda lib, d: epochs(d.DataLoader(list(range(5)), 2)),
    "shuffled": lambda lib, d: epochs(d.DataLoader(squares(d, 10), 4, True)),
    "shuffled generator": lambda lib, d: epochs(
        d.DataLoader(squares(d, 10), 4, True, generator=lib.Generator().manual_seed(5))
    ),
    "drop last": lambda lib, d: epochs(d.DataLoader(squares(d, 10), 4, drop_last=True)),
    "no batches": lambda lib, d: epochs(d.DataLoader(squares(d, 4), None)),
    "no batches arrays": lambda lib, d: epochs(d.DataLoader([np.ones(2), np.zeros(2)], None, shuffle=True)),
    "sampler": lambda lib, d: epochs(d.DataLoader(squares(d, 9), 2, sampler=[5, 3, 1])),
    "batch sampler": lambda lib, d: epochs(d.DataLoader(squares(d, 9), batch_sampler=[[5, 3], [1]])),
    "collate": lambda lib, d: epochs(d.DataLoader(squares(d, 9), 4, collate_fn=sum)),
    "stream": lambda lib, d: epochs(d.DataLoader(stream(d, 10), 4)),
    "stream drop last": lambda lib, d: epochs(d.DataLoader(stream(d, 10), 4, drop_last=True)),
    "stream no batches": lambda lib, d: epochs(d.DataLoader(stream(d, 3), None)),
    "tensors": lambda lib, d: epochs(d.DataLoader(d.TensorDataset(lib.rand(10, 2), lib.arange(10)), 4, True)),
    "tensors negative": lambda lib, d: list(d.DataLoader(d.TensorDataset(lib.arange(9)), 2, sampler=[-1, 3, -9])),
    "tensors outside": lambda lib, d: list(d.DataLoader(d.TensorDataset(lib.arange(9)), 2, sampler=[3, 9])),
    "tensors with grad": lambda lib, d: list(
        d.DataLoader(d.TensorDataset(lib.arange(9.0, requires_grad=True)), 2, sampler=[3, 0])
    ),
    "tensors bfloat16": lambda lib, d: list(d.DataLoader(d.TensorDataset(lib.rand(9).to(lib.bfloat16)), 4)),
    "parts": lambda lib, d: [
        epochs(d.DataLoader(part, 4, True)) for part in d.random_split(d.TensorDataset(lib.rand(10)), [0.3, 0.7])
    ],
    "pinned": lambda lib, d: epochs(d.DataLoader(squares(d, 5), 4, pin_memory=True)),
    "lengths": lambda lib, d: [
        len(d.DataLoader(squares(d, 10), 4)),
        len(d.DataLoader(squares(d, 10), 4, drop_last=True)),
        len(d.DataLoader(squares(d, 10), None)),
        len(d.DataLoader(squares(d, 10), batch_sampler=[[1], [2]])),
        len(d.DataLoader(stream(d, 10, 10), 4)),
        len(d.DataLoader(stream(d, 10, 10), 4, drop_last=True)),
        len(d.DataLoader(stream(d, 10, 10), None)),
        len(iter(d.DataLoader(squares(d, 10), 4))),
    ],
    "no length": lambda lib, d: len(d.DataLoader(stream(d, 10), 4)),
    "iterator of a stream has no length": lambda lib, d: len(iter(d.DataLoader(stream(d, 10, 10), 4))),
    "two iterators": lambda lib, d: [
        list(zip(loader, loader, strict=True)) for loader in [d.DataLoader(squares(d, 8), 2, True)]
    ],
    "random in samples": lambda lib, d: epochs(d.DataLoader(noise(lib, d, 5), 2, True)),
    "error": lambda lib, d: list(d.DataLoader([None, 1], 2)),
    "error in dataset": lambda lib, d: list(d.DataLoader(d.Dataset(), 2, sampler=[0])),
    "timeout": lambda lib, d: list(d.DataLoader([1], timeout=1)),
    "stop in dataset": lambda lib, d: list(d.DataLoader([1, 2], sampler=iter([0, 1]))),
}


@pytest.mark.parametrize("name", LOADERS)
def test_loaders(name: str) -> None:
    same(LOADERS[name])


def test_stream_longer_than_it_said() -> None:
    def program(lib: Any, d: Any) -> Any:
        loader = d.DataLoader(stream(d, 6, 2), None)
        return [len(loader), list(loader)]

    same(program)


# Workers -------------------------------------------------------------------------------------------------------------------


class CountingSampler:
    """Draws when it is asked for an iterator, not when the first index is."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib

    def __iter__(self) -> Any:
        return iter(self.lib.randperm(8).tolist())

    def __len__(self) -> int:
        return 8


def persistent(loader: Any) -> Any:
    """An epoch, half of one, and another."""
    first = list(loader)
    half = [batch for batch, _ in zip(loader, range(2), strict=False)]
    return [first, half, list(loader)]


def say_hello(worker: int) -> None:
    np.random.seed(worker)


WORKERS = {
    "plain": lambda lib, d: epochs(d.DataLoader(squares(d, 10), 3, num_workers=2)),
    "random": lambda lib, d: epochs(d.DataLoader(noise(lib, d, 9), 2, True, num_workers=2)),
    "random generator": lambda lib, d: epochs(
        d.DataLoader(noise(lib, d, 9), 2, True, num_workers=2, generator=lib.Generator().manual_seed(5))
    ),
    "many": lambda lib, d: epochs(d.DataLoader(noise(lib, d, 9), 2, num_workers=3, prefetch_factor=1), 1),
    "init": lambda lib, d: epochs(d.DataLoader(noise(lib, d, 5), 2, num_workers=2, worker_init_fn=say_hello)),
    "drawing sampler": lambda lib, d: epochs(d.DataLoader(squares(d, 8), 3, sampler=CountingSampler(lib), num_workers=1)),
    "persistent": lambda lib, d: persistent(
        d.DataLoader(noise(lib, d, 9), 1, True, num_workers=2, persistent_workers=True)
    ),
    "stream": lambda lib, d: epochs(d.DataLoader(stream(d, 11), 2, num_workers=2)),
    "stream whole": lambda lib, d: epochs(d.DataLoader(stream(d, 5, split=False), 2, num_workers=2)),
    "stream uneven": lambda lib, d: epochs(d.DataLoader(stream(d, 1), None, num_workers=2)),
    "stream persistent": lambda lib, d: epochs(
        d.DataLoader(stream(d, 7), 2, num_workers=2, persistent_workers=True), 3
    ),
    "tensors": lambda lib, d: epochs(d.DataLoader(d.TensorDataset(lib.rand(9, 2), lib.arange(9)), 4, True, num_workers=1)),
    "one out of order": lambda lib, d: epochs(d.DataLoader(squares(d, 9), 2, num_workers=1, in_order=False)),
    "timeout": lambda lib, d: epochs(d.DataLoader(squares(d, 9), 2, num_workers=1, timeout=30)),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKERS)
def test_workers(name: str) -> None:
    same(WORKERS[name])


def test_worker_error() -> None:
    def program(lib: Any, d: Any) -> Any:
        found: list[Any] = []
        iterator = iter(d.DataLoader([1, "a", 3, 4], 1, num_workers=1, collate_fn=lambda rows: 6 // (rows[0] - 3)))
        for _ in range(5):
            try:
                found.append(next(iterator))
            except Exception as error:
                lines = str(error).split("\n")
                found += [type(error).__name__, lines[:2], lines[-2]]
        return found

    same(program)


# Refusals -------------------------------------------------------------------------------------------------------------------

REFUSALS = {
    "workers": lambda lib, d: d.DataLoader([1], num_workers=-1),
    "timeout": lambda lib, d: d.DataLoader([1], timeout=-1),
    "prefetch alone": lambda lib, d: d.DataLoader([1], prefetch_factor=2),
    "prefetch": lambda lib, d: d.DataLoader([1], prefetch_factor=-2, num_workers=1),
    "prefetch none": lambda lib, d: iter(d.DataLoader([1], prefetch_factor=0, num_workers=1)),
    "persistent": lambda lib, d: d.DataLoader([1], persistent_workers=True),
    "sampler and shuffle": lambda lib, d: d.DataLoader([1], sampler=[0], shuffle=True),
    "batch sampler and size": lambda lib, d: d.DataLoader([1], batch_sampler=[[0]], batch_size=2),
    "batch sampler and last": lambda lib, d: d.DataLoader([1], batch_sampler=[[0]], drop_last=True),
    "no batches and last": lambda lib, d: d.DataLoader([1], None, drop_last=True),
    "batch size": lambda lib, d: d.DataLoader([1], 0),
    "batch size float": lambda lib, d: d.DataLoader([1], 1.5),
    "batch size bool": lambda lib, d: d.DataLoader([1], True),
    "drop last": lambda lib, d: d.DataLoader([1], drop_last="yes"),
    "nothing to shuffle": lambda lib, d: d.DataLoader([], shuffle=True),
    "stream shuffle": lambda lib, d: d.DataLoader(stream(d, 3), shuffle=True),
    "stream sampler": lambda lib, d: d.DataLoader(stream(d, 3), sampler=[0]),
    "stream batch sampler": lambda lib, d: d.DataLoader(stream(d, 3), batch_sampler=[[0]]),
    "context alone": lambda lib, d: d.DataLoader([1], multiprocessing_context="fork"),
    "context": lambda lib, d: d.DataLoader([1], multiprocessing_context="fire", num_workers=1),
    "context type": lambda lib, d: d.DataLoader([1], multiprocessing_context=3, num_workers=1),
    "set batch size": lambda lib, d: setattr(d.DataLoader([1]), "batch_size", 3),
    "set dataset": lambda lib, d: setattr(d.DataLoader([1]), "dataset", [2]),
    "random replacement": lambda lib, d: d.RandomSampler([1], replacement=1),
    "random samples": lambda lib, d: d.RandomSampler([1], num_samples=0),
    "random float": lambda lib, d: d.RandomSampler([1], num_samples=1.5),
    "weighted samples": lambda lib, d: d.WeightedRandomSampler([1.0], 0),
    "weighted replacement": lambda lib, d: d.WeightedRandomSampler([1.0], 1, replacement=1),
    "weighted shape": lambda lib, d: d.WeightedRandomSampler([[1.0]], 1),
    "weighted too many": lambda lib, d: list(d.WeightedRandomSampler([1.0, 2.0], 3, replacement=False)),
    "weighted negative": lambda lib, d: list(d.WeightedRandomSampler([-1.0, 2.0], 1, False)),
    "batches size": lambda lib, d: d.BatchSampler([1], -1, False),
    "batches last": lambda lib, d: d.BatchSampler([1], 1, 0),
    "sampler": lambda lib, d: list(d.Sampler()),
    "distributed rank": lambda lib, d: d.DistributedSampler([1], 2, 2),
    "tensors": lambda lib, d: d.TensorDataset(lib.ones(2), lib.ones(3)),
    "concat nothing": lambda lib, d: d.ConcatDataset([]),
    "concat stream": lambda lib, d: d.ConcatDataset([stream(d, 2)]),
    "concat outside": lambda lib, d: d.ConcatDataset([[1], [2]])[-3],
    "chain": lambda lib, d: list(d.ChainDataset([[1]])),
    "stack nothing": lambda lib, d: d.StackDataset(),
    "stack both": lambda lib, d: d.StackDataset([1], a=[1]),
    "stack lengths": lambda lib, d: d.StackDataset([1], [1, 2]),
    "split sum": lambda lib, d: d.random_split(range(3), [1, 1]),
    "split fraction": lambda lib, d: d.random_split(range(3), [1.5, -0.5]),
    "subset class": lambda lib, d: type("Mine", (d.Subset,), {"__getitem__": lambda self, i: i})([1], [0]),
    "dataset": lambda lib, d: d.Dataset()[0],
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # PyTorch's half-made iterator
@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    same(REFUSALS[name])
