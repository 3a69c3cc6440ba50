"""`__torch_function__`: classes that take the calls of public functions over, and modes that see all of them.

NOTE [Overriding]: nothing here runs, and no call of a plain Tensor is longer by a nanosecond, until the first class that
takes calls over is defined (a subclass of Tensor), a TorchFunctionMode is entered, `torch.overrides` is imported, or a
program's text names `__torch_function__` (a class that is no tensor tells nobody that it is there: `look_in`). Then
the public functions get other code, which looks at their arguments first (`stand_in`: the functions stay the objects they
are, so it does not matter who holds them), and a subclass of Tensor gets methods and properties of its own that do so
(Tensor itself only while a mode is entered).
"""

from __future__ import annotations

import importlib
import threading
import types
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ..errors import ArgumentTypeError
from .description import Description
from .tensor import Tensor


class _State(threading.local):
    enabled: bool = True  # do arguments take calls over in this thread?
    modes: tuple[Any, ...] = ()  # the modes entered in this thread, innermost last


state = _State()
CALL = "<call of what may be taken over>"  # the file that tracebacks name for such a call


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of a class that does not take part: the call goes on as if it had none."""
    with Disabled():
        return func(*args, **(kwargs or {}))


class Disabled:
    """While it is entered, arguments take no call over (modes still do)."""

    def __enter__(self) -> None:
        self._before = state.enabled
        state.enabled = False

    def __exit__(self, *_: object) -> None:
        state.enabled = self._before


class AllDisabled(Disabled):
    """While it is entered, nobody takes a call over: neither arguments nor modes."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes, state.modes = state.modes, ()

    def __exit__(self, *_: object) -> None:
        state.modes = self._modes
        super().__exit__()


# Who takes a call over ---------------------------------------------------------------------------------

_IGNORED, _TAKES, _HOLDS = 0, 1, 2
_kinds: dict[type, int] = {Tensor: _IGNORED, list: _HOLDS, tuple: _HOLDS}
_kinds |= dict.fromkeys((int, float, bool, complex, str, type(None), slice, dict, types.FunctionType), _IGNORED)


def _kind(of: type) -> int:
    kind = _IGNORED
    function = getattr(of, "__torch_function__", None)
    if function is not None and function is not disabled:
        kind = _TAKES
    elif issubclass(of, (list, tuple)) and of.__name__ != "Size":
        kind = _HOLDS
    _kinds[of] = kind
    return kind


def takers(values: Iterable[Any]) -> list[Any]:
    """The arguments that take the call over, one of each class: a subclass before the class it is made from."""
    found: list[Any] = []
    for value in values:
        of = type(value)
        kind = _kinds.get(of)
        if kind == _IGNORED:
            continue
        if kind is None:
            kind = _kind(of)
        if kind == _HOLDS:
            for each in takers(value):
                _add(found, each)
        elif kind == _TAKES:
            _add(found, value)
    return found


def _add(found: list[Any], value: Any) -> None:
    of = type(value)
    if any(type(other) is of for other in found):
        return
    at = next((i for i, other in enumerate(found) if issubclass(of, type(other))), len(found))
    found.insert(at, value)


def wants(values: Iterable[Any]) -> bool:
    """Will the call be taken over?"""
    return bool(state.modes) or (state.enabled and bool(takers(values)))


def dispatch(func: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any], operator: bool = False) -> Any:
    """Ask the innermost mode, then the arguments, until one of them gives an answer."""
    kinds = tuple([type(value) for value in found])
    if state.modes:
        *outer, mode = before = state.modes
        state.modes = tuple(outer)
        try:
            result = mode.__torch_function__(func, kinds, args, kwargs)
        finally:
            state.modes = before
        if result is not NotImplemented:
            return result
    for value in found:
        result = value.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    if operator:
        return NotImplemented
    name = getattr(func, "__name__", func)
    raise ArgumentTypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented: "
        f"{[kind.__name__ for kind in kinds]}"
    )


