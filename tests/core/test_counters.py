"""The counters that keep hot paths short go back to zero, whatever happens to those who raised them."""

from __future__ import annotations

import gc
import threading

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
