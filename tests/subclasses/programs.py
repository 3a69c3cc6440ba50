"""Classes that compute for themselves, as people write them; `python -m tests.subclasses.programs torch` prints what PyTorch says.

They run in a process of their own: after the first such tensor every operation looks for more.
"""

from __future__ import annotations

import copy
import importlib
import io
import json
import sys
from typing import Any

from . import declared as declarations

LIBRARY = sys.argv[1] if len(sys.argv) > 1 else "clarion"
torch: Any = importlib.import_module(LIBRARY)
nn = torch.nn
F = importlib.import_module(f"{LIBRARY}.nn.functional")
pytree = importlib.import_module(f"{LIBRARY}.utils._pytree")
dispatching = importlib.import_module(f"{LIBRARY}.utils._python_dispatch")
forward_ad = importlib.import_module(f"{LIBRARY}.autograd.forward_ad")
aten = torch.ops.aten
SEEN: list[Any] = []


def plain(value: Any) -> Any:
    """What can be compared."""
    for name in ("elem", "first", "data_"):
        if hasattr(value, name):
            return [type(value).__name__, plain(getattr(value, name))]
    if isinstance(value, torch.Tensor):
        return [round(each, 4) for each in value.detach().double().flatten().tolist()]
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


class Logging(torch.Tensor):
    """Writes down which operations it sees."""

    __slots__ = ["elem"]

    @staticmethod
    def __new__(cls: Any, elem: Any, requires_grad: bool = False) -> Any:
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), dtype=elem.dtype, device=elem.device, requires_grad=requires_grad
        )
        made.elem = elem.detach() if requires_grad else elem
        return made

    def __repr__(self, **_: Any) -> str:
        return super().__repr__(tensor_contents=f"{self.elem}")

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SEEN.append(str(func))
        bare = lambda each: each.elem if isinstance(each, Logging) else each
        out = func(*pytree.tree_map(bare, args), **pytree.tree_map(bare, kwargs or {}))
        return pytree.tree_map(lambda each: Logging(each) if isinstance(each, torch.Tensor) else each, out)


class Two(torch.Tensor):
    """Two tensors with which everything happens."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls: Any, first: Any, second: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, first.shape, strides=first.stride(), dtype=first.dtype)

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def __tensor_flatten__(self) -> Any:
        return ["first", "second"], None

    @staticmethod
    def __tensor_unflatten__(parts: Any, context: Any, size: Any, stride: Any) -> Any:
        return Two(parts["first"], parts["second"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outs = []
        for name in ("first", "second"):
            pick = lambda each, name=name: getattr(each, name) if isinstance(each, Two) else each
            outs.append(func(*pytree.tree_map(pick, args), **pytree.tree_map(pick, kwargs or {})))
        if isinstance(outs[0], torch.Tensor):
            return Two(*outs)
        return [Two(*pair) for pair in zip(*outs, strict=True)] if isinstance(outs[0], list | tuple) else outs[0]


class Quantized(torch.Tensor):
    """A weight in eight bits, which is multiplied as it is."""

    @staticmethod
    def __new__(cls: Any, data: Any, scale: Any, turned: bool = False) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, data.shape[::-1] if turned else data.shape, dtype=scale.dtype)

    def __init__(self, data: Any, scale: Any, turned: bool = False) -> None:
        self.data_, self.scale, self.turned = data, scale, turned

    @classmethod
    def of(cls, weight: Any) -> Any:
        scale = weight.abs().amax(1, keepdim=True) / 127
        return cls(torch.round(weight / scale).to(torch.int8), scale)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is aten.detach.default:
            return cls(args[0].data_, args[0].scale, args[0].turned)
        if func is aten.t.default:
            return cls(args[0].data_, args[0].scale, not args[0].turned)
        if func in (aten.mm.default, aten.addmm.default):
            *rest, weight = args
            values = weight.data_.to(weight.scale.dtype)
            out = rest[-1] @ values.t() * weight.scale.t() if weight.turned else (rest[-1] * weight.scale.t()) @ values
            return out if func is aten.mm.default else out + rest[0]
        return NotImplemented


class Described(Logging):
    """Writes down what its operations are given."""

    __slots__: list[str] = []

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def told(each: Any) -> Any:
            if isinstance(each, list | tuple):
                return [told(one) for one in each]
            return [str(each.dtype), *each.shape] if isinstance(each, torch.Tensor) else each

        SEEN.append([str(func), told(args), sorted(kwargs or {})])
        bare = lambda each: each.elem if isinstance(each, Logging) else each
        out = func(*pytree.tree_map(bare, args), **pytree.tree_map(bare, kwargs or {}))
        return Described(out)


class Scaled(torch.Tensor):
    """Has data of its own, and looks at what is done with it."""

    seen = 0

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen += func is aten.mul.Tensor
        return super().__torch_dispatch__(func, types, args, kwargs)


def logging() -> Any:
    x = Logging(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    told = [x.shape == (2, 2), str(x.dtype), str(x.device), list(x.stride()), x.is_leaf]
    loss = (x * 2 + 1).sigmoid().sum()
    forward = [name for name in SEEN if "detach" not in name]
    loss.backward()
    SEEN.clear()
    (x @ x.t()).relu().mean().backward()
    products = [name for name in SEEN if "detach" not in name][:4]
    return told, forward, products, type(x.grad).__name__, plain(x.grad), repr(Logging(torch.ones(1)))


def second_order() -> Any:
    x = Logging(torch.tensor([1.0, 2.0]), requires_grad=True)
    (g,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    jacobian = torch.autograd.functional.jacobian(lambda x: x.exp() * x, x)
    return plain(g), plain(h), plain(jacobian)


def in_place() -> Any:
    x = Logging(torch.ones(2))
    SEEN.clear()
    x.add_(1)
    seen = list(SEEN)
    y = Logging(torch.ones(2), requires_grad=True) * 2
    y.mul_(3)
    zeros = torch.zeros_like(x)
    return seen, plain(x), plain(y), x._version, plain(zeros), plain(x.clone()), float(x.sum())


def two() -> Any:
    torch.manual_seed(0)
    x = Two(torch.randn(2, 3), torch.randn(2, 3)).requires_grad_()
    (x.exp() * x + F.gelu(x)).softmax(-1).pow(2).sum().backward()
    parts = x.chunk(2, dim=0)
    shapes = [list(each.shape) for each in (x.T, x.view(3, 2), x[0], x[:, 1:], torch.stack([x, x]), x.sum(0))]
    return plain(x.grad), plain(x.grad.second), plain(parts[1]), shapes, [type(each).__name__ for each in parts]


class Written(Two):
    """The same, saying which tensor an operation wrote."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = super().__torch_dispatch__(func, types, args, kwargs)
        out = cls(out.first, out.second) if isinstance(out, Two) else out
        return dispatching.return_and_correct_aliasing(func, args, kwargs or {}, out)