def by_default(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """`Tensor.__torch_function__`: compute, and give the tensors of the result the class of the argument."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with Disabled():
        result = func(*args, **(kwargs or {}))
        return result if func in _unwrapped() else converted(result, cls)


def converted(result: Any, cls: Any) -> Any:
    """Tensors of a result in the class `cls`, sharing memory and history."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)) and type(result).__name__ != "Size":
        parts = [converted(each, cls) for each in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _unwrapped() -> tuple[Any, ...]:
    return tuple([vars(Tensor)[name].__get__ for name in ("_base", "grad")])


# Functions --------------------------------------------------------------------------------------------

tables: list[dict[str, Any]] = []  # names and public functions, told by the rooms above
MODULES = ("clarion.linalg", "clarion.fft", "clarion.special", "clarion.functional", "clarion.signal.windows")
# Only a mode sees these: they make tensors, or ask what something is.
MODES_ONLY = frozenset(["tensor", "as_tensor", "asarray", "from_numpy", "is_tensor", "as_subclass", "new_tensor"])
UNSEEN = frozenset(
    ["__reduce_ex__", "__setstate__", "__hash__", "__array_wrap__", "is_storage", "typename", "manual_seed"]
)

_below: dict[Any, Any] = {}  # function -> what it runs if nobody takes the call over


def install() -> None:
    """Let the public functions look at their arguments first."""
    if _below:
        return
    members = list(tables)
    for name in MODULES:
        module = importlib.import_module(name)
        _prefixed(module)
        members.append(
            {key: each for key, each in vars(module).items() if key in getattr(module, "__all__", vars(module))}
        )
    for table in members:
        for name, function in list(table.items()):
            if not isinstance(function, types.FunctionType) or not function.__module__.startswith("clarion."):
                continue
            own = name if not name.startswith("__") or name in ("__getitem__", "__setitem__") else None
            if table.get(function.__name__) is not function and function.__name__ not in _full(name):
                function.__name__ = name  # so that who takes a call over can read what was called
            if own is not None and function not in _below and name not in UNSEEN:
                _look_first(function, name in MODES_ONLY)


_FAMILIES = ("linalg", "fft", "special")


def _full(name: str) -> tuple[str, ...]:
    return tuple([f"{family}_{name}" for family in _FAMILIES])


def _prefixed(module: Any) -> None:
    """PyTorch's functions of these modules have the module in their names: linalg_inv, fft_fft, special_bessel_j0."""
    family = module.__name__.rpartition(".")[2]
    if family in _FAMILIES:
        elsewhere = {id(function) for table in tables for function in table.values()}
        for name, function in vars(module).items():
            own = isinstance(function, types.FunctionType) and function.__module__.startswith("clarion.")
            if own and name[0] != "_" and (id(function) not in elsewhere or function.__name__ == f"{family}_{name}"):
                function.__name__ = f"{family}_{name}"


def look_in(file: str) -> None:
    """Install if a program's text names `__torch_function__`."""
    if not _below:
        try:
            with open(file, "rb") as text:
                named = b"__torch_function__" in text.read()
        except OSError:
            return
        if named:
            install()


def _look_first(function: Any, modes_only: bool) -> None:
    _below[function] = same_as(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        if state.modes or (state.enabled and not modes_only):
            found = takers((*args, *kwargs.values())) if state.enabled else []
            if found or state.modes:
                return dispatch(function, found, args, kwargs)
        elif state.enabled:
            with Disabled():
                return _below[function](*args, **kwargs)
        return _below[function](*args, **kwargs)

    function.__code__ = calling(call, function.__code__)


_under: dict[
    Any, Any
] = {}  # function -> what it runs if no argument is a tensor that wraps others: see core/wrapped.py


def look_below(function: Any, look: Callable[..., Any]) -> None:
    """Let a function call `look`, which calls `_under[function]`: below those who take calls over."""
    if function in _under:
        return
    if function in _below:
        _under[function], _below[function] = _below[function], look
    else:
        _under[function] = same_as(function)
        function.__code__ = calling(look, function.__code__)


def set_code(function: Any, code: types.CodeType) -> None:
    """Give a function other code, below the looks at its arguments if there are any."""
    if function in _under:
        _under[function] = same_as(function, code)
    elif _below and function in _below:
        _below[function] = same_as(function, code)
    else:
        function.__code__ = code


def own_form(function: Any) -> Any:
    """What a function runs if nobody takes its calls over or looks at them, as a function of its own."""
    return _under.get(function) or _below.get(function) or same_as(function)


def same_as(function: Any, code: types.CodeType | None = None) -> Any:
    """A function of its own with the code (or other code), the defaults and the surroundings of `function`."""
    made = types.FunctionType(
        code or function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    return made


def calling(call: Callable[..., Any], own: types.CodeType) -> types.CodeType:
    """Code that calls `call` with whatever it is given, and can take the place of `own`."""
    code = _template(own.co_freevars)
    constants = tuple([call if constant == "the stand-in" else constant for constant in code.co_consts])
    return code.replace(co_consts=constants, co_name=own.co_name)


@cache
def _template(cells: tuple[str, ...]) -> types.CodeType:
    """The code of a call. A function's code must have as many free variables as it has cells, though this one uses none."""
    lines = ["def outer():", *[f"    {name} = None" for name in cells], "    def template(*args, **kwargs):"]
    lines += ["        stand_in = 'the stand-in'", "        return stand_in(*args, **kwargs)"]
    lines += [f"        {name}" for name in cells] + ["    return template"]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), CALL, "exec"), scope)
    code: types.CodeType = scope["outer"]().__code__
    return code


# Methods, operators and properties of a subclass --------------------------------------------------------

# PyTorch calls the operators by the names of their methods.
_OPERATORS = {
    "add": "add", "radd": "add", "iadd": "add_", "sub": "sub", "isub": "sub_", "mul": "mul", "rmul": "mul", "imul": "mul_",
    "truediv": "div", "itruediv": "div_", "mod": "remainder", "imod": "remainder_", "matmul": "matmul", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge", "ne": "ne", "neg": "neg", "abs": "abs", "pow": "pow", "ipow": "pow_", "rtruediv": "__rdiv__",
}  # fmt: skip
_SWAPPED = {"rsub": "sub", "rmatmul": "matmul", "rpow": "pow", "rtruediv": "div"}  # of another tensor: other - self


def adopt(cls: Any) -> None:
    """A subclass of Tensor was defined: let its functions, methods and properties look at their arguments first."""
    if cls.__torch_function__ is disabled:
        return
    install()
    _give(cls, lambda name: _owner(cls, name) in (Tensor, Description))


def _owner(cls: Any, name: str) -> Any:
    return next((each for each in cls.__mro__ if name in vars(each)), None)


def plain_members() -> dict[str, Any]:
    """Tensor's members as they are while no mode is entered."""
    own = {**vars(Tensor), **_lent}
    return {**vars(Description), **{name: member for name, member in own.items() if member is not None}}


def _give(cls: Any, wanted: Callable[[str], bool]) -> dict[str, Any]:
    """Put the looking forms of Tensor's members on a class; what was given."""
    given = {}
    for name, member in plain_members().items():
        if name in UNSEEN or name in MODES_ONLY or not wanted(name) or (name[0] == "_" and name[:2] != "__"):
            continue
        if isinstance(member, property):
            given[name] = _property(member)
        elif (
            isinstance(member, types.FunctionType)
            and name not in _NOT_CALLED
            and (member not in _below or name[0] == "_")
        ):
            given[name] = _method(name)
    for name, member in given.items():
        setattr(cls, name, member)
    return given


_NOT_CALLED = frozenset(["__new__", "__init__", "__init_subclass__", "__torch_function__", "__class_getitem__"])


def _method(name: str) -> Any:
    bare = name.strip("_")
    operator = name.startswith("__") and name.endswith("__")
    plain = plain_members()[name]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = takers((self, *args, *kwargs.values())) if state.enabled else []
        if not found and not state.modes:
            return plain(self, *args, **kwargs)
        if operator and bare in _SWAPPED and args and isinstance(args[0], Tensor):
            return dispatch(getattr(Tensor, _SWAPPED[bare]), found, (args[0], self), kwargs, True)
        seen = getattr(Tensor, _OPERATORS.get(bare, name) if operator else name)
        return dispatch(seen, found, (self, *args), kwargs, operator and bool(args))

    method.__name__ = name
    method.__doc__ = plain.__doc__
    return method


def _property(plain: property) -> property:
    def read(self: Any) -> Any:
        found = takers((self,)) if state.enabled else []
        return dispatch(plain.__get__, found, (self,), {}) if found or state.modes else plain.__get__(self)

    def write(self: Any, value: Any) -> None:
        found = takers((self, value)) if state.enabled else []
        if found or state.modes:
            dispatch(plain.__set__, found, (self, value), {})
        else:
            plain.__set__(self, value)

    return property(read, write if plain.fset is not None else None, plain.fdel, plain.__doc__)


# Modes ------------------------------------------------------------------------------------------------

_entered = 0
_lent: dict[str, Any] = {}  # Tensor's own members, while they look at their arguments first


class Looking:
    """While it is entered, methods and operators of plain tensors look at their arguments, too."""

    def __enter__(self) -> None:
        global _entered
        install()
        if not _entered:
            _lent.update({name: vars(Tensor).get(name) for name in (*vars(Description), *vars(Tensor))})
            for name in _lent.keys() - _give(Tensor, lambda name: True).keys():
                del _lent[name]
        _entered += 1

    def __exit__(self, *_: object) -> None:
        global _entered
        _entered -= 1
        if not _entered:
            for name, member in _lent.items():
                if member is None:
                    delattr(Tensor, name)
                else:
                    setattr(Tensor, name, member)
            _lent.clear()


_looking = Looking()


def enter(mode: Any) -> None:
    """From now on `mode` sees every call of this thread."""
    _looking.__enter__()
    state.modes = (*state.modes, mode)


def leave() -> None:
    """The innermost mode sees no more calls."""
    state.modes = state.modes[:-1]
    _looking.__exit__()
