"""Programs that take calls over with `__torch_function__`: `python -m tests.core.overriding_programs clarion` prints outcomes.

They run in a process of their own, because the first class that takes calls over changes how functions are called.
`python -m tests.core.overriding_programs torch > tests/core/overriding.json` writes what PyTorch gives.
"""

from __future__ import annotations

import copy
import importlib
import json
import operator
import sys
import warnings
from typing import Any

EXPRESSIONS = (
    "x + y", "y + x", "2 + x", "x - y", "1 - x", "y - x", "x * 2", "x / 2", "2 / x", "x // 2", "x % 2", "x @ y", "y @ x", "x < y",
    "x == y", "y == x", "-x", "abs(x)", "x[0]", "y[x.long()]", "x.__setitem__(0, 1.0)", "iadd(x, y)", "len(x)", "float(x[0])",
    "bool(x[0])", "x.shape", "x.T", "x.grad", "x.requires_grad", "x.data", "x.dtype", "t.add(x, y)", "t.add(y, x)", "y.add(x)",
    "t.cat([y, x])", "t.stack((x, y))", "t.nn.functional.relu(x)", "t.nn.Linear(3, 2)(x)", "x.size()", "x.tolist()", "x.clone()",
    "x.detach()", "x.to(t.float64)", "t.zeros_like(x)", "x.new_zeros(2)", "x.split(1)", "x.max(0)", "t.is_tensor(x)", "x[0].item()",
    "t.tensor(x)", "t.as_tensor(x)", "x.dim()", "x.exp()", "x.exp_()", "t.exp(x)", "x.mul(2).add(1)", "t.sum(x)", "x.requires_grad_()",
)  # fmt: skip


