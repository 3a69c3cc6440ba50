"""The books that rules on lost gradients read: departures, relations, module trees, lines that would unfreeze."""

from __future__ import annotations

import gc
import weakref

import pytest

import clarion as torch
from clarion import diagnose, nn
from clarion.diagnose.graph.module_trees import contents
from clarion.diagnose.graph.relations import APPLIED, PARALLEL, TERM, UPSTREAM, relations
from clarion.diagnose.source.unfreezing import is_undone_somewhere


@pytest.fixture
def departures():
    with diagnose.watching():
        yield diagnose._session.ledger.departures


def hows(departures, tensor):
    return {departure.how for departure in departures.of(tensor)}


def test_ways_out_are_marked_and_handed_on(departures):
    w = nn.Parameter(torch.randn(3, 3))
    h = torch.randn(2, 3) @ w
    assert hows(departures, h) == set()
    assert hows(departures, h.detach() * 2) == {"detach"}
    assert hows(departures, h.data + 1) == {"data"}
    assert hows(departures, (h > 0).float()) == {"gt"}
    assert hows(departures, h.topk(1).indices.float()) == {"topk"}
    assert hows(departures, torch.nn.functional.one_hot(h.argmax(1), 3).float() @ w) == {"argmax"}
    assert hows(departures, torch.tensor(h.sum().item())) == {"item"}
    assert hows(departures, h * h.mean().item()) == {"item"}
    with torch.no_grad():
        off = (h + 1).sum()
    assert hows(departures, off) == {"no_grad"}
    total = torch.zeros(())
    total += h.sum().detach()
    assert hows(departures, total) == {"detach"}


def test_what_goes_through_numpy_may_come_back(departures):
    w = nn.Parameter(torch.randn(3))
    assert departures.of(torch.from_numpy((w.detach().numpy() * 2).copy()))[0].carries([w]) == [w]


def test_a_departure_knows_its_parameters_and_keeps_nothing_alive(departures):
    w, other = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
    h = (w * 2).detach()
    (departure,) = departures.of(h)
    assert departure.carries([w, other]) == [w]
    references = weakref.ref(w), weakref.ref(h)
    del w, h
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    assert not departures._marks


def test_constants_among_the_terms_of_a_loss(departures):
    w = nn.Parameter(torch.randn(3))
    penalty = w.abs().sum()
    loss = w.pow(2).mean() + 0.25 * penalty.detach()
    loss += 0.5
    terms, held = departures.terms(loss)
    assert sorted(round(term.value, 4) for term in terms) == sorted([round(0.25 * penalty.item(), 4), 0.5])
    (departure,) = [mark for term in terms for mark in term.marks]
    assert departure.how == "detach"
    assert not departure.stands_for(held)
    straight = w.sum()
    departed = straight.detach()
    _, held = departures.terms(w.pow(2).mean() + straight - departed)
    assert departures.of(departed)[0].stands_for(held)


def related(output, asked, trained):
    found = relations(
        output if output.dim() == 0 else output.sum(),
        {id(leaf): leaf for leaf in asked},
        lambda leaf: any(leaf is t for t in trained),
    )
    return [found[id(leaf)] & {APPLIED, UPSTREAM, PARALLEL, TERM} for leaf in asked]


def test_relations_to_trained_parameters():
    x = torch.randn(4, 3)
    below, above, branch = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
    output = above(torch.relu(below(x)))
    assert related(output, list(below.parameters()), list(above.parameters())) == [{UPSTREAM}] * 2
    assert related(output, list(above.parameters()), list(below.parameters())) == [{APPLIED}] * 2
    assert related(below(x) * branch(x), list(branch.parameters()), list(below.parameters())) == [{PARALLEL}] * 2
    own, other = list(branch.parameters()), list(below.parameters())
    assert related(below(x).pow(2).mean() - 0.5 * branch(x).pow(2).mean(), own, other) == [{TERM}] * 2
    assert related((below(x) - branch(x)).pow(2).mean() + below(x).mean(), own, other) == [{PARALLEL}] * 2
    scale, points = nn.Parameter(torch.ones(3)), torch.randn(4, 3, requires_grad=True)
    assert related(below(x) * scale.exp(), [scale], list(below.parameters())) == [{APPLIED}]
    assert related(below(points), [points], list(below.parameters())) == [{UPSTREAM}]


def test_contents_of_containers():
    a, b, c = nn.Linear(1, 1), nn.Parameter(torch.ones(1)), torch.ones(1)
    assert [id(v) for v in contents({"x": [a, ("name", b)], "n": 3, "y": {"z": c}})] == [id(a), id(b), id(c)]
    assert list(contents("text")) == list(contents(object())) == []


PROGRAM = """
def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag

def freeze(module):
    for p in module.parameters():
        p.requires_grad = False

net.encoder.requires_grad_(False)
net.decoder.requires_grad_(False)
set_trainable(net, False)
if late:
    set_trainable(net, True)
    net.encoder.requires_grad_(True)
"""


def test_a_line_that_would_undo_a_freeze(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    lines = PROGRAM.splitlines()

    def undone(text):
        return is_undone_somewhere((str(file), lines.index(text) + 1))

    assert undone("        p.requires_grad = flag")
    assert undone("net.encoder.requires_grad_(False)")
    assert not undone("net.decoder.requires_grad_(False)")
    assert not undone("        p.requires_grad = False")
