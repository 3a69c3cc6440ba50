"""Where non-finite values are born: the walk through the graph, the notes of errors, and what users keep of NumPy's state."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import clarion
from clarion.diagnose import watching
from clarion.diagnose.books.float_notes import notes
from clarion.diagnose.graph.births import COMPUTED, DATA, LEAF, MASK, find_birth
from clarion.diagnose.graph.reach import operation

INF = float("inf")


def birth_of(loss: clarion.Tensor) -> tuple[str, str]:
    found = find_birth(loss)
    assert found is not None
    return operation(found.node), found.kind


def test_the_first_of_several_is_named() -> None:
    x = clarion.tensor([0.0, 1.0], requires_grad=True)
    loss = (x * clarion.log(x) + clarion.exp(x * 1000)).sum()
    assert birth_of(loss) == ("log", COMPUTED)


def test_a_value_that_was_left_out_is_not_to_blame() -> None:
    x = clarion.tensor([-1.0, 1.0], requires_grad=True)
    kept = clarion.where(x > 0, clarion.sqrt(x), x)
    assert birth_of((kept / (kept - kept)).sum()) == ("div", COMPUTED)


def test_masks_are_the_users() -> None:
    scores = clarion.randn(2, 3, requires_grad=True)
    mask = clarion.tensor([[True, True, True], [False, False, True]])
    weights = (scores * 2).masked_fill(mask, -INF).softmax(1)
    assert birth_of(weights.sum()) == ("softmax", COMPUTED)
    added = (scores + clarion.tensor([0.0, -INF, 0.0])).logsumexp(1)
    assert clarion.isfinite(added).all()
    assert birth_of((scores + clarion.tensor([0.0, -INF, 0.0])).exp().log().sum()) == ("log", COMPUTED)
    assert birth_of(((scores + clarion.tensor([0.0, -INF, 0.0])) ** 3).sum()) == ("add", MASK)


def test_data_and_parameters_that_were_not_finite_before() -> None:
    w = clarion.randn(3, requires_grad=True)
    data = clarion.tensor([[1.0, float("nan"), 0.0]])
    assert birth_of((data @ w).sum())[1] == DATA
    with clarion.no_grad():
        w[1] = INF
    assert birth_of((clarion.ones(2, 3) @ w).sum())[1] == LEAF


def test_nothing_is_drawn_and_nothing_is_changed() -> None:
    x = clarion.rand(4, requires_grad=True)
    loss = clarion.log(clarion.dropout(x, 0.5, True) * 0).sum()
    state, values = clarion.get_rng_state(), x.detach().clone()
    assert birth_of(loss) == ("log", COMPUTED)
    assert clarion.equal(state, clarion.get_rng_state())
    assert clarion.equal(values, x.detach())


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_notes_say_which_line_and_which_operation() -> None:
    with watching():
        x = clarion.zeros(2, requires_grad=True)
        clarion.log(clarion.zeros(1))
        forward = notes.last
        clarion.sqrt(x).sum().backward()
        backward = notes.last
    assert forward is not None
    assert not forward.in_backward
    assert forward.place is not None
    assert forward.place[0].co_name == "test_notes_say_which_line_and_which_operation"
    assert backward is not None
    assert backward.in_backward
    assert backward.operation == "sqrt"


def test_the_error_state_of_the_user_is_his_own() -> None:
    with np.errstate(divide="raise"):
        clarion.log(clarion.zeros(1))
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))
        assert np.geterr()["divide"] == "raise"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clarion.log(clarion.zeros(1))


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_threads_are_heard() -> None:
    with watching():
        x = clarion.zeros(3, requires_grad=True)
        thread = threading.Thread(target=lambda: clarion.sqrt(x).sum().backward())
        thread.start()
        thread.join()
        assert notes.last is not None
        assert notes.last.operation == "sqrt"
