"""What the rules on train and eval mode and on losses stand on."""

from __future__ import annotations

import gc
import weakref

import pytest

import clarion as torch
from clarion import nn
from clarion.diagnose import watching
from clarion.diagnose.graph.layers import depends_on_mode
from clarion.diagnose.graph.paths import operation, origin
from clarion.diagnose.graph.traits import having
from clarion.diagnose.rules.loss_broadcast import _extra_dimension, _is_the_same_for_every_row, _makes_a_table


class ByHand(nn.Module):
    """Depends on its mode by itself."""

    def forward(self, x):
        return x * 2 if self.training else x


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (nn.Dropout(0.1), True),
        (nn.Dropout(0.0), False),
        (nn.BatchNorm1d(3), True),
        (nn.BatchNorm1d(3, track_running_stats=False), False),
        (nn.InstanceNorm1d(3), False),
        (nn.LayerNorm(3), False),
        (nn.LSTM(3, 3, 2, dropout=0.1), True),
        (nn.LSTM(3, 3), False),
        (nn.MultiheadAttention(4, 2, dropout=0.1), True),
        (nn.RReLU(), True),
        (nn.Sequential(nn.Dropout(0.1)), False),  # what is in it does
        (ByHand(), True),
    ],
)
def test_depends_on_mode(module, expected):
    assert depends_on_mode(module) is expected


def test_an_origin_is_found_through_moves_only():
    x = torch.randn(4, 3, requires_grad=True)
    p = x.sigmoid()

    def found(value):
        return origin(value.grad_fn, "sigmoid".__eq__)

    assert operation(found(p.t().reshape(-1)[2:].clone())) == "sigmoid"
    assert found(p * 2) is None
    assert found(torch.cat([p, p])) is p.grad_fn
    assert found(torch.cat([p, x * 2])) is None  # only a part of it
    assert origin((p * 2).grad_fn, "sigmoid".__eq__, having("rearranges", also="mul")) is p.grad_fn


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((5, 1), (5,), True),
        ((5,), (5, 1), True),
        ((5, 1), (1, 5), True),
        ((4, 1, 4, 4), (4, 4, 4), True),
        ((1, 1), (1,), False),
        ((5, 1), (1,), False),
        ((5, 3), (3,), False),
        ((5, 3), (5, 1), False),
    ],
)
def test_tables(a, b, expected):
    assert _makes_a_table(a, b) is expected


def test_shapes_of_losses():
    assert _is_the_same_for_every_row((5, 3), (3,))
    assert _is_the_same_for_every_row((5, 3), (1, 3))
    assert _is_the_same_for_every_row((5, 3), (1, 1, 3))
    assert not _is_the_same_for_every_row((5, 3), (5, 1))
    assert _extra_dimension((4, 1, 6), (4, 6)) == 1
    assert _extra_dimension((4,), (4, 1)) == 1
    assert _extra_dimension((4, 3), (4, 1)) is None


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_nothing_is_kept_alive():
    """A model that was trained, evaluated in train mode and left in eval mode can be freed."""
    with watching() as findings:
        model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x, y = torch.randn(6, 3), torch.randn(6)
        for step in range(40):
            if step == 10:
                with torch.no_grad():
                    model(x)
                model.eval()
            loss = ((model(x) - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        kept = [weakref.ref(model), weakref.ref(x), weakref.ref(loss)]
        del model, optimizer, x, y, loss
        gc.collect()
        assert [ref() for ref in kept] == [None, None, None]
    assert {f.name for f in findings} == {"loss-broadcast", "training-in-eval-mode"}
