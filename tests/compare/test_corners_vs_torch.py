"""Corners that PyTorch's own tests look into: the same program gives the same values, layouts and refusals in both."""

from __future__ import annotations

import copy
import importlib
import io
import itertools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare


def told(library: Any, value: Any) -> Any:
    """A result in words that both libraries share."""
    if isinstance(value, library.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad, value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return [told(library, each) for each in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def outcome(library: Any, program: Callable[[Any], Any]) -> Any:
    """What a program gives, or the first line of its refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return told(library, program(library))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        kind = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
        return kind.__name__, str(error).splitlines()[0]


def _assigned(number: Any, kind: str) -> Callable[[Any], Any]:
    def program(torch: Any) -> Any:
        x = torch.zeros(3, dtype=getattr(torch, kind))
        x[0] = number
        x[1:] = number
        return x

    return program


def _by_default(kind: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def program(torch: Any) -> Any:
        torch.set_default_dtype(getattr(torch, kind))
        try:
            return str(make(torch))
        finally:
            torch.set_default_dtype(torch.float32)

    return program


def _one_after_the_other(torch: Any, new: bool) -> Any:
    file = io.BytesIO()
    for value in (torch.arange(3.0), torch.arange(2)):
        pickle.dump(41, file)
        torch.save(value, file, _use_new_zipfile_serialization=new)
    file.seek(0)
    return [load(file) for load in (pickle.load, torch.load, pickle.load, torch.load)] if not new else None


def _saved(make: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def program(torch: Any) -> Any:
        file = io.BytesIO()
        torch.save(make(torch, torch.arange(4.0).to(torch.complex128)), file)
        file.seek(0)
        return [str(each.dtype) for each in torch.load(file)]

    return program


def _empty_storage(torch: Any, _: Any) -> Any:
    memory = torch.tensor([]).untyped_storage()
    return [
        torch.TypedStorage(wrap_storage=memory, dtype=getattr(torch, kind)) for kind in ("int64", "float64", "bool")
    ]


def _weights_swapped(torch: Any) -> Any:
    class Doubled(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.module_load:
                return args[1].detach() * 2
            return super().__torch_function__(func, types, args, kwargs or {})

    layer = torch.nn.Linear(2, 2, bias=False)
    layer.weight = torch.nn.Parameter(torch.zeros(2, 2).as_subclass(Doubled))
    before = layer.weight
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        layer.load_state_dict({"weight": torch.ones(2, 2)})
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    return layer.weight is before, type(layer.weight).__name__, layer.weight.detach().tolist()


def _converted_by_swapping(torch: Any) -> Any:
    found: list[Any] = []
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        for convert in (
            lambda m: m.double(),
            lambda m: m.float(),
            lambda m: m.to("meta"),
            lambda m: m.to_empty(device="cpu"),
        ):
            layer = torch.nn.Linear(2, 2, bias=False)
            layer(torch.ones(1, 2)).sum().backward()
            weight, grad, data = layer.weight, layer.weight.grad, layer.weight.data
            weight.mark = True
            convert(layer)
            now = layer.weight
            found += [now is weight, now.grad is grad, hasattr(now, "mark"), type(now) is torch.nn.Parameter]
            found += [
                str(now.dtype),
                now.device.type,
                str(grad.dtype),
                grad.device.type,
                str(data.dtype),
                now.requires_grad,
            ]
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    return found


def _copied_subclasses(torch: Any) -> Any:
    class Silent(torch.Tensor):
        pass

    class Plain(torch.Tensor):
        def new_empty(self, shape: Any) -> Any:
            return torch.Tensor(shape)

    class Right(torch.Tensor):
        def new_empty(self, shape: Any) -> Any:
            return type(self)(shape)

    class Weight(torch.nn.Parameter):
        pass

    found: list[Any] = [type(copy.deepcopy(Weight(torch.ones(2)))).__name__]
    for kind in (Silent, Plain, Right):
        x = torch.ones(2).as_subclass(kind)
        for each in (x, torch.nn.Parameter(x), torch.nn.Buffer(x)):
            try:
                made = copy.deepcopy(each)
                found += [type(made).__name__, made.tolist()]
            except RuntimeError as error:
                found += ["for which that function returns another instance of the same subclass" in str(error)]
    return found


def _other_bias(torch: Any, x: Any) -> Any:
    return torch.nn.functional.linear(x, torch.ones(2, 4, dtype=torch.float64), torch.ones(2))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "a list of an array and a number": lambda torch: torch.tensor([[np.ones(3), 3.0]]),
    "a storage of the default type": _by_default("float64", lambda torch: torch.Storage(np.int32(3)).dtype),
    "complex numbers where half is the default": _by_default("float16", lambda torch: torch.tensor([3.0, 5j]).dtype),
    "products with them": _by_default("float16", lambda torch: torch.result_type(torch.tensor(1), 1j)),
    "autocast of a device with its number": lambda torch: torch.autocast("cpu:0").device and True,
    "autocast of no device": lambda torch: torch.amp.is_autocast_available("not a device"),
    "a ranking with one target per row": lambda torch: torch.margin_ranking_loss(
        torch.ones(2, 3), torch.zeros(2, 3), torch.tensor([1.0, -1.0, 1.0])
    ),
    "a bias of another type for rows that are not contiguous": lambda torch: _other_bias(
        torch, torch.ones(3, 2, 4, dtype=torch.float64).transpose(0, 1)
    ),
    "and for rows that are": lambda torch: _other_bias(torch, torch.ones(2, 3, 4, dtype=torch.float64)),
    "the old format, one after the other": lambda torch: _one_after_the_other(torch, False),
    "numbers and their parts in one file": _saved(lambda torch, z: [z, z.imag]),
    "storages and parts": _saved(lambda torch, z: [z.storage(), z.imag]),
    "bytes and numbers": _saved(lambda torch, z: [z.untyped_storage(), z]),
    "no memory at all, as several types": _saved(_empty_storage),
    "what module_load makes of a weight": _weights_swapped,
    "copies of subclasses": _copied_subclasses,
    "parameters that conversion swaps": _converted_by_swapping,
    "no windows, and back": lambda torch: (
        torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 2, 4, 4, requires_grad=True), 0).sum().backward()
    ),
    "no windows of the largest, and back": lambda torch: (
        torch.nn.functional.adaptive_max_pool3d(torch.ones(2, 4, 4, 4, requires_grad=True), (2, 0, 1)).sum().backward()
    ),
    "random windows of no size": lambda torch: torch.nn.functional.fractional_max_pool2d(
        torch.ones(2, 7, 7), (), output_size=(3, 3)
    ),
    "random windows that do not fit": lambda torch: torch.nn.functional.fractional_max_pool3d(
        torch.ones(2, 7, 7, 7), 2, output_size=(3, 9, 3)
    ),
    "the queue of the CPU": lambda torch: [
        str(torch.Stream()), torch.Stream().query(), torch.Stream() == torch.Stream("cpu"), str(torch.Event())
    ],
    "truths summed to a shape": lambda torch: [
        torch.ones(2, 3, dtype=torch.bool).sum_to_size(size) for size in ((2, 3), (1, 3), (3,), (1, 1), ())
    ],
    "marks in it": lambda torch: torch.Stream().record_event(),
    "the statistics of groups": lambda torch: [
        each.requires_grad
        for each in torch.native_group_norm(torch.arange(8.0).reshape(1, 4, 2).requires_grad_(), None, None, 1, 4, 2, 2, 0.1)
    ],
    "sums of complex exponentials, far apart and endless": lambda torch: [
        [abs(each.real - wanted.real) + abs(each.imag - wanted.imag) < 1e-5 or str(each) == str(wanted)
         for each, wanted in zip(torch.logcumsumexp(torch.tensor(z), 0).tolist(), theirs.logcumsumexp(theirs.tensor(z), 0).tolist(), strict=True)]
        for z in ([1 + 5j, 0.5 + 4j, 2 - 7j], [1000 + 5j, -1e5 - 7j, complex("inf"), 3j], [complex("-inf"), complex("-inf"), 1j, complex("nan")])
    ],
    "a table updated with what fails on the way": lambda torch: (
        torch.utils.weak.WeakIdKeyDictionary().update([("a", 1), "bc", 3])
    ),
    **{
        f"{type(number).__name__} into {kind}": _assigned(number, kind)
        for number in (np.int16(3), np.int64(-2), np.uint8(3), np.float64(2.5), np.float32(2.5), np.bool_(True))
        for kind in ("float32", "int32", "bool", "complex64")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same(name: str) -> None:
    program = PROGRAMS[name]
    assert outcome(ours, program) == outcome(theirs, program)


def test_arrays_in_a_list_are_warned_of_once() -> None:
    for torch in (ours, theirs):
        torch.set_warn_always(True)
        try:
            with pytest.warns(UserWarning, match="Creating a tensor from a list of numpy.ndarrays is extremely slow"):
                torch.tensor([np.array([0]), np.array([1])])
        finally:
            torch.set_warn_always(False)


@pytest.mark.parametrize("role", ["input value", "boundary"])
def test_searching_in_memory_with_gaps_is_warned_of(role: str) -> None:
    for torch in (ours, theirs):
        gaps, whole = torch.arange(6.0)[::2], torch.arange(6.0)
        torch.set_warn_always(True)
        try:
            with pytest.warns(UserWarning, match=rf"torch.searchsorted\(\): {role} tensor is non-contiguous"):
                torch.searchsorted(*((whole, gaps) if role == "input value" else (gaps, whole)))
        finally:
            torch.set_warn_always(False)


def test_ways_to_compute_attention_are_no_numbers() -> None:
    def told(torch: Any) -> list[Any]:
        kinds = importlib.import_module(f"{torch.__name__}.nn.attention").SDPBackend
        math = kinds.MATH
        return [
            math.name,
            math.value,
            int(math),
            math == 0,
            isinstance(math, int),
            [1, 2][math],
            list(kinds.__members__),
        ]

    assert told(ours) == told(theirs)


# Memory formats ---------------------------------------------------------------------------------------

_POOLS: dict[str, Callable[[Any, Any, int], Any]] = {
    "max_pool": lambda f, x, n: getattr(f, f"max_pool{n}d")(x, 2, return_indices=True),
    "avg_pool": lambda f, x, n: getattr(f, f"avg_pool{n}d")(x, 2),
    "adaptive_avg_pool": lambda f, x, n: getattr(f, f"adaptive_avg_pool{n}d")(x, 2),
    "adaptive_avg_pool to one": lambda f, x, n: getattr(f, f"adaptive_avg_pool{n}d")(x, 1),
    "adaptive_max_pool": lambda f, x, n: getattr(f, f"adaptive_max_pool{n}d")(x, 2, return_indices=True),
}


@pytest.mark.parametrize("pool", _POOLS)
@pytest.mark.parametrize("n", [2, 3])
def test_layouts_of_pooled_images(pool: str, n: int) -> None:
    def program(torch: Any) -> Any:
        found = []
        for images, channels, size, batch, last in itertools.product(
            (1, 3), (1, 4), (2, 4), (True, False), (True, False)
        ):
            x = torch.arange(float(images * channels * size**n)).reshape(images, channels, *(size,) * n)
            if last:
                x = x.to(memory_format=torch.channels_last if n == 2 else torch.channels_last_3d)
            x = (x if batch else x[0]).detach().requires_grad_()
            made = _POOLS[pool](torch.nn.functional, x, n)
            found += [made]
            if "max" in pool and channels * size > 2:  # (a single place does not tell how the image lay)
                found += torch.autograd.grad(made[0].sum(), x)
        return found

    assert outcome(ours, program) == outcome(theirs, program)


@pytest.mark.parametrize("shape", [(2, 1, 3, 4), (2, 3, 1, 1), (1, 3, 2, 2), (2, 1, 3, 4, 2)])
def test_to_a_memory_format(shape: tuple[int, ...]) -> None:
    def program(torch: Any) -> Any:
        last = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
        found = []
        for kind in (torch.float32, torch.float64):
            for form in (last, torch.contiguous_format):
                x = torch.arange(float(np.prod(shape))).reshape(shape)
                for y in (x, x.to(memory_format=last), torch.cat([x, x])[::2]):
                    made = y.to(kind, memory_format=form)
                    found += [made, made is y, made.float(memory_format=form), y.contiguous(memory_format=last)]
        return found

    assert outcome(ours, program) == outcome(theirs, program)


@pytest.mark.parametrize("shape", [(8, 1, 3, 3), (8, 4, 1, 1), (2, 4, 3, 3)])
def test_a_weight_keeps_its_format(shape: tuple[int, ...]) -> None:
    def program(torch: Any) -> Any:
        x = torch.ones(shape).to(memory_format=torch.channels_last)
        made = [x.clone(), torch.zeros_like(x), torch.empty_like(x), torch.rand_like(x), torch.randint_like(x, 3)]
        image = torch.ones(2, shape[1], 5, 5)
        return [each.stride() for each in made], torch.nn.functional.conv2d(image, made[1])

    assert outcome(ours, program) == outcome(theirs, program)


def test_no_channels() -> None:
    def program(torch: Any) -> Any:
        bias = torch.ones(3, requires_grad=True)
        out = torch.nn.functional.conv1d(torch.ones(2, 0, 5), torch.ones(3, 0, 2), bias)
        return out, torch.autograd.grad(out.sum(), bias)

    assert outcome(ours, program) == outcome(theirs, program)


_TYPES = ("float32", "float64", "float16", "bfloat16", "int64")
_LOSSES = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "kl_div",
)


@pytest.mark.parametrize("loss", _LOSSES)
@pytest.mark.parametrize(("first", "second"), list(itertools.product(_TYPES, _TYPES)))
def test_losses_of_two_types(loss: str, first: str, second: str) -> None:
    """In whose type a loss is computed, and which types are refused: a target of another type is a common mistake."""

    def program(t: Any) -> Any:
        x, y = t.tensor([1, 0, 1]).to(getattr(t, first)), t.tensor([1, 1, 0]).to(getattr(t, second))
        return [str(getattr(t.nn.functional, loss)(x, y).dtype).partition(".")[2]]

    mine, reference = [outcome(each, program) for each in (ours, theirs)]
    assert mine[0] == reference[0]  # (a type's name, or the kind of a refusal)


_LAID_OUT = (
    "t.rot90(x)", "t.rot90(x, 2)", "t.rot90(x, 3, (0, 2))", "t.rot90(x, 4)", "x.count_nonzero(-2)", "t.view_as_complex(x[:0, ..., :2])",
    "t.linalg.matrix_power(x[:, :2, :2].long(), 3)", "t.linalg.matrix_power(x[:, :2, :2].bfloat16(), 2)", "t.trapezoid(x[..., :0])",
    "t.nn.functional.margin_ranking_loss(x.long(), x.long(), x.long())",
)  # fmt: skip


@pytest.mark.parametrize("text", _LAID_OUT)
@pytest.mark.parametrize("turned", [False, True])
def test_layouts_and_types(text: str, turned: bool) -> None:
    def program(t: Any) -> Any:
        x = t.arange(24.0).reshape(2, 3, 4).requires_grad_()
        return eval(text, {"t": t, "x": x.permute(2, 1, 0) if turned else x})

    assert outcome(ours, program) == outcome(theirs, program)