def written() -> Any:
    x = Written(torch.arange(4.0), torch.ones(4))
    same = [x.mul_(3) is x, x.fill_(0.5) is x, x.add_(torch.arange(4.0)) is x, x.fill_(torch.tensor(2.0)) is x]
    part = x.view(2, 2)
    part.sub_(1)
    return same, plain(x), plain(x.second), plain(part), plain(x.clone().zero_()), list(part.shape)


def assigned() -> Any:
    """Parts that are written by index: a view is taken and written, or the class is given the indices."""
    at, found = torch.tensor([1, 2]), []
    for index, value in (
        (slice(1, 3), 7.0), (1, 7.0), (..., 2.0), (at, 7.0), (at, torch.ones(2)), (torch.tensor([True, False, True, False]), 5.0),
        (slice(None), Logging(torch.ones(4))), (at, Logging(torch.ones(2))),
    ):  # fmt: skip
        x = Logging(torch.arange(4.0))
        before = x._version
        x[index] = value
        found.append((plain(x), x._version > before))
    x = Logging(torch.arange(6.0).view(2, 3))
    x[:, torch.tensor([0, 0])] = 9.0
    x[x > 4] = -1.0
    SEEN.clear()
    x.index_put_((torch.tensor([0]),), torch.ones(1), accumulate=True)
    z = Logging(torch.arange(4.0), requires_grad=True)
    (w := z * 2)[w > 3] = 0.0
    w.sum().backward()
    return found, plain(x), SEEN[:1], plain(w), plain(z.grad)


def not_finite() -> Any:
    """Gradients that are not finite are the class's affair."""
    x = Logging(torch.tensor([0.0, 1.0]), requires_grad=True)
    (torch.ones(2) / torch.zeros(2)).sum()
    x.sqrt().sum().backward()
    return str(x.grad.elem.tolist())


def kept() -> Any:
    """Copied, saved and loaded, printed."""
    x = Two(torch.arange(3.0), torch.ones(3))
    x.note = [1, 2]
    found = []
    for each in (x, nn.Parameter(Two(torch.arange(2.0), torch.zeros(2)))):
        file = io.BytesIO()
        torch.save(each, file)
        file.seek(0)
        with torch.serialization.safe_globals([Two]):
            loaded = torch.load(file)
        for made in (copy.deepcopy(each), loaded):
            own = made.second is not each.second and made.first is not each.first
            found.append([plain(made), plain(made.second), getattr(made, "note", None), own, made.requires_grad])
            found.append([type(made).__name__, isinstance(made, nn.Parameter), list(made.stride())])
    return found, repr(nn.Parameter(Logging(torch.ones(2)))).count("Parameter(Logging(")


