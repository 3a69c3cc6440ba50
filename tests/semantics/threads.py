"""Threads: modes belong to a thread, leaves are shared, backward may run in several at once."""

from __future__ import annotations

import threading

from .programs import leaf, refusal


def _run(*functions):
    """Run functions in threads of their own; their results in order, exceptions as text."""
    results = [None] * len(functions)

    def work(i, function):
        try:
            results[i] = function()
        except Exception as error:
            results[i] = f"{type(error).__name__}: {error}"

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def grad_mode_of_a_new_thread(t):
    with t.no_grad():
        return _run(t.is_grad_enabled), t.is_grad_enabled()


def inference_mode_of_a_new_thread(t):
    with t.inference_mode():
        return _run(t.is_inference_mode_enabled), t.is_inference_mode_enabled()


def mode_set_in_a_thread_stays_there(t):
    def work():
        t.set_grad_enabled(False)
        return t.is_grad_enabled()

    return _run(work), t.is_grad_enabled(), (leaf(t) * 2).requires_grad


def recording_in_one_thread_while_off_in_another(t):
    x = leaf(t)
    barrier = threading.Barrier(2)

    def off():
        with t.no_grad():
            barrier.wait()
            y = x * 2
            barrier.wait()
        return y.requires_grad

    def on():
        barrier.wait()
        y = x * 2
        barrier.wait()
        return y.requires_grad

    return _run(off, on)


def saved_hooks_belong_to_a_thread(t):
    x, seen = leaf(t), []
    with t.autograd.graph.saved_tensors_hooks(lambda v: seen.append(1) or v, lambda v: v):
        _run(lambda: x * x)
    return seen


def two_backwards_at_once(t):
    def work():
        x = leaf(t)
        for _ in range(20):
            (x * x).sum().backward()
        return x.grad.tolist()

    return _run(work, work)


def shared_leaf(t):
    x = leaf(t)
    _run(*[lambda: (x * 2).sum().backward()] * 4)
    return x.grad


def shared_leaf_many_times(t):
    x = leaf(t)
    x.grad = t.zeros(3)

    def work():
        for _ in range(50):
            (x * 1).sum().backward()

    _run(work, work, work)
    return x.grad


def graph_made_here_and_walked_there(t):
    x = leaf(t)
    y = (x * x).sum()
    _run(y.backward)
    return x.grad


def shared_graph_retained(t):
    x = leaf(t)
    y = (x * x).exp().sum() * 0 + x.sum()
    _run(*[lambda: y.backward(retain_graph=True)] * 3)
    return x.grad


def grad_function_in_threads(t):
    x = leaf(t)
    return _run(*[lambda k=k: t.autograd.grad((x * k).sum(), x)[0].tolist() for k in (1.0, 2.0, 3.0)])


def error_in_a_thread(t):
    x = leaf(t)

    def work():
        return refusal(lambda: (x * 2).backward(), 40)

    return _run(work), t.is_grad_enabled()


def hook_runs_in_the_calling_thread(t):
    x, seen = leaf(t), []
    y = x * 2
    y.register_hook(lambda g: seen.append(threading.current_thread() is threading.main_thread()))
    y.sum().backward()
    return seen


def thread_inside_a_custom_backward(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            found = _run(t.is_grad_enabled)
            return g * 2 if found == [True] else g * 0

    x = leaf(t)
    F.apply(x).sum().backward()
    return x.grad


def anomaly_mode_in_main_thread(t):
    x = leaf(t)
    with t.autograd.detect_anomaly():
        (x * 2).sum().backward()
    return x.grad
