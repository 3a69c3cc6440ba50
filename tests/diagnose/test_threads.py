"""Several threads that train at once: the ledger keeps them apart, and nothing is in anybody's way."""

from __future__ import annotations

import sys
import threading

import clarion as torch
from clarion import diagnose


def train(failures: list[BaseException], clear: bool = True) -> None:
    try:
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x = torch.randn(16, 6)
        for step in range(80):
            if clear:
                optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 20 == 0:
                model.eval()
                with torch.no_grad():
                    model(x)
                model.train()
    except BaseException as error:
        failures.append(error)


def run_together(*clear: bool) -> list[str]:
    failures: list[BaseException] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with diagnose.watching() as findings:
            threads = [threading.Thread(target=train, args=(failures, each)) for each in clear]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            broken = diagnose._session.failures
    finally:
        sys.setswitchinterval(before)
    assert failures == []
    assert broken == {}
    return [finding.name for finding in findings]


def test_four_trainings_at_once_are_silent() -> None:
    assert run_together(True, True, True, True) == []


def test_a_mistake_in_one_of_them_is_found(recwarn) -> None:
    assert run_together(True, False, True) == ["stale-gradient"]
