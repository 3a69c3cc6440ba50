"""Threads that share NumPy's loops: the same numbers as alone, errors where they belong, nothing left behind by a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import clarion
from clarion.kernels import crew
from clarion.kernels.quiet import quietly


@pytest.fixture(autouse=True)
def two_threads():
    before = clarion.get_num_threads()
    clarion.set_num_threads(2)
    yield
    clarion.set_num_threads(before)


def test_every_element_is_computed_once():
    counts = np.zeros(10_000, int)

    def task(begin: int, end: int) -> None:
        counts[begin:end] += 1

    crew.share(task, 9_999, 128)
    assert counts.tolist() == [1] * 9_999 + [0]


def test_helpers_take_part_and_obey_the_number_of_threads():
    seen = set()
    meet = threading.Barrier(2, timeout=30)

    def task(begin: int, end: int) -> None:
        seen.add(threading.get_ident())
        meet.wait()

    crew.share(task, 2, 1)
    assert len(seen) == 2
    clarion.set_num_threads(1)
    meet = threading.Barrier(1)
    seen.clear()
    crew.share(task, 8, 1)
    assert seen == {threading.get_ident()}


def test_work_inside_of_work_is_done_alone():
    done = []
    crew.share(lambda begin, end: crew.share(lambda b, e: done.append(b), 3, 1), 4, 1)
    assert sorted(done) == [0] * 4 + [1] * 4 + [2] * 4


def test_what_may_wait_is_one_job():
    done = []
    with crew.one_job():
        crew.share(lambda begin, end: done.append(("late", begin)), 2, 1, may_wait=True)
        crew.share(lambda begin, end: done.append(("now", begin)), 2, 1)
        assert sorted(done) == [("now", 0), ("now", 1)]
    assert sorted(done) == [("late", 0), ("late", 1), ("now", 0), ("now", 1)]


@pytest.mark.parametrize("where", ["helper", "caller"])
def test_an_error_reaches_the_caller_and_the_crew_lives_on(where):
    mine, meet = threading.get_ident(), threading.Barrier(2, timeout=30)

    def task(begin: int, end: int) -> None:
        meet.wait()
        if (threading.get_ident() == mine) is (where == "caller"):
            raise ZeroDivisionError(where)

    with pytest.raises(ZeroDivisionError, match=where):
        crew.share(task, 2, 1)
    test_every_element_is_computed_once()


def test_errors_of_arithmetic_are_told_on_the_thread_of_the_caller(monkeypatch):
    heard = []
    monkeypatch.setattr(clarion.events.hub, "float_error", lambda kind: heard.append((kind, threading.get_ident())))
    x, meet = np.zeros(2, np.float32), threading.Barrier(2, timeout=30)

    def task(begin: int, end: int) -> None:
        meet.wait()
        np.log(x[begin:end])

    quietly(crew.share)(task, 2, 1)
    assert heard == [("divide by zero", threading.get_ident())] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_a_crew_of_its_own():
    test_every_element_is_computed_once()
    child = os.fork()
    if not child:
        try:
            test_every_element_is_computed_once()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


PROGRAM = """
import hashlib, sys
import clarion as torch

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
F = torch.nn.functional
p, x = torch.nn.Parameter(torch.randn(3, 300_001)), torch.randn(3, 300_001)
found = hashlib.sha256()
for make in (torch.optim.SGD, torch.optim.AdamW, lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, weight_decay=0.1)):
    optimizer = make([p], lr=0.1)
    for _ in range(2):
        p.grad = None
        (F.gelu(p * x).tanh() + p.sigmoid() * 2 - (p * 0.1).exp()).mul(x).sum().backward()
        optimizer.step()
    found.update(p.detach().numpy().tobytes())
print(found.hexdigest())
"""


def test_the_number_of_threads_changes_no_bit():
    env = {**os.environ, "CLARION_COMPILE": "0"}
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, threads], env=env, capture_output=True, text=True, check=True
        ).stdout
        for threads in "123"
    }
    assert len(outputs) == 1
