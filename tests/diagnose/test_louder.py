"""Diagnoses speak, and change nothing else (docs/differences.md, "Louder on purpose")."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import clarion as torch
from clarion import diagnose


def losses_of_a_broken_training() -> list[float]:
    """Gradients are never cleared, dropout is at work, shapes broadcast."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(16, 4), torch.randn(16)
    losses = []
    for _ in range(12):
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_results_are_the_same_with_and_without() -> None:
    with diagnose.off():
        alone = losses_of_a_broken_training()
    with warnings.catch_warnings(), diagnose.watching() as findings:
        warnings.simplefilter("ignore")
        watched = losses_of_a_broken_training()
    assert watched == alone
    assert {"stale-gradient", "loss-broadcast"} <= {finding.name for finding in findings}


def test_what_an_installed_library_normalises_is_its_own_business(tmp_path, monkeypatch) -> None:
    package = tmp_path / "site-packages" / "streams_of_one"
    package.mkdir(parents=True)
    source = "def mixed(scores):\n    return scores.softmax(-1)\n"
    (package / "__init__.py").write_text(source)
    monkeypatch.syspath_prepend(str(package.parent))
    import streams_of_one

    own: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "own.py"), "exec"), own)
    for mixed, names in ((streams_of_one.mixed, []), (own["mixed"], ["softmax-over-one"])):
        with warnings.catch_warnings(), diagnose.watching() as findings:
            warnings.simplefilter("ignore")
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-3)
            for _ in range(20):
                y = model(torch.randn(8, 4))
                optimizer.zero_grad()
                (y * mixed(y)).square().mean().backward()
                optimizer.step()
        assert [finding.name for finding in findings] == names


def test_strict_stops_what_would_go_on() -> None:
    with diagnose.watching(), diagnose.strict(), pytest.raises(torch.DiagnosisError) as caught:
        losses_of_a_broken_training()
    assert caught.value.finding.file == __file__
    assert isinstance(caught.value, RuntimeError)


def wrong_gradient(torch) -> list[float]:
    """A saved value is overwritten behind the version counter's back."""
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = x.exp()
    y.data.mul_(3.0)
    y.sum().backward()
    return x.grad.tolist()


def test_a_wrong_gradient_is_as_wrong_as_pytorchs() -> None:
    with diagnose.watching() as findings, pytest.warns(torch.DiagnosisWarning, match="saved-value-overwritten"):
        ours = wrong_gradient(torch)
    assert [finding.name for finding in findings] == ["saved-value-overwritten"]
    assert wrong_gradient(pytest.importorskip("torch", reason="the comparison needs PyTorch")) == pytest.approx(
        ours, rel=1e-6
    )


def test_stories_are_not_copied() -> None:
    with diagnose.watching():
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        assert optimizer._story is not None
        assert model.weight._story is not None
        for twin in (copy.deepcopy((model, optimizer)), pickle.loads(pickle.dumps((model, optimizer)))):
            assert getattr(twin[1], "_story", None) is None
            assert twin[0].weight._story is None


def test_complex_losses_take_no_rule_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_DIAGNOSE_DEBUG", "1")  # a rule that fails raises
    with diagnose.watching(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for scale in (1.0, 2.0, float("nan")):
            optimizer.zero_grad()
            z = torch.complex(model(torch.ones(3, 2)), model(torch.zeros(3, 2))).sum() * scale
            z.backward(torch.tensor(1 + 1j))
            optimizer.step()


_TAUGHT = """
import torch
from torch import nn

class Taught(nn.Module):
    def __init__(self, student, teacher):
        super().__init__()
        self.student, self.teacher = student, teacher

    def forward(self, x, y):
        with torch.no_grad():
            wanted = self.teacher(x)
        own = self.student(x)
        return nn.functional.mse_loss(own, y) + nn.functional.mse_loss(own, wanted)
"""


def test_whom_an_installed_library_lets_teach_is_its_own_business(tmp_path, monkeypatch) -> None:
    from clarion.torch_alias import alias

    package = tmp_path / "site-packages" / "taught_students"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_TAUGHT)
    monkeypatch.syspath_prepend(str(package.parent))
    with alias():
        import taught_students

        own: dict[str, Any] = {}
        exec(compile(_TAUGHT, str(tmp_path / "own.py"), "exec"), own)
    for taught, names in ((taught_students.Taught, []), (own["Taught"], ["path-cut"])):
        with warnings.catch_warnings(), diagnose.watching() as findings:
            warnings.simplefilter("ignore")
            both = taught(torch.nn.Linear(4, 1), torch.nn.Linear(4, 1))
            optimizer = torch.optim.SGD(both.parameters(), 1e-3)
            x, y = torch.randn(8, 4), torch.randn(8, 1)
            for _ in range(40):
                loss = both(x, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        assert [finding.name for finding in findings] == names
