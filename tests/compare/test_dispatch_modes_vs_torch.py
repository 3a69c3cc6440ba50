"""Modes below autograd, and selective checkpointing, which stands on them: the same programs on both engines."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
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


def _told(torch: Any, instead: Any = None) -> Any:
    """A mode that writes down what it is shown, arguments and all."""
    base = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode
    lines: list[str] = []

    class Told(base):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            shown = [f"{key}={'' if key == 'generator' else each}" for key, each in sorted(kwargs.items())]
            lines.append(f"{func}{args} {shown}".replace("clarion", "torch"))
            return func(*args, **kwargs) if instead is None else instead

    return Told(), lines


def _created(torch: Any) -> Any:
    """What makes tensors from nothing, and copies."""
    x, images, g = torch.ones(2), torch.ones(1, 2, 2, 2), torch.Generator()
    mode, lines = _told(torch)
    with mode:
        found = [
            torch.zeros(2, 3), torch.zeros((2,), dtype=torch.int64), torch.ones(size=[2]), torch.full((2,), 3.0), torch.eye(2),
            torch.eye(2, 3), torch.arange(3), torch.arange(1, 3), torch.arange(1, 3, 0.5), torch.linspace(0, 1, steps=3),
            torch.logspace(0, 1, 2), torch.tril_indices(2, 2), torch.scalar_tensor(2.0), torch.tensor([1.0, 2.0]),
            torch.as_tensor([1.0]), torch.asarray([2.0]), torch.as_tensor(x), x.new_tensor([1.0]), torch.zeros_like(x),
            torch.full_like(x, fill_value=2), torch.ones_like(x, dtype=torch.float64), x.new_zeros(2, 3), x.new_full((2,), 1.0),
            torch.rand(2, generator=g).mul(0), torch.randn(2, 2, generator=g).mul(0), torch.randint(1, 2, (2,), generator=g),
            torch.randint(1, (2,)), torch.normal(0.0, 0.0, (2,)), torch.randperm(1), torch.zeros(2, requires_grad=True),
            torch.zeros(2, device="cpu"), x.clone(), x.double(), x.to(torch.int32), images.clone(memory_format=torch.channels_last),
        ]  # fmt: skip
    flags = [(each.requires_grad, each.is_contiguous()) for each in found]
    lines = [line for line in lines if "mul" not in line]
    return lines, [each.tolist() for each in found], flags


def _created_instead(torch: Any) -> Any:
    """What a mode gives back is what the program gets; the outer mode sees what the inner one calls."""
    mark = torch.ones(1)
    (mode, lines), (inner, more) = _told(torch, mark), _told(torch)
    with mode, inner:
        found = torch.empty(3)
    seen = [[line for line in each if "detach" not in line] for each in (lines, more)]
    return found is mark, seen, torch.zeros(1).tolist()


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
    "what is made from nothing": _created,
    "what a mode makes instead": _created_instead,
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


def test_creators_are_seen_whether_calls_are_taken_over_or_not() -> None:
    """In a process of its own, with the two in either order."""
    program = (
        "import clarion as torch\n"
        "from clarion.utils._python_dispatch import TorchDispatchMode\n"
        "class Seen(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
        "        print(func)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "def look():\n"
        "    with Seen(): torch.zeros(2), torch.zeros_like(x), x.new_zeros(2)\n"
        "def take_over():\n"
        "    import clarion.overrides\n"
        "    class Mine(torch.Tensor):\n"
        "        @classmethod\n"
        "        def __torch_dispatch__(cls, func, types, args=(), kwargs=None): return None\n"
        "x = torch.ones(2)\n"
    )
    seen = "aten.zeros.default\naten.zeros_like.default\naten.new_zeros.default\n"
    for order in ("look(); take_over(); look()", "take_over(); look(); look()"):
        done = subprocess.run([sys.executable, "-c", program + order], capture_output=True, text=True, check=True)
        assert done.stdout == seen * 2
