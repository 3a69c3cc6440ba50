"""The diagnoses on PyTorch never make the host wait for the GPU, except in steps that are listened to closely."""

from __future__ import annotations

import pytest

import clarion.doctor

torch = pytest.importorskip("torch", reason="the doctor watches PyTorch, which is not installed")
if not torch.cuda.is_available():
    pytest.skip("this PyTorch has no CUDA device", allow_module_level=True)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
@pytest.mark.parametrize("clipped", [False, True])
def test_steps_at_rest_and_awake(clipped):
    torch.manual_seed(0)
    layers = torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 4)
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, y = torch.randn(64, 32, device="cuda"), torch.arange(64, device="cuda") % 4
    modes = {}
    with clarion.doctor.watch() as watched:
        try:
            for _ in range(700):
                mode = watched._session.mode
                modes[mode] = modes.get(mode, 0) + 1
                torch.cuda.set_sync_debug_mode("default" if mode == "near" else "error")
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                if clipped:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert not watched._session.failures
    assert min(modes[mode] for mode in ("near", "awake", "rest")) >= 10, modes
    assert not watched.findings


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_findings_are_those_of_the_cpu():
    """What is wrong is found all the same: here gradients that are never cleared.

    Also in a process of its own, where warnings are errors: the first change of the sync debug mode warns.
    """
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with clarion.doctor.watch() as watched:
        for _ in range(6):
            model(torch.randn(16, 8, device="cuda")).pow(2).mean().backward()
            optimizer.step()
        assert not watched._session.failures
    assert [finding.name for finding in watched.findings] == ["stale-gradient"]
