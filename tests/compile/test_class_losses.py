"""Losses of classes in compiled steps: targets that are ignored, all of them or none, and targets that are no classes."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.compiling.function import of

from .worlds import compare

F = torch.nn.functional
CLASSES = 4
TARGETS = {
    "all": [0, 3, 2, 1, 1],
    "some": [0, -100, 2, -100, 1],
    "none": [-100] * 5,
    "last": [3] * 5,
}


def _loss(kind: str, reduction: str, ignored: int, weight=None):
    function = getattr(F, kind)

    def loss(scores, y):
        if kind == "nll_loss":
            scores = F.log_softmax(scores, 1)
        return function(scores, y, weight=weight, reduction=reduction, ignore_index=ignored).sum()

    return loss


def _world(loss, targets, scale=1.0):
    def world():
        torch.manual_seed(0)
        model = torch.nn.Linear(6, CLASSES).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.arange(30).double().reshape(5, 6) / 30 * scale

        def function(y):
            optimizer.zero_grad()
            found = loss(model(x), y)
            found.backward()
            optimizer.step()
            return found.detach()

        def script(call, note):
            for y in (*targets, *targets):
                for _ in range(7):
                    call(torch.tensor(y))
                    note(list(model.parameters()))
                    if any(p.isnan().any() for p in model.parameters()):
                        return

        return function, script

    return world


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("kind", ["cross_entropy", "nll_loss"])
def test_targets(kind: str, reduction: str, weighted: bool) -> None:
    weight = torch.linspace(0.5, 2, CLASSES).double() if weighted else None
    made = compare(_world(_loss(kind, reduction, -100, weight), TARGETS.values()))
    assert made.replays


@pytest.mark.parametrize("ignored", [0, 3, 7])
def test_a_class_that_is_ignored(ignored: int) -> None:
    compare(_world(_loss("cross_entropy", "mean", ignored), [[0, 3, 2, 1, 1], [1, 1, 2, 2, 1], [0, 0, 3, 3, 0]]))


def test_scores_that_are_large() -> None:
    compare(_world(_loss("cross_entropy", "mean", -100), TARGETS.values(), scale=1e4))


@pytest.mark.parametrize("bad", [4, -1, 10**12])
def test_targets_out_of_bounds_are_refused(bad: int) -> None:
    model = torch.nn.Linear(6, CLASSES)
    x, y = torch.ones(5, 6), torch.zeros(5, dtype=torch.int64)
    step = torch.compile(lambda y: F.cross_entropy(model(x), y).detach())
    for _ in range(12):
        expected = step(y).item()
    before = of(step).replays
    wrong = y.clone()
    wrong[3] = bad
    with pytest.raises(IndexError, match="out of bounds"):
        step(wrong)
    assert step(y).item() == expected
    assert of(step).replays > before
    y[2] = bad  # the same tensor, written to
    with pytest.raises(IndexError, match="out of bounds"):
        step(y)


def test_targets_that_are_written_inside() -> None:
    def world():
        torch.manual_seed(0)
        scores, y = torch.randn(5, CLASSES), torch.tensor([0, 1, 2, 3, 0])

        def function():
            y.add_(1).remainder_(CLASSES)
            return F.cross_entropy(scores, y)

        return function, lambda call, note: [(call(), note(y)) for _ in range(12)]

    compare(world)


def test_a_part_of_what_is_given() -> None:
    """Tokens and the ones that follow them: targets that lie apart."""

    def world():
        torch.manual_seed(0)
        scores = torch.randn(6, CLASSES)

        def function(tokens):
            return F.cross_entropy(scores, tokens[:, 1]), F.cross_entropy(scores, tokens.t()[0])

        def script(call, note):
            for k in range(12):
                call((torch.arange(12).reshape(6, 2) + k) % CLASSES)

        return function, script

    compare(world)
