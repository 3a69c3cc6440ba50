"""Modes below autograd, and selective checkpointing, which stands on them: the same programs on both engines."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def _mode(torch: Any) -> Any:
    base = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode

    class Seen(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.names: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.names.append(str(func))
            return func(*args, **(kwargs or {}))

    return Seen()


def _checkpoint(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def _kept(torch: Any, policy: Any, region: Callable[..., Any], **options: Any) -> Any:
    x = torch.tensor([[0.5, 1.0], [1.5, -0.5]], requires_grad=True)
    context = functools.partial(_checkpoint(torch).create_selective_checkpoint_contexts, policy, **options)
    with _mode(torch) as seen:
        out = _checkpoint(torch).checkpoint(region, x, use_reentrant=False, context_fn=context)
        seen.names.clear()
        out.sum().backward()
    return x.grad.flatten().tolist(), seen.names.count("aten.sin.default"), seen.names.count("aten.cos.default") > 0


def _forward(torch: Any) -> Any:
    x = torch.tensor([[0.5, 1.0], [1.5, -0.5]], requires_grad=True)
    with _mode(torch) as seen:
        y = torch.mm(x.sin(), x).exp().sum(0).sum()
    names = [name for name in seen.names if "detach" not in name]
    return names, y.item(), torch.autograd.grad(y, x)[0].flatten().tolist()


def _nested(torch: Any) -> Any:
    with _mode(torch) as outer, _mode(torch) as inner:
        torch.ones(2, 2).sin()
    torch.ones(2).sin()
    return outer.names.count("aten.sin.default"), inner.names.count("aten.sin.default")


def _twice(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    saved = [torch.ops.aten.sin.default]
    context = functools.partial(_checkpoint(torch).create_selective_checkpoint_contexts, saved)
    out = _checkpoint(torch).checkpoint(lambda x: x.cos().sin().exp(), x, use_reentrant=False, context_fn=context)
    out.sum().backward(retain_graph=True)
    out.sum().backward()


def _drawn_inside(torch: Any) -> Any:
    """What a mode answers is never taken for the generator's words: they are no operation."""
    base = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode

    class Zeros(base):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.zeros(())

    torch.manual_seed(0)
    torch.rand(620)  # the next draw needs more words
    with Zeros():
        torch.randn(8)
    torch.manual_seed(0)
    torch.rand(620)
    return torch.randn(8).tolist(), torch.rand(3).tolist()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "numbers drawn inside": _drawn_inside,
    "what a mode sees": _forward,
    "two modes": _nested,
    "a list of operations": lambda torch: _kept(
        torch, [torch.ops.aten.sin.default], lambda x: x.cos().sin().exp().cos()
    ),
    "nothing kept": lambda torch: _kept(torch, [], lambda x: x.cos().sin().exp().cos()),
    "a policy": lambda torch: _kept(
        torch, lambda ctx, op, *args, **kwargs: op == torch.ops.aten.sin.default, lambda x: x.sin().mm(x).exp()
    ),
    "everything kept": lambda torch: _kept(
        torch, lambda *args, **kwargs: _checkpoint(torch).CheckpointPolicy.MUST_SAVE, lambda x: x.t().sin().exp().sum(1)
    ),
    "written after it was kept": lambda torch: _kept(
        torch, [torch.ops.aten.sin.default], lambda x: x.sin().mul_(2).cos().exp()
    ),
    "a second backward": _twice,
    "no operation": lambda torch: _checkpoint(torch).create_selective_checkpoint_contexts([2]),
    "no policy": lambda torch: _checkpoint(torch).create_selective_checkpoint_contexts(2),
}


def _result(program: Callable[[Any], Any], torch: Any) -> Any:
    try:
        return program(torch)
    except (RuntimeError, ValueError, TypeError) as error:
        return str(error).splitlines()[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    found, expected = _result(PROGRAMS[name], ours), _result(PROGRAMS[name], theirs)
    if isinstance(expected, str):
        assert found == expected
        return
    for mine, other in zip(found, expected, strict=True):
        assert mine == (
            pytest.approx(other) if isinstance(other, float) else pytest.approx(other) if _is_flat(other) else other
        )


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], float)


def test_nothing_is_left_around_kernels() -> None:
    from clarion.kernels import registry

    with _mode(ours):
        assert registry._around is not None
    assert registry._around is None
