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


def test_classes_and_modes_of_the_program_hear_nothing_of_us():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    import clarion.doctor

    def run():
        heard = []

        class Logged(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                heard.append(getattr(func, "__name__", ""))
                return super().__torch_function__(func, types, args, kwargs or {})

        class Functions(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                heard.append(getattr(func, "__name__", ""))
                return func(*args, **(kwargs or {}))

        class Operations(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                heard.append(str(func))
                return func(*args, **(kwargs or {}))

        torch.manual_seed(0)
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

        def step(x):
            loss = net(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        for _ in range(12):
            step(torch.randn(4, 3).as_subclass(Logged))
        for mode in (Functions, Operations):
            for _ in range(4):
                with mode():
                    step(torch.ones(2, 3))
        return heard

    alone = run()
    with clarion.doctor.watch() as watch:
        assert run() == alone
    assert watch._session.failures == {}


def test_functions_that_the_program_has_patched_are_called_as_often(monkeypatch):
    import clarion.doctor

    called = []

    def counting(owner, name):
        original = getattr(owner, name)

        def wrapped(*args, **kwargs):
            called.append(name)
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, wrapped)

    def run():
        called.clear()
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(8):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(torch.randn(5, 3)), torch.ones(5, 1)).backward()
            optimizer.step()
        return list(called), [p.tolist() for p in net.parameters()]

    with clarion.doctor.watch() as watch:
        counting(torch.Tensor, "backward")
        counting(torch.nn.functional, "relu")
        counting(torch.nn.functional, "mse_loss")
        watched = run()
    assert watch._session.failures == {}
    assert watch.findings == []
    assert watched == run()
    assert len(watched[0]) == 24
