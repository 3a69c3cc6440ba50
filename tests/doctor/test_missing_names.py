"""Another PyTorch than those we know: what is missing is said, what needs it is not heard of, and the program goes on."""

from importlib import import_module
from pkgutil import resolve_name

import pytest

import clarion.doctor
from clarion import diagnose

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
versions = import_module("clarion.doctor.versions")  # (they import torch, and are not there without it)
watching = import_module("clarion.doctor.watching")

pytestmark = pytest.mark.filterwarnings("ignore")


def _take(monkeypatch, name):
    path = f"torch.{name}" if ":" in name else f"torch:{name}"
    holder, _, last = path.rpartition("." if "." in path.partition(":")[2] else ":")
    monkeypatch.delattr(resolve_name(holder), last)


def _train(compiled=False):
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    call = torch.compile(net, backend="eager") if compiled else net
    for _ in range(4):
        call(torch.ones(2, 3)).mean().backward()
        optimizer.step()


@pytest.mark.parametrize("name", [name for name in versions.NEEDED if "TensorBase" not in name])
def test_a_pytorch_that_cannot_be_watched_is_left_alone(monkeypatch, name):
    with monkeypatch.context() as patched:
        _take(patched, name)
        with pytest.warns(RuntimeWarning, match="Nothing is watched") as said:
            watch = clarion.doctor.watch()
    assert name in str(said[0].message)
    _train()
    watch.stop()
    assert watch.findings == []


def test_what_was_patched_is_put_back_where_that_fails(monkeypatch):
    backward = torch.autograd._engine_run_backward
    monkeypatch.setattr(watching.resting, "rest", lambda *_: 1 / 0)
    monkeypatch.setattr(watching, "_tensors", lambda: 1 / 0)
    with pytest.warns(RuntimeWarning, match="division by zero"):
        watch = clarion.doctor.watch()
    assert torch.autograd._engine_run_backward is backward
    watch.stop()


@pytest.mark.parametrize(
    ("name", "words", "silenced"),
    [
        ("amp.GradScaler._maybe_opt_step", "steps that a GradScaler skips", "gradient-discarded"),
        ("utils.checkpoint:_allowed_determinism_checks_to_fns", "checkpointed regions", "checkpoint-diverges"),
    ],
)
def test_what_is_not_heard_of_is_said(monkeypatch, name, words, silenced):
    _take(monkeypatch, name)
    with clarion.doctor.watch() as watch:
        _train()
        assert f"not heard of on this PyTorch: {words}" in diagnose.summary()
        assert silenced in watch._session.silenced
    assert [finding.name for finding in watch.findings] == ["stale-gradient"]


def test_a_dynamo_that_we_do_not_know_is_not_met(monkeypatch):
    import torch._dynamo.trace_rules

    monkeypatch.delattr(torch._dynamo.trace_rules, "add")
    with clarion.doctor.watch() as watch:
        _train(compiled=True)
        assert "not heard of on this PyTorch: what happens inside of what torch.compile makes" in diagnose.summary()
    assert [finding.name for finding in watch.findings] == ["stale-gradient"]
    assert not watch._session.failures
