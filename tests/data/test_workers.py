"""DataLoader with worker processes: numbers, errors, deaths, and that nothing is left behind."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import clarion as torch
from clarion.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from clarion.utils.data._utils import transport

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"),
]


class Rows(Dataset):
    """Samples made by a function."""

    def __init__(self, n, function) -> None:
        self.n = n
        self.function = function

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i):
        return self.function(i)


class Shares(IterableDataset):
    """A stream that its workers share."""

    def __init__(self, n) -> None:
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, self.n, info.num_workers))


def forked(dataset, *args, **options) -> DataLoader:
    return DataLoader(dataset, *args, **{"num_workers": 2, "multiprocessing_context": "fork", **options})


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return sys.platform != "linux"


def all_gone(pids, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def pids_of(iterator) -> list[int]:
    return [process.pid for process in iterator._workers]


# Numbers ---------------------------------------------------------------------------------------------------------


def draw(i):
    info = get_worker_info()
    mine = random.getrandbits(30), np.random.randint(1 << 30), torch.randint(1 << 30, ()).item()
    return i, info.id, info.seed, *mine


def test_seeds_and_numbers_are_those_of_pytorch() -> None:
    torch.manual_seed(7)
    seed = 1407639518939636932
    assert [[int(column) for column in batch] for batch in forked(Rows(4, draw), 1, True)] == [
        [3, 0, seed, 997574109, 152107836, 639784763],
        [2, 1, seed + 1, 598524496, 1033864931, 1061676403],
        [0, 0, seed, 998772965, 863888540, 936797091],
        [1, 1, seed + 1, 630617725, 340245045, 192674561],
    ]


def test_same_as_without_workers() -> None:
    x = torch.randn(50, 3)
    torch.manual_seed(1)
    alone = [(a.tolist(), b.tolist()) for a, b in DataLoader(TensorDataset(x, torch.arange(50)), 8, True)]
    torch.manual_seed(1)
    helped = [(a.tolist(), b.tolist()) for a, b in forked(TensorDataset(x, torch.arange(50)), 8, True)]
    assert helped == alone


def test_order_does_not_depend_on_speed() -> None:
    slow_first = Rows(8, lambda i: time.sleep(0.1 if i == 0 else 0) or i)
    assert [batch.item() for batch in forked(slow_first)] == list(range(8))
    loader = forked(slow_first, in_order=False)
    got = [batch.item() for batch in loader]
    assert sorted(got) == list(range(8))
    assert got[0] != 0


def test_streams() -> None:
    assert [batch.tolist() for batch in forked(Shares(7), 2)] == [[0, 2], [1, 3], [4, 6], [5]]
    assert sorted(forked(Shares(5), None)) == list(range(5))
    loader = forked(Shares(5), 2, persistent_workers=True)
    assert [[batch.tolist() for batch in loader] for _ in range(3)] == [[[0, 2], [1, 3], [4]]] * 3


def test_persistent_workers() -> None:
    loader = forked(Rows(6, lambda i: (i, os.getpid())), 1, persistent_workers=True)
    first = {int(pid) for _, pid in loader}
    half = list(itertools.islice(loader, 2))
    assert [int(i) for i, _ in half] == [0, 1]
    assert [int(i) for i, _ in loader] == list(range(6))
    assert {int(pid) for _, pid in loader} == first
    pids = pids_of(iter(loader))
    del loader
    gc.collect()
    assert all_gone(pids)


def remember(worker: int) -> None:
    get_worker_info().dataset.function = lambda i: (worker, i)


def test_worker_init_fn() -> None:
    assert [(int(w), int(i)) for w, i in forked(Rows(4, None), worker_init_fn=remember)] == [(0, 0), (1, 1), (0, 2), (1, 3)]  # fmt: skip


# What travels -----------------------------------------------------------------------------------------------------


def test_large_batches() -> None:
    def sample(i):
        return {
            "x": torch.full((300, 200), float(i)),
            "half": torch.full((70_000,), i, dtype=torch.bfloat16),
            "turned": np.arange(60_000.0).reshape(200, 300).T + i,
            "small": i,
        }

    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    loader = forked(Rows(6, sample), 2)
    got = list(loader)
    for i, batch in enumerate(got):
        assert batch["small"].tolist() == [2 * i, 2 * i + 1]
        assert batch["x"][1].unique().tolist() == [2 * i + 1]
        assert batch["half"].dtype is torch.bfloat16
        assert batch["half"][0].unique().tolist() == [2 * i]
        assert batch["turned"][0].tolist() == sample(2 * i)["turned"].tolist()
        batch["x"] += 1  # it is memory like any other
        assert batch["x"].storage_offset() == 0
    gc.collect()
    if sys.platform == "linux":  # batches that are kept hold no descriptors
        assert len(os.listdir("/proc/self/fd")) <= before + 4


def test_without_memory_files(monkeypatch) -> None:
    def refuse(*args):
        raise OSError("none left")

    monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
    assert [batch.shape for batch in forked(Rows(4, lambda i: torch.ones(50_000)), 2)] == [(2, 50_000)] * 2


def test_large_requests_do_not_block() -> None:
    order = [list(range(200_000))] * 6
    loader = forked(Rows(200_000, lambda i: i), batch_sampler=order, collate_fn=lambda batch: np.array(batch))
    assert [len(batch) for batch in loader] == [200_000] * 6


def test_message_keeps_what_it_carries() -> None:
    ours, theirs = multiprocessing.Pipe()
    for value in (
        np.arange(5),
        np.zeros((400, 100), order="F"),
        [torch.ones(9), "a"],
        np.zeros(0),
        {"a": np.ones(9000)},
    ):
        sender = transport.Sender(theirs)
        sender.send(value)
        assert str(transport.Receiver(ours).receive()) == str(value)


def test_leaf_that_requires_grad() -> None:
    (leaf,) = forked(Rows(1, lambda i: torch.ones(2, requires_grad=True)), None, num_workers=1)
    assert leaf.requires_grad
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(forked(Rows(1, lambda i: torch.ones(2, requires_grad=True) * 2), None, num_workers=1))


# Errors -------------------------------------------------------------------------------------------------------------


def fail_at_one(i):
    if i == 1:
        raise ValueError("one is bad")
    return i


def test_error_is_raised_here() -> None:
    iterator = iter(forked(Rows(4, fail_at_one)))
    assert next(iterator).item() == 0
    with pytest.raises(
        ValueError, match=r"^Caught ValueError in DataLoader worker process 1\.\nOriginal Traceback"
    ) as e:
        next(iterator)
    assert "in fail_at_one" in str(e.value)
    assert "ValueError: one is bad" in str(e.value)
    assert [batch.item() for batch in iterator] == [2, 3]  # and it can go on


class Awkward(Exception):
    def __init__(self, a, b) -> None:
        super().__init__(f"{a} {b}")


def raise_key(i):
    return {}["missing"]


def raise_awkward(i):
    raise Awkward(1, 2)


def raise_local(i):
    class Local(Exception):
        pass

    raise Local("inside")


@pytest.mark.parametrize(
    ("function", "kind", "name"),
    [
        (raise_key, KeyError, "KeyError"),
        (raise_awkward, RuntimeError, "Awkward"),
        (raise_local, RuntimeError, "Local"),
        (lambda i: lambda: i, Exception, ""),  # a batch that cannot be pickled
    ],
)
def test_errors_of_all_kinds(function, kind, name) -> None:
    loader = forked(Rows(1, function), None, num_workers=1)
    with pytest.raises(kind, match=f"Caught {name}.* in DataLoader worker process 0"):
        list(loader)


def bad_start(worker: int) -> None:
    raise RuntimeError("not today")


def test_error_in_worker_init_fn() -> None:
    with pytest.raises(RuntimeError, match=r"Caught RuntimeError in DataLoader worker process 0(.|\n)*not today"):
        list(forked([1, 2], worker_init_fn=bad_start))


def test_timeout() -> None:
    iterator = iter(forked(Rows(2, lambda i: time.sleep(0.6) or i), timeout=0.1))
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.1 seconds"):
        next(iterator)


def test_not_picklable() -> None:
    loader = DataLoader(Rows(2, lambda i: i), num_workers=1, multiprocessing_context="spawn")
    with pytest.warns(UserWarning, match="Got pickle error"), pytest.raises((AttributeError, TypeError, Exception)):
        iter(loader)


# Deaths ---------------------------------------------------------------------------------------------------------------


def die_at_two(i):
    if i == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return i


@pytest.mark.parametrize("persistent", [False, True])
def test_killed_worker(persistent) -> None:
    loader = forked(Rows(8, die_at_two), persistent_workers=persistent)
    iterator = iter(loader)
    pids = pids_of(iterator)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly\n.*SIGKILL"):
        list(iterator)
    assert time.monotonic() - start < 3
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(iterator)
    assert all_gone(pids)
    assert next(iter(loader)).item() == 0  # the loader itself is whole: another epoch has other workers


def test_worker_killed_while_idle() -> None:
    iterator = iter(forked(Rows(100, lambda i: i)))
    next(iterator)
    os.kill(pids_of(iterator)[1], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(iterator)


def test_worker_that_exits() -> None:
    with pytest.raises(RuntimeError, match=r"exited unexpectedly\n.*exit code 3"):
        list(forked(Rows(2, lambda i: os._exit(3)), num_workers=1))


def test_worker_killed_while_sending() -> None:
    iterator = iter(forked(Rows(40, lambda i: [0] * 400_000), None, collate_fn=list))  # more than a socket holds
    next(iterator)
    time.sleep(0.1)
    os.kill(pids_of(iterator)[0], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(iterator)


def test_dropped_iterator() -> None:
    iterator = iter(forked(Rows(100, lambda i: torch.ones(100_000)), 2))
    next(iterator)
    pids = pids_of(iterator)
    start = time.monotonic()
    del iterator
    gc.collect()
    assert not any(map(alive, pids))
    assert time.monotonic() - start < 3


def test_dropped_iterator_with_stuck_workers(monkeypatch) -> None:
    from clarion.utils.data._utils import crew

    monkeypatch.setattr(crew, "_GRACE", 0.2)
    iterator = iter(forked(Rows(100, lambda i: time.sleep(100))))
    pids = pids_of(iterator)
    del iterator
    gc.collect()
    assert all_gone(pids)


def program(text: str, *signals: int, first: str = "") -> tuple[int, str, list[int]]:
    """Run a program that prints its workers' process ids and then works on; send it signals. → code, errors, ids."""
    prelude = """
        import os, sys, time
        FIRST
        import clarion as torch
        from clarion.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __len__(self): return 1000
            def __getitem__(self, i): return torch.full((50_000,), float(i))
        iterator = iter(DataLoader(Rows(), 2, num_workers=2, multiprocessing_context="fork"))
        next(iterator)
        print(*[w.pid for w in iterator._workers], flush=True)
    """
    code = textwrap.dedent(prelude).replace("FIRST", first) + textwrap.dedent(text)
    command = [sys.executable, "-W", "ignore", "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        for number in signals:
            if number == signal.SIGINT:
                os.killpg(process.pid, number)  # as a terminal does
            else:
                process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    return process.returncode, errors, pids


def test_end_of_the_program() -> None:
    code, errors, pids = program("sys.exit(0)")
    assert (code, errors) == (0, "")
    assert len(pids) == 2
    assert all_gone(pids)


def test_ctrl_c() -> None:
    code, errors, pids = program("for batch in iterator: time.sleep(0.1)", signal.SIGINT)
    assert len(pids) == 2
    assert code != 0
    assert errors.count("Traceback") == 1, errors
    assert "KeyboardInterrupt" in errors
    assert all_gone(pids)


def test_ctrl_c_while_a_worker_is_forked() -> None:
    # The second worker is still in Python's handlers after a fork when the signal comes.
    slow = (
        "forks = []; os.register_at_fork(before=lambda: forks.append(1), "
        "after_in_child=lambda: time.sleep(len(forks) - 1))"
    )
    code, errors, pids = program("for batch in iterator: time.sleep(0.1)", signal.SIGINT, first=slow)
    assert code != 0
    assert errors.count("Traceback") == 1, errors
    assert all_gone(pids)


def test_main_process_killed() -> None:
    code, _, pids = program("time.sleep(100)", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert len(pids) == 2
    assert all_gone(pids)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="shared memory has no directory here")
def test_no_shared_memory_is_left() -> None:
    before = set(os.listdir("/dev/shm"))
    iterator = iter(forked(Rows(20, lambda i: torch.ones(100_000)), 2))
    next(iterator)
    os.kill(pids_of(iterator)[0], signal.SIGKILL)
    with pytest.raises(RuntimeError):
        list(iterator)
    left = set(os.listdir("/dev/shm")) - before
    assert not [name for name in left if "clarion" in name]


# Other ways to start ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", ["spawn", multiprocessing.get_context("forkserver")], ids=["spawn", "forkserver"])
def test_other_contexts(context) -> None:
    torch.manual_seed(3)
    alone = [batch[0].tolist() for batch in forked(TensorDataset(torch.arange(9)), 4, True)]
    torch.manual_seed(3)
    loader = DataLoader(TensorDataset(torch.arange(9)), 4, True, num_workers=2, multiprocessing_context=context)
    assert [batch[0].tolist() for batch in loader] == alone