def layers() -> Any:
    torch.manual_seed(0)
    x = Two(torch.randn(2, 3), torch.randn(2, 3)).requires_grad_()
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 1))
    net(x).sum().backward()
    own = nn.Parameter(Two(torch.ones(2), torch.zeros(2)))
    (own * 3).sum().backward()
    kind = type(own).__name__, own.requires_grad, isinstance(own, nn.Parameter)
    return plain(x.grad), plain(net[0].weight.grad), kind, plain(own.grad)


def tangents() -> Any:
    """Of what PyTorch shows under its own name (`t`), of products, and of gradients."""
    found = []
    with forward_ad.dual_level():
        x = Two(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        x = forward_ad.make_dual(x, Two(torch.tensor([[5.0, 0.0]]), torch.tensor([[0.0, 6.0]]))).requires_grad_()
        first, second = x.t(), x @ x.t()
        (slope,) = torch.autograd.grad((x * x @ x.t()).sum(), x, create_graph=True)
        for each in (first, second, slope):
            tangent = forward_ad.unpack_dual(each).tangent
            found.append([plain(tangent), plain(tangent.second)])
    return found


def applied() -> Any:
    """A layer whose parameters are wrapped where they stand: the optimizer's are the same objects."""
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.fill_(0.5), layer.bias.zero_()
    layer(torch.ones(1, 2)).sum().backward()
    held = list(layer.parameters())
    layer._apply(lambda each: Two(each.clone(), each * 2))
    same = [a is b for a, b in zip(held, layer.parameters(), strict=True)]
    kinds = [(type(each).__name__, isinstance(each, nn.Parameter), type(each.grad).__name__) for each in held]
    return same, kinds, plain(layer.weight), plain(layer.weight.grad), plain(layer(torch.ones(1, 2)))


def quantized() -> Any:
    torch.manual_seed(1)
    layer, x = nn.Linear(8, 4), torch.randn(3, 8, requires_grad=True)
    before = layer(x)
    layer.weight = nn.Parameter(Quantized.of(layer.weight.detach()), requires_grad=False)
    out = layer(x)
    out.sum().backward()
    try:
        layer.weight.exp()
        refused = ""
    except TypeError as error:
        refused = str(error).split(";")[0]
    return (
        bool((out - before).detach().abs().max() < 0.01),
        type(out) is torch.Tensor,
        plain(x.grad),
        list(layer(x[None]).shape),
        refused,
    )


def arguments() -> Any:
    """Dimensions before indices; index tensors and masks in a list, with None for what is left alone."""
    x = Described(torch.arange(24.0).view(2, 3, 4), requires_grad=True)
    at, along = torch.tensor([0, 2]), torch.zeros(2, 3, 4, dtype=torch.long)
    mask, wide = torch.tensor([True, False, True]), torch.tensor([[True, False, True], [False, True, False]])
    SEEN.clear()
    found = [
        x.index_select(1, at), x.gather(2, along), x[:, at], x[:, mask], x[wide], x[..., at, :], x[at[:1], :, at[1:]],
        x.index_add(1, at, torch.ones(2, 2, 4)), x.index_fill(1, at, 3.0), x.scatter(2, along, 5.0),
        x.scatter_add(2, along, torch.ones(2, 3, 4)), x.index_copy(1, at, torch.ones(2, 2, 4)),
    ]  # fmt: skip
    seen = [each for each in SEEN if "detach" not in each[0]]
    sum(each.sum() for each in found[:5]).backward()
    return seen, found, x.grad


def with_data() -> Any:
    x = torch.Tensor._make_subclass(Scaled, torch.tensor([1.0, 2.0]))
    return plain((x * 2).sum()), Scaled.seen


def compared() -> Any:
    """A whole tensor with another: the class is asked once."""
    SEEN.clear()
    x, y = Logging(torch.ones(2)), Logging(torch.zeros(2))
    return torch.allclose(x, y), x.allclose(x), torch.equal(x, x), x.equal(y), list(SEEN)


def sent() -> Any:
    """They are where they say that they are; elsewhere they are copied."""
    x = Logging(torch.ones(2))
    same = x.to(device="cpu") is x, x.cpu() is x, x.to("cpu", torch.float32) is x, x.to("cpu", copy=True) is x
    far = x.to("meta")
    return (
        same,
        type(far).__name__,
        str(far.device),
        far.to(device="meta") is far,
        plain(x.to("cpu", torch.float64)),
        x.to("meta").elem.is_meta,
    )


class Told(Logging):
    """Writes down with what an operation is called, and asks for dimensions from the end."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SEEN.append([str(func), plain(list(args[1:])), dict(kwargs or {})])
        out = func(args[0].elem, *args[1:], **(kwargs or {}))
        return pytree.tree_map(lambda each: Told(each) if isinstance(each, torch.Tensor) else each, out)


def reductions() -> Any:
    """Dimensions are listed, or left out."""
    SEEN.clear()
    x = Told(torch.tensor([[1.0, 0.0], [3.0, 2.0], [0.0, 5.0]]))
    found = [
        x.sum(), x.sum(1), x.sum((0, 1), keepdim=True), x.mean(0), x.prod(1), x.all(), x.all(0), x.all((0, 1)), x.any(1, True),
        x.amax(), x.amin(0), x.argmax(), x.argmin(1), x.max(0)[0], x.min(1, True)[1], x.logsumexp(0), x.count_nonzero(),
        x.count_nonzero(0), x.count_nonzero((0, 1)), x.mode(0)[0], x.median(1)[1], x.nansum(1),
    ]  # fmt: skip
    seen = list(SEEN)
    again = aten.sum.dim_IntList(x, [-1]), aten.amax.default(x, [-1], True), aten.max.dim(x, -1)[0], aten.all.dim(x, -1)
    return plain(found), plain([list(each.shape) for each in found]), seen, plain(again)


def whole() -> Any:
    """Functions that look at values."""
    x, at = Logging(torch.tensor([[0.5, 1.0, 2.0]])), Logging(torch.tensor([2, 0]))
    few = at.bincount(), x.histc(2), x.take(at), torch.kron(x, x), x.take_along_dim(x.argsort(1), 1), F.one_hot(at)
    return plain([*few, x.quantile(0.5), torch.combinations(x[0]), torch.multinomial(x, 3).sum()])


def stored() -> Any:
    """Its storage has a size and a device, and no memory."""
    storage = Logging(torch.ones(2)).untyped_storage()
    try:
        said = storage.data_ptr()
    except RuntimeError as error:
        said = str(error)
    return storage.nbytes(), str(storage.device), said


class Seen(dispatching.TorchDispatchMode):  # type: ignore[misc]
    """Writes down operations and classes; a polite one leaves tensors of classes to their classes."""

    def __init__(self, polite: bool = False) -> None:
        super().__init__()
        self.names: list[Any] = []
        self.polite = polite

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append([str(func), [each.__name__ for each in types]])
        return NotImplemented if self.polite and types else func(*args, **(kwargs or {}))


class Same(torch.Tensor):
    """Always the same answer."""

    answer: Any = "nothing"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return cls(3) if cls.answer is None else cls.answer


def modes_first() -> Any:
    """Modes are asked before classes, and see what classes do."""
    x, first, second, polite = Logging(torch.ones(2, 3)), Seen(), Seen(), Seen(polite=True)
    with first, second:
        y = (x.t() @ x).sum()
    with polite:
        x.abs()
    return plain(y), first.names, second.names, polite.names


def said(program: Any) -> Any:
    """What it gives, or its refusal."""
    try:
        return plain(program())
    except (RuntimeError, TypeError) as error:
        return [next(each.__name__ for each in (RuntimeError, TypeError) if isinstance(error, each)), str(error)[:24]]


def made() -> Any:
    """What is made of tensors whose class computes, and of ordinary ones, whatever it is that the class gives back."""

    class Plain(torch.Tensor):
        pass

    x, y = Logging(torch.rand(2)), Logging(torch.randn(4, 6).t().diagonal(offset=2))
    before = x._version
    x.detach().add_(2)
    counted = x._version - before
    x.data.add_(2)
    found = [
        said(lambda: Plain(x)), said(lambda: x.as_subclass(Plain)), said(lambda: torch.Tensor._make_subclass(Plain, x)),
        said(lambda: torch.Tensor._make_wrapper_subclass(Plain, (2, 2))), said(x.tolist), said(x.numpy),
        said(lambda: Same(2).neg()), said(lambda: Same(2).detach()), counted, x._version - before, list(y.stride()),
    ]  # fmt: skip
    Same.answer = None
    like = [
        torch.empty_like,
        torch.ones_like,
        torch.rand_like,
        lambda z: torch.full_like(z, 1.0),
        lambda z: z.new_ones(2),
    ]
    found += [type(make(Same(2))).__name__ for make in (*like, lambda z: torch.randint_like(z, high=3))]
    return [*found, dispatching.is_in_torch_dispatch_mode(include_infra_modes=False)]


def declared() -> Any:
    """Operations that programs declare."""
    return declarations.declared(torch, Logging, SEEN, Seen, plain)


def beside() -> Any:
    """Ordinary tensors are what they were."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    return plain(x.grad), x.grad_fn is None


PROGRAMS = [
    logging, second_order, in_place, two, written, assigned, not_finite, kept, layers, tangents, applied,
    quantized, arguments, with_data, compared, sent, reductions, whole, stored, modes_first, made, declared, beside,
]  # fmt: skip

if __name__ == "__main__":
    print(json.dumps({each.__name__: plain(each()) for each in PROGRAMS}))
