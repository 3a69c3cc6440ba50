"""FlopCounterMode counts what PyTorch's counts, forward and backward, per module and operation."""

from __future__ import annotations

import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

PROGRAMS = {
    "linear": lambda t, n: t.nn.functional.linear(n(2, 3, 4), n(5, 4), n(5)),
    "without a bias": lambda t, n: t.nn.functional.linear(n(3, 4), n(5, 4)),
    "matrices": lambda t, n: n(2, 3) @ n(3, 4),
    "a batch and a matrix": lambda t, n: n(2, 3, 4) @ n(4, 5),
    "batches": lambda t, n: n(2, 2, 3, 4) @ n(2, 2, 4, 5),
    "a vector": lambda t, n: n(3, 4) @ n(4),
    "addmm": lambda t, n: t.addmm(n(2, 4), n(2, 3), n(3, 4)),
    "baddbmm": lambda t, n: t.baddbmm(n(2, 3, 5), n(2, 3, 4), n(2, 4, 5)),
    "einsum": lambda t, n: t.einsum("bij,bjk->bik", n(2, 3, 4), n(2, 4, 5)),
    "groups": lambda t, n: t.nn.functional.conv2d(t.ones(1, 4, 8, 8), n(6, 2, 3, 3), n(6), groups=2, stride=2),
    "transposed": lambda t, n: t.nn.functional.conv_transpose2d(n(2, 4, 4, 4), n(4, 3, 2, 2), stride=2),
    "modules": lambda t, n: t.nn.Sequential(
        t.nn.Conv1d(2, 4, 3), t.nn.Flatten(), t.nn.Sequential(t.nn.Linear(16, 8), t.nn.ReLU(), t.nn.Linear(8, 3, bias=False))
    )(n(2, 2, 6)),
}  # fmt: skip


def _counts(t, mode, program):
    with mode(display=False) as counter:
        program(t, lambda *shape: t.ones(*shape, requires_grad=True)).sum().backward()
    found = counter.get_flop_counts()
    return counter.get_total_flops(), {
        module: {str(packet).replace("<OpOverloadPacket(op='", "").replace("')>", ""): n for packet, n in each.items()}
        for module, each in found.items()
        if each
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts(name):
    from torch.utils.flop_counter import FlopCounterMode as Theirs

    from clarion.utils.flop_counter import FlopCounterMode as Ours

    assert _counts(clarion, Ours, PROGRAMS[name]) == _counts(torch, Theirs, PROGRAMS[name])
