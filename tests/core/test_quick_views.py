"""Views that a compiled function makes, with their nodes, beside those of the long way: NOTE [Held views] in kernels/held.py."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.core.namespace import OPS
from clarion.core.provenance import file_line
from clarion.events import subscribe
from clarion.kernels import registry
from clarion.kernels.choosing import HEAT
from clarion.kernels.layout import address, steps
from clarion.kernels.llvm import cards, machine

pytestmark = pytest.mark.skipif(
    not machine.installed() or not cards.available(), reason="kernels cannot be called directly here"
)


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    for _ in range(HEAT):
        torch.rand(2, 2).t()
    assert OPS["t"].quick(torch.rand(2, 2)) is not None


CALLS: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: x.view(4, 6),
    "view_inferred": lambda x: x.view(-1, 3),
    "view_of_a_size": lambda x: x.view(x.shape),
    "view_tuple": lambda x: x.view((24,)),
    "view_ones": lambda x: x.view(1, 2, 1, 12),
    "reshape": lambda x: x.reshape(3, 8),
    "reshape_flat": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(1),
    "transpose": lambda x: x.transpose(-1, 0),
    "permute": lambda x: x.permute(2, 0, -2),
    "permute_tuple": lambda x: torch.permute(x, (1, 2, 0)),
    "t": lambda x: x[0].t(),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "unsqueeze_last": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(2).squeeze(2),
    "squeeze_nothing": lambda x: x.squeeze(0),
    "expand": lambda x: x.unsqueeze(0).expand(5, -1, 3, 4),
    "expand_more": lambda x: x.expand(3, 1, 2, 3, 4),
    "select": lambda x: x.select(1, -1),
    "index": lambda x: x[0],
    "index_last": lambda x: x[-1],
    "index_pair": lambda x: x[1, 2],
    "index_one": lambda x: x[1, 2, 3],
    "slice": lambda x: x[1:],
    "slice_all": lambda x: x[:],
    "slice_steps": lambda x: x[:, ::2, 1:-1],
    "slice_far": lambda x: x[-100:100, 1:2],
    "mixed": lambda x: x[0, :, None, 1:3],
    "ellipsis": lambda x: x[..., 0],
    "ellipsis_between": lambda x: x[0, ..., None],
    "everything": lambda x: x[...],
    "nothing": lambda x: x[()],
    "of_a_view": lambda x: x[1].t()[1:].view(-1, 1) if x.is_contiguous() else x[1].t()[1:],
    "of_one_of_several": lambda x: x.unbind(0)[1].unsqueeze(0),
}


def _described(out: Any, x: Any, line: int | None) -> list[object]:
    found: list[object] = [
        out.tolist(),
        out.shape,
        out.stride(),
        out.storage_offset(),
        out.requires_grad,
        out._version,
        out._nr,
    ]
    if out._view is None:  # a copy
        return found
    found += [out._base is x, out._view.creation, type(out._view).__name__, out._view.version, out._vc is x._vc]
    found += [(op.name, params, nr) for op, params, nr in steps(out._view.chain)]
    found += [out._array.flags.writeable, out._array.strides, out._array.dtype, type(out).__name__]
    node = out.grad_fn
    while node is not None:
        found += [
            type(node).__name__,
            type(node.saved).__name__,
            list(node.saved),
            node.nrs,
            node.fix,
            node.versions,
            node.out_guard,
            node.hooks,
        ]
        assert line is None or file_line(node.place) == (CALLS["view"].__code__.co_filename, line)
        (node,) = node.edges
        node = None if node is x else node
    return found


def _run(call: Callable[[Any], Any], x: Any) -> list[object]:
    out = call(x)
    found = _described(out, x, call.__code__.co_firstlineno)
    if out.requires_grad:
        (gradient,) = torch.autograd.grad((out * out).sum(), x)
        found.append(gradient.tolist())
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "leaf",
        "plain",
        "double",
        "whole",
        "turned",
        "parameter",
        "no_grad",
        "no_grad_leaf",
        "no_grad_inside",
        "inference",
        "recorded_again",
    ],
)
@pytest.mark.parametrize("name", CALLS)
def test_views_are_those_of_the_long_way(name: str, kind: str) -> None:
    call = CALLS[name]

    def made() -> Any:
        x = torch.arange(24.0).view(2, 3, 4).clone()
        if kind == "turned":
            x = torch.arange(24.0).view(4, 3, 2).clone().permute(2, 1, 0).clone(memory_format=torch.preserve_format)
        if kind == "parameter":
            return torch.nn.Parameter(x)
        x = {"double": x.double(), "whole": x.long()}.get(kind, x)
        x = (
            x.requires_grad_()
            if kind in ("leaf", "double", "turned", "no_grad_leaf", "no_grad_inside", "inference")
            else x
        )
        return x * 1 if kind == "no_grad_inside" else x

    def run() -> object:
        try:
            x = made()
            if kind == "inference":
                with torch.inference_mode():
                    return _run(call, x)
            if kind == "recorded_again":
                with torch.no_grad(), torch.enable_grad():
                    return _run(call, x.requires_grad_())
            with torch.set_grad_enabled(not kind.startswith("no_grad")):
                return _run(call, x)
        except RuntimeError as error:
            return str(error).splitlines()[0]

    quick = run()
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        long = run()
    finally:
        registry.surround(None)
    assert quick == long


JOINS: dict[str, Callable[..., Any]] = {
    "cat": lambda x, y: torch.cat([x, y]),
    "cat_last": lambda x, y: torch.cat((x, y, x), -1),
    "cat_one": lambda x, y: torch.cat([y], 1),
    "stack": lambda x, y: torch.stack([x, y]),
    "stack_last": lambda x, y: torch.stack((x, y), dim=-1),
    "cat_parts": lambda x, y: torch.cat([*x.unbind(0), y[0]]),
    "cat_turned": lambda x, y: torch.cat([x.t(), y.t()]),
    "cat_mixed": lambda x, y: torch.cat([x, y.double()]),
    "cat_whole": lambda x, y: torch.cat([x.detach().long(), x.detach().long()]),
    "cat_nothing": lambda x, y: torch.cat([x, torch.empty(0)]),
    "cat_too_far": lambda x, y: torch.cat([x, y], 2),
    "cat_misfit": lambda x, y: torch.cat([x, y[:, :1]]),
    "stack_misfit": lambda x, y: torch.stack([x, y[:1]]),
}


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("name", JOINS)
def test_joins_are_those_of_the_long_way(name: str, wanted: tuple[bool, bool]) -> None:
    call = JOINS[name]
    for _ in range(2):
        torch.cat([torch.ones(2), torch.ones(2)]), torch.stack([torch.ones(2), torch.ones(2)])
    assert OPS["cat"].quick([torch.ones(2)], 0) is not None

    def run() -> list[object]:
        x, y = (torch.arange(6.0).view(2, 3).clone().requires_grad_(w) for w in wanted)
        try:
            out = call(x, y)
        except (RuntimeError, IndexError) as error:
            return [str(error).splitlines()[0]]
        node = out.grad_fn
        found: list[object] = [out.tolist(), out.shape, out.stride(), out.requires_grad, out._version, out._is_view()]
        if node is None:
            return found
        found += [type(node).__name__, type(node.saved), list(node.saved), node.nrs, node.fix, node.versions]
        found += [[0 if e is x else 1 if e is y else e and type(e).__name__ for e in node.edges]]
        assert file_line(node.place) == (__file__, call.__code__.co_firstlineno)
        leaves = [t for t in (x, y) if t.requires_grad]
        return found + [
            None if g is None else g.tolist() for g in torch.autograd.grad((out * out).sum(), leaves, allow_unused=True)
        ]

    quick = run()
    registry.surround(lambda name, kernel: lambda *args, **out: kernel(*args, **out))
    try:
        assert run() == quick
    finally:
        registry.surround(None)


def test_a_quick_form_is_there_and_does_it() -> None:
    x = torch.rand(2, 3, requires_grad=True)
    for name, given in {
        "view": ((3, 2),),
        "transpose": (0, 1),
        "slice": ((slice(1),),),
        "select": (0, 1),
        "t": (),
    }.items():
        assert OPS[name].quick(x, *given) is not None, name


def test_there_is_one_for_no_grad() -> None:
    x = torch.rand(2, 3, requires_grad=True)
    with torch.no_grad():
        out = OPS["slice"].quick_in_mode()(x, (0, slice(1)))
        assert (out._view.creation, out._edge, out.tolist()) == ("no_grad", None, x[0, :1].tolist())
        for mode in (torch.inference_mode(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)):
            with mode:
                assert OPS["slice"].quick_in_mode()(x, slice(1)) is None
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        out.mul_(2)


def test_what_is_written_meanwhile_is_followed() -> None:
    base = torch.rand(3, 4, requires_grad=True) * 1
    part = base[0]
    base.mul_(2)
    again = part.view(2, 2)  # its history is that of the base as it is now
    (gradient,) = torch.autograd.grad(again.sum(), base)
    assert gradient.tolist() == [[1.0] * 4, [0.0] * 4, [0.0] * 4]


def test_a_view_whose_base_wants_a_gradient_later_says_so() -> None:
    base = torch.rand(3, 4)
    part = base[0]
    base.requires_grad_()
    assert part.view(2, 2).requires_grad


def test_who_listens_hears_of_views() -> None:
    heard: list[str] = []
    x = torch.rand(2, 3, requires_grad=True)
    stop = subscribe("recorded", lambda node, inputs, out: heard.append(type(node).__name__))
    try:
        x.view(3, 2)[0, :1].unsqueeze(0)
    finally:
        stop()
    assert heard == ["ViewBackward0", "SelectBackward0", "SliceBackward0", "UnsqueezeBackward0"]


@pytest.mark.parametrize(
    "call", [lambda x: x.view(5), lambda x: x[2], lambda x: x[0, 0, 0], lambda x: x[::-1], lambda x: x[2**70]]
)
def test_refusals_are_those_of_the_long_way(call: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        call(torch.rand(2, 3))


def _some(draws: random.Random) -> Any:
    """An array that lies in some way: slices, turns, sizes of one, stretched."""
    x = np.arange(3 * 4 * 5 * 2).astype(draws.choice([np.float32, np.int64, np.bool_])).reshape(3, 4, 1, 5, 2)
    x = x[tuple(slice(draws.randint(0, n // 2), None, draws.choice([1, 1, 2])) for n in x.shape)]
    x = x.transpose(draws.sample(range(5), 5))
    for _ in range(draws.randint(0, 3)):
        x = x[0] if draws.random() < 0.7 else np.lib.stride_tricks.as_strided(x, (2, *x.shape), (0, *x.strides))
    return np.ascontiguousarray(x) if draws.random() < 0.4 else x


def _arguments(name: str, x: Any, draws: random.Random) -> tuple[Any, ...]:
    n = x.ndim
    if name == "view":
        sizes = [d for d in x.shape for d in ((d,) if draws.random() < 0.5 or d % 2 else (2, d // 2))]
        while len(sizes) > 1 and draws.random() < 0.5:
            k = draws.randrange(len(sizes) - 1)
            sizes[k : k + 2] = [sizes[k] * sizes[k + 1]]
        for _ in range(draws.randint(0, 2)):
            sizes.insert(draws.randint(0, len(sizes)), 1)
        return (tuple(sizes),)
    if name == "expand":
        shape = [draws.randint(1, 3) if d == 1 else d for d in x.shape]
        return ((*[draws.randint(1, 3) for _ in range(draws.randint(0, 2))], *shape),)
    if name == "permute":
        return (tuple(draws.sample(range(n), n)),)
    dim = draws.randrange(n)
    if name == "slice":
        start = draws.randrange(x.shape[dim])
        return dim, start, draws.randint(start + 1, x.shape[dim]), draws.randint(1, 3)
    return {
        "alias": (),
        "transpose": (dim, draws.randrange(n)),
        "unsqueeze": (draws.randint(0, n),),
        "squeeze_dim": (dim,),
        "select": (dim, draws.randrange(-x.shape[dim], x.shape[dim])),
    }[name]


@pytest.mark.parametrize("name", "alias transpose permute unsqueeze squeeze_dim select slice expand view".split())
def test_arrays_lie_as_those_of_the_portable_kernels(name: str) -> None:
    draws = random.Random(name)
    done = 0
    for _ in range(400):
        x = _some(draws)
        if not x.ndim:
            continue
        args = _arguments(name, x, draws)
        try:
            wanted = registry.portable(name)(x, *args)
        except ValueError:  # not without a copy
            with pytest.raises(ValueError, match="copy"):
                getattr(registry.raw, name)(x, *args)
            continue
        found = getattr(registry.raw, name)(x, *args)
        assert (found.shape, found.strides, found.dtype) == (wanted.shape, wanted.strides, wanted.dtype), (
            x.shape,
            x.strides,
            args,
        )
        assert address(found) == address(wanted)
        assert found.flags.writeable == wanted.flags.writeable
        assert np.array_equal(found, wanted)
        done += 1
    assert done > 100


def test_memory_outlives_the_tensor_it_was_taken_from() -> None:
    kept = [torch.full((64,), float(i)).view(8, 8)[1:, 2] for i in range(50)]
    assert all(each.tolist() == [float(i)] * 7 for i, each in enumerate(kept))
    assert list(itertools.chain.from_iterable(each.shape for each in kept)) == [7] * 50