def logged(t: Any) -> Any:
    """What is called, with which classes, and the class of the result."""
    log: list[Any] = []

    class Logged(t.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append([func.__name__, [kind.__name__ for kind in types]])
            return super().__torch_function__(func, types, args, kwargs or {})

    found = {}
    for text in EXPRESSIONS:
        x, y = t.ones(3).as_subclass(Logged), t.ones(3)
        log.clear()
        result = eval(text, {"t": t, "x": x, "y": y, "iadd": operator.iadd})
        found[text] = [list(log), type(result).__name__]
    return found


def plain_subclass(t: Any) -> Any:
    """Results are of the class of the argument; gradients flow."""

    class Mine(t.Tensor):  # type: ignore[misc, name-defined]
        pass

    leaf = t.ones(2, requires_grad=True)
    q = leaf.as_subclass(Mine)
    ((q * 3) ** 2).sum().backward()
    kinds = [
        type(v).__name__ for v in (q + 1, 1 - q, t.add(q, 1), q.sum(), q[0], q.split(1)[0], q.max(0), q.shape, q.T)
    ]
    return kinds, leaf.grad.tolist(), type(leaf.grad).__name__, type(t.ones(2) + 1).__name__


def handlers_by_function(t: Any) -> Any:
    """A table of functions: the same objects before and after the class is defined."""
    handled: dict[Any, Any] = {t.add: "torch.add"}

    class Mine(t.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return handled[func] if func in handled else super().__torch_function__(func, types, args, kwargs)

    handled |= {t.mul: "torch.mul", t.Tensor.sub: "Tensor.sub", t.nn.functional.softmax: "softmax"}
    handled[t.Tensor.shape.__get__] = "shape"
    x = t.ones(2).as_subclass(Mine)
    return (
        t.add(x, 1),
        t.mul(1, x),
        x - 1,
        x.sub(2),
        t.nn.functional.softmax(x, 0),
        x.shape,
        t.add(t.ones(1), 1).tolist(),
    )


def not_a_tensor(t: Any) -> Any:
    """An object that is no tensor, also inside a list."""

    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func.__name__, [kind.__name__ for kind in types]

    y = t.ones(2)
    found = [t.add(Duck(), 1), t.cat([Duck(), y]), t.nn.functional.relu(Duck()), t.mean(Duck(), dim=0), y.add(Duck())]
    return found, t.overrides.has_torch_function((Duck(),)), t.overrides.is_tensor_like(Duck())


def order_of_classes(t: Any) -> Any:
    """A subclass is asked first; unrelated classes that refuse make a TypeError."""

    class First(t.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return cls.__name__, [kind.__name__ for kind in types]

    class Second(First):
        pass

    class Other(t.Tensor):  # type: ignore[misc, name-defined]
        pass

    class Another(t.Tensor):  # type: ignore[misc, name-defined]
        pass

    a, b = t.ones(2).as_subclass(First), t.ones(2).as_subclass(Second)
    found = [t.add(a, b), t.add(b, a), a + b, t.cat([a, b])]
    for run in (lambda: t.ones(2).as_subclass(Other) + t.ones(2).as_subclass(Another),):
        try:
            run()
        except TypeError as error:
            found.append(str(error)[:40])
    return found


def modes(t: Any) -> Any:
    """A mode sees every call in its block, and none after it; the innermost sees it first."""
    log: list[str] = []

    class Log(t.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(func.__name__)
            return func(*args, **(kwargs or {}))

    class Times(t.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __init__(self, n: float) -> None:
            self.n = n

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * self.n + 1 if func is t.add else result

    a = t.ones(2)
    with Log():
        made = [a + 1, t.neg(a), a.sum(), t.zeros(2), t.nn.functional.relu(a), a.neg()]
        assert a.shape
    after = a + 1
    with Times(2), Times(5):
        nested = t.add(a, a)
    return log, [each.tolist() for each in made], after.tolist(), nested.tolist()


def values_beside(t: Any) -> Any:
    """The class of PyTorch's manual: a tensor with data of its own beside it."""

    class Noted(t.Tensor):  # type: ignore[misc, name-defined]
        @staticmethod
        def __new__(cls, x: Any, note: str) -> Any:
            return t.Tensor._make_subclass(cls, x)

        def __init__(self, x: Any, note: str) -> None:
            self.note = note

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            notes = [a.note for a in args if isinstance(a, cls)]
            args = tuple(a.as_subclass(t.Tensor) if isinstance(a, cls) else a for a in args)
            result = func(*args, **(kwargs or {}))
            return cls(result, "+".join(notes)) if isinstance(result, t.Tensor) else result

    x, y = Noted(t.ones(2), "x"), Noted(t.ones(2), "y")
    z = x * y + 1
    return type(z).__name__, z.note, z.sum().item()


def questions(t: Any) -> Any:
    """The helpers of torch.overrides."""
    o = t.overrides
    x, p = t.ones(2).as_subclass(type("Mine", (t.Tensor,), {})), t.nn.Parameter(t.ones(1))
    wrapped = o.wrap_torch_function(lambda a: (a,))(lambda a: "plain")
    return (
        [o.has_torch_function((v,)) for v in (x, t.ones(1), p, 3)], o.has_torch_function_unary(x),
        o.has_torch_function_variadic(1, x), o.is_tensor_method_or_property(t.Tensor.add), o.is_tensor_method_or_property(t.add),
        o.resolve_name(t.add), o.resolve_name(t.Tensor.add), t.add in o.get_testing_overrides(), wrapped(t.ones(1)),
        type(p + 1).__name__, type(t.add(p, 1)).__name__,
    )  # fmt: skip


def operators(t: Any) -> Any:
    """Operators of a plain tensor with an object that is none; functions of modules tell theirs; sparse tensors inside a mode."""

    class Told:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func.__name__

    class Through(t.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    x, other = t.ones(2), Told()
    with Through():
        entries = t.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,))
        dense = entries.shape[0], entries.to_dense().tolist()
    return x + other, x * other, x == other, x < other, x @ other, t.fft.fft(other), t.special.bessel_j0(other), dense


def members(t: Any) -> Any:
    """Methods of Tensor called through the class or `super()`, walks over elements, and tensors made of tensors."""
    seen: list[str] = []

    class Mine(t.Tensor):  # type: ignore[misc, name-defined]
        __slots__ = ["note"]

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

        def __add__(self, other: Any) -> Any:
            return super().__add__(other)

        def new_empty(self, *args: Any, **kwargs: Any) -> Any:
            return t.empty(*args, **kwargs).as_subclass(Mine)

    x = t.ones(2, requires_grad=True)
    mine = Mine(x * 3)
    kinds = [type(each).__name__ for each in (mine + 1, t.Tensor.__mul__(x, mine), t.Tensor.detach(mine), *mine)]
    same = [getattr(Mine, name) is getattr(t.Tensor, name) for name in ("size", "dtype", "__mul__", "grad", "dim")]
    mine.sum().backward()
    found = t.autograd.grad((mine * mine).sum(), mine)
    bits = t.ones(2, dtype=t.int64).as_subclass(Mine)
    (2 & bits), (2 | bits), bits.__ifloordiv__(1), bits.__rpow__(2)
    leaf = t.nn.Parameter(t.ones(2).as_subclass(Mine))
    leaf.note = "kept"
    copied = copy.deepcopy(leaf)
    texts = repr(leaf), copied.note, isinstance(copied, t.nn.Parameter), copied.requires_grad
    seen = [name for name in seen if name != "dim"]  # (PyTorch asks for it before it walks)
    return kinds, same, x.grad.tolist(), [type(found[0]).__name__, found[0].tolist()], texts, seen


def once_below(t: Any) -> Any:
    """`redispatch_function`: one call that nobody takes over; modes that are made as they must not be."""
    seen: list[str] = []

    class Logged(t.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return t.overrides.redispatch_function(func, types, args, kwargs)

    def both(a: Any, b: Any) -> Any:
        if t.overrides.has_torch_function((a, b)):
            return t.overrides.handle_torch_function(both, (a, b), a, b)
        return a * b + 1

    x = Logged(t.tensor([3.0]))
    kinds = [type(each).__name__ for each in (both(x, x), x + 1, x.exp(), x.shape)]

    class Wrong(t.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    try:
        with Wrong():
            t.ones(1).abs()
        refused = False
    except RuntimeError as error:
        refused = "please make it a plain method" in str(error)
    try:
        t.overrides.has_torch_function(object())
    except TypeError as error:
        return kinds, seen, refused, "expected a sequence" in str(error)
    return kinds, seen, refused


def warnings_of_plain_methods(t: Any) -> Any:
    """What is said of a `__torch_function__` that is no classmethod."""

    class Plain:
        def __torch_function__(self, *args: Any) -> int:
            return -1

    class Mine(t.Tensor):  # type: ignore[misc, name-defined]
        def __torch_function__(self, *args: Any) -> int:  # type: ignore[override]
            return -1

    said = []
    for value in (Plain(), Mine()):
        for call in (t.nn.functional.dropout, t.nn.functional.silu, t.abs)[: 3 - len(said)]:  # (C++ says it once)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(value)
            said += [
                [w.category.__name__ for w in caught],
                ["as a plain method is deprecated" in str(w.message) for w in caught],
            ]
    return said


def parts_of_numbers(t: Any) -> Any:
    """The property is asked about, not the function that does the same."""
    asked = []

    class Mine(t.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append([func in (t.Tensor.real.__get__, t.Tensor.imag.__get__), func.__name__, kwargs or {}])
            return super().__torch_function__(func, types, args, kwargs or {})

    x = t.ones(2, dtype=t.complex64).as_subclass(Mine)
    return type(x.real).__name__, type(x.imag).__name__, type(t.real(x)).__name__, asked


def main(name: str) -> None:
    """Run all programs on a library and print what they give as JSON."""
    t = importlib.import_module(name)
    for part in ("overrides", "nn.functional"):
        importlib.import_module(f"{name}.{part}")
    found = [
        logged,
        plain_subclass,
        handlers_by_function,
        not_a_tensor,
        order_of_classes,
        modes,
        values_beside,
        questions,
        operators,
        members,
        once_below,
        warnings_of_plain_methods,
        parts_of_numbers,
    ]
    print(json.dumps({program.__name__: program(t) for program in found}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
