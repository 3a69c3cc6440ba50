"""Hooks of all optimizers, the program's own and ours: ours come and go while PyTorch goes through them."""

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def test_hooks_of_the_program_that_come_after_ours():
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    import clarion.doctor
    from clarion.doctor import optimizers

    heard = []
    with clarion.doctor.watch() as watch:
        handles = [
            register_optimizer_step_pre_hook(lambda *_: heard.append("before")),
            register_optimizer_step_post_hook(lambda *_: heard.append("after")),
        ]
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        x = torch.randn(4, 3)
        for _ in range(400):  # it rests by then, and hears of few steps
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
        for handle in handles:
            handle.remove()
    assert heard == ["before", "after"] * 400
    assert watch._session.failures == {}
    assert watch.findings == []
    assert optimizers._hooks == [None, None]
