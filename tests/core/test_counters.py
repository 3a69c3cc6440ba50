"""The counters that keep hot paths short go back to zero, whatever happens to those who raised them."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time

import pytest

import clarion as torch
from clarion.core import hooks, modes


def test_a_thread_that_ends_inside_a_mode_leaves_nothing_behind() -> None:
    before = modes.special

    def work() -> None:
        torch.set_grad_enabled(False)
        torch.no_grad().__enter__()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    del thread
    gc.collect()
    assert modes.special == before


def test_a_leaf_that_dies_takes_its_hooks_along() -> None:
    before = hooks.leaf_hook_count
    x = torch.ones(3, requires_grad=True)
    handle = x.register_hook(lambda g: g)
    x.register_post_accumulate_grad_hook(lambda p: None)
    assert hooks.leaf_hook_count == before + 2
    handle.remove()
    handle.remove()
    assert hooks.leaf_hook_count == before + 1
    del x
    assert hooks.leaf_hook_count == before


class Interrupt(BaseException):
    """What Ctrl-C raises, here by a timer."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_an_interrupt_never_finds_a_mode_set_and_not_counted() -> None:
    def strike(*_: object) -> None:
        raise Interrupt

    rest, before = modes.special, signal.signal(signal.SIGALRM, strike)
    end, n = time.monotonic() + 0.5, 0
    try:
        while time.monotonic() < end:
            n += 1
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 * (1 + n % 13))
                while True:
                    with torch.no_grad(), torch.enable_grad(), torch.inference_mode():
                        pass
            except Interrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
            away = (not modes.state.grad) + modes.state.inference
            assert modes.special == rest + away
            modes.switch(True, False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert n > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_locks_are_free_after_a_fork() -> None:
    stop = threading.Event()

    def busy() -> None:
        weight = torch.ones(50, requires_grad=True)
        while not stop.is_set():
            (weight * torch.randn(50)).sum().backward()

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if not child:
                signal.alarm(20)
                torch.manual_seed(1)
                weight = torch.ones(3, requires_grad=True)
                (weight * torch.randn(3)).sum().backward()
                os._exit(0 if modes.special == 0 or modes.watched else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
