"""`torch.utils.data.datapipes` beside PyTorch's: samples, order, lengths, seeds, shards and refusals."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

pytestmark = [
    pytest.mark.compare,
    pytest.mark.filterwarnings("ignore:(Lambda|Local) function"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:Some child DataPipes"),
]


def numbers(lib: Any, count: int = 10) -> Any:
    return lib.utils.data.datapipes.iter.IterableWrapper(range(count))


def odd(x: int) -> int:
    return x % 2


def plus(x: int, y: int) -> int:
    return x + y


def length(pipe: Any) -> Any:
    try:
        return len(pipe)
    except TypeError as error:
        return str(error)


def batches(lib: Any) -> Any:
    pipe = numbers(lib).batch(3).batch(2)
    return [length(pipe), list(pipe), list(pipe.unbatch(2)), list(pipe.unbatch(-1)), length(pipe.unbatch())]


def columns(lib: Any) -> Any:
    rows = lib.utils.data.datapipes.iter.IterableWrapper([(1, 2, 3), (4, 5, 6)])
    kept = rows.filter(lambda x: x > 3, input_col=1)
    return [list(rows.map(plus, [0, 2])), list(rows.map(plus, [0, 2], -1)), list(rows.map(plus, (0, 1), 2)), list(kept)]


def groups(lib: Any) -> Any:
    pipe = numbers(lib).groupby(lambda x: x % 3, group_size=3, guaranteed_group_size=2, buffer_size=5)
    return list(pipe), list(numbers(lib).groupby(lambda x: x % 3, keep_key=True))


def groups_that_do_not_fit(lib: Any) -> Any:
    return list(numbers(lib).groupby(lambda x: x, group_size=3, buffer_size=5))


def forks(lib: Any) -> Any:
    a, b, c = numbers(lib).fork(3)
    pairs = list(zip(a, b, strict=True))
    again = list(a), list(c), list(b)
    d, e = numbers(lib).demux(2, odd)
    return pairs, again, list(e), list(d), length(a), list(numbers(lib, 3).mux(numbers(lib, 4)))


def a_fork_that_runs_ahead(lib: Any) -> Any:
    a, _ = numbers(lib).fork(2, buffer_size=3)
    return list(a)


def the_old_iterator(lib: Any) -> Any:
    pipe = numbers(lib)
    first = iter(pipe)
    next(first)
    next(iter(pipe))
    return next(first)


def an_error_names_its_pipe(lib: Any) -> Any:
    return list(numbers(lib).map(lambda x: 1 // x))


def shuffled(lib: Any) -> Any:
    lib.manual_seed(0)
    pipe = numbers(lib, 20).shuffle(buffer_size=7)
    by_seed = list(pipe.set_seed(3))
    by_key = lib.utils.data.datapipes.map.SequenceWrapper(range(8)).shuffle()
    return list(pipe), list(pipe), by_seed, list(by_key), list(pipe.set_shuffle(False))


def restored(lib: Any) -> Any:
    snapshot = importlib.import_module(f"{lib.__name__}.utils.data.datapipes.utils.snapshot")
    pipe = numbers(lib).shuffle().set_seed(1).map(odd)
    generator = lib.Generator()
    snapshot._simple_graph_snapshot_restoration(pipe, 4, generator.manual_seed(5))
    rest = list(pipe)
    return rest, pipe._number_of_samples_yielded


def graphs(lib: Any) -> Any:
    data = lib.utils.data
    a, b = numbers(lib).map(odd).fork(2)
    graph = data.graph.traverse_dps(a.zip(b))
    pipes = data.graph_settings.get_all_graph_pipes(graph)
    kept = pickle.loads(pickle.dumps(a.zip(b)))
    return [repr(pipe) for pipe in pipes], list(kept), list(copy.deepcopy(a))


def sharded_twice(lib: Any) -> Any:
    pipe = numbers(lib).sharding_filter().sharding_filter()
    return lib.utils.data.graph_settings.apply_sharding(pipe, 2, 0)


def loaded(lib: Any) -> Any:
    lib.manual_seed(0)
    pipe = numbers(lib, 12).shuffle().sharding_filter().map(odd).batch(2)
    loader = lib.utils.data.DataLoader(pipe, batch_size=None, shuffle=True)
    keys = lib.utils.data.datapipes.map.SequenceWrapper(range(5)).map(odd).batch(2)
    return [list(loader), list(loader), [x.tolist() for x in lib.utils.data.DataLoader(keys, collate_fn=lib.tensor)]]


def loaded_by_workers(lib: Any) -> Any:
    lib.manual_seed(0)
    pipe = numbers(lib, 12).shuffle().sharding_filter()
    loader = lib.utils.data.DataLoader(pipe, batch_size=3, num_workers=2, persistent_workers=True)
    return [[batch.tolist() for batch in loader] for _ in range(2)]


def keys(lib: Any) -> Any:
    pipes = lib.utils.data.datapipes.map
    a, b = pipes.SequenceWrapper(range(5)), pipes.SequenceWrapper("abc")
    return [list(a.concat(b)), list(a.zip(b)), list(a.batch(2, drop_last=True)), len(a.batch(2)), a.concat(b)[6]]


def names(lib: Any) -> Any:
    data = lib.utils.data
    found = sorted(data.IterDataPipe.functions), sorted(data.MapDataPipe.functions)
    return [[name for name in each if not name.startswith(("_", "trace_as"))] for each in found]


PROGRAMS = [
    batches, columns, groups, groups_that_do_not_fit, forks, a_fork_that_runs_ahead, the_old_iterator,
    an_error_names_its_pipe, shuffled, restored, graphs, sharded_twice, loaded, loaded_by_workers, keys, names,
]  # fmt: skip


def outcome(program: Callable[[Any], Any], lib: Any) -> Any:
    try:
        return program(lib)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_pytorch(program: Callable[[Any], Any]) -> None:
    assert outcome(program, clarion) == outcome(program, torch)
