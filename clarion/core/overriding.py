"""`__torch_function__`: classes that take the calls of public functions over, and modes that see all of them.

NOTE [Overriding]: nothing here runs, and no call of a plain Tensor is longer by a nanosecond, until the first class that
takes calls over is defined (a subclass of Tensor), a TorchFunctionMode is entered, `torch.overrides` is imported, or a
program's text names `__torch_function__` (a class that is no tensor tells nobody that it is there: `look_in`). Then
the public functions get other code, which looks at their arguments first (`stand_in`: the functions stay the objects they
are, so it does not matter who holds them). So do Tensor's methods, operators and properties once a subclass is defined, and
while a mode is entered.
"""

from __future__ import annotations

import importlib
import inspect
import threading
import types
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ..errors import ArgumentTypeError, EngineError, another_library
from . import messages
from .description import Description
from .tensor import Tensor


class _State(threading.local):
    enabled: bool = True  # do arguments take calls over in this thread?
    modes: tuple[Any, ...] = ()  # the modes entered in this thread, innermost last
    skip: bool = False  # does nobody take the next call over?
    running: Any = None  # what `by_default` computes


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
    theirs = any(base.__module__ == "torch._C" for base in of.__mro__)  # a tensor of PyTorch's would call us again
    if function is not None and function is not disabled and not theirs:
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
    return (bool(state.modes) or (state.enabled and bool(takers(values)))) and not _skipped()


def once_below(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what would be taken over, and let nobody take this one call over; calls inside it are."""
    state.skip = True
    try:
        return func(*args, **kwargs)
    finally:
        state.skip = False


def _skipped() -> bool:
    skip, state.skip = state.skip, False
    return skip


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
        result = messages.no_plain_method(value.__torch_function__, value, func)(func, kinds, args, kwargs)
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
    before = state.running
    if before is func:  # it asks again, as none of clarion's own functions does here
        raise another_library(func)
    with Disabled():
        try:
            state.running = func
            result = func(*args, **(kwargs or {}))
        finally:
            state.running = before
        return result if func in _unwrapped() else converted(result, cls)


def converted(result: Any, cls: Any) -> Any:
    """Tensors of a result in the class `cls`, sharing memory and history."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else own_form(vars(Tensor)["as_subclass"])(result, cls)
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
    ["__reduce_ex__", "__setstate__", "__hash__", "__array_wrap__", "__iter__", "is_storage", "typename", "manual_seed"]
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
            named = any(each.get(function.__name__) is function for each in members)
            if not named and function.__name__ not in _full(name):
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
        if not kwargs and not _entered.count and not modes_only:
            for each in args:
                if _kinds.get(type(each)) != _IGNORED:
                    break
            else:
                return _below[function](*args)
        if state.modes or (state.enabled and not modes_only):
            found = takers((*args, *kwargs.values())) if state.enabled else []
            if (found or state.modes) and not _skipped():
                return dispatch(function, found, args, kwargs)
        elif state.enabled:
            with Disabled():
                return _below[function](*args, **kwargs)
        return _below[function](*args, **kwargs)

    function.__code__ = calling(call, function.__code__)


_under: dict[Any, Any] = {}  # function -> what it runs if no argument is a tensor that wraps others: core/wrapped.py


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


# Methods, operators and properties -----------------------------------------------------------------------

# PyTorch calls the operators by the names of their methods.
_OPERATORS = {
    "add": "add", "radd": "add", "iadd": "add_", "sub": "sub", "isub": "sub_", "mul": "mul", "rmul": "mul", "imul": "mul_",
    "truediv": "div", "itruediv": "div_", "mod": "remainder", "imod": "remainder_", "matmul": "matmul", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge", "ne": "ne", "neg": "neg", "abs": "abs", "pow": "pow", "ipow": "pow_", "rtruediv": "__rdiv__",
    "ifloordiv": "floor_divide_", "rand": "bitwise_and", "ror": "bitwise_or", "rxor": "bitwise_xor",
}  # fmt: skip


def adopt(cls: Any) -> None:
    """A subclass of Tensor was defined: let functions, methods and properties look at their arguments first, for good."""
    global _lookers
    if cls.__torch_function__ is not disabled:
        install()
        _members_look()
        _lookers += 1


def plain_members() -> dict[str, Any]:
    """Tensor's members."""
    return {**vars(Description), **vars(Tensor)}


class _Entered:
    count = 0  # modes, in all threads


_entered = _Entered()
_NOT_CALLED = frozenset(["__new__", "__init__", "__init_subclass__", "__torch_function__", "__class_getitem__"])
_lookers = 0  # subclasses defined, modes entered
_looking: list[Any] = []  # the functions of Tensor's members, while they look at their arguments first


def _members_look() -> None:
    """Give Tensor's methods, and the functions of its properties, code that looks at the arguments first."""
    if _looking:
        return
    for name, member in plain_members().items():
        if name in UNSEEN or name in MODES_ONLY or name in _NOT_CALLED or (name[0] == "_" and name[:2] != "__"):
            continue
        if isinstance(member, property):
            _member_looks(member.fget, member.__get__, False)
            if member.fset is not None:
                _member_looks(member.fset, member.__set__, False)
        elif isinstance(member, types.FunctionType):
            _member_looks(member, name, name.startswith("__") and name.endswith("__"))


def _members_rest() -> None:
    """Give them their own code again."""
    for function in _looking:
        if function not in _under:
            function.__code__ = _below.pop(function).__code__
            del function.__wrapped__
    _looking.clear()


def _member_looks(function: Any, seen: Any, operator: bool) -> None:
    """`seen` is what is given to who takes the call over, or the name of the method."""
    if function in _below:
        return
    _below[function] = function.__wrapped__ = same_as(function)  # (so that its signature can be read)
    _looking.append(function)
    bare = seen.strip("_") if operator else ""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and not _entered.count:
            for each in args:
                if _kinds.get(type(each)) != _IGNORED:
                    break
            else:
                return _below[function](*args)
        found = takers((*args, *kwargs.values())) if state.enabled else []
        if (not found and not state.modes) or _skipped():
            return _below[function](*args, **kwargs)
        if bare == "eq" and found and not isinstance(found[0], Tensor):
            return dispatch(getattr(Tensor, "eq"), found, args, kwargs, True)  # noqa: B009
        asked = getattr(Tensor, _OPERATORS.get(bare, seen)) if type(seen) is str else seen
        return dispatch(asked, found, args, kwargs, operator and len(args) > 1)

    names = _parameters(function, bare)
    function.__code__ = _asking(call, function, names) if names else calling(call, function.__code__)


_TWO = frozenset(_OPERATORS) - {"neg", "abs"}  # operators of two operands


def _parameters(function: Any, bare: str) -> tuple[str, ...]:
    """The parameters of a function of one or two; none where it has others. (An operator that was not called yet takes anything.)"""
    code = function.__code__
    if bare in _TWO:
        return "self", "other"
    others = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount
    if others or code.co_argcount > 2 or function.__defaults__:
        return ()
    return code.co_varnames[: code.co_argcount]  # type: ignore[no-any-return]


def _asking(call: Callable[..., Any], function: Any, names: tuple[str, ...]) -> types.CodeType:
    """Code that looks at one or two arguments itself, and asks `call` only where one of them may take the call over."""
    own = function.__code__
    code = _asking_template(names, own.co_freevars)
    # (Methods, since code must be hashable, and so must be what stands in it.)
    known = {
        "call": call,
        "function": function,
        "form": _below.__getitem__,
        "kind": _kinds.get,
        "modes": _entered,
        "type_of": type,
    }
    constants = tuple([known.get(c[4:], c) if type(c) is str and c[:4] == "the " else c for c in code.co_consts])
    return code.replace(co_consts=constants, co_name=own.co_name)


@cache
def _asking_template(names: tuple[str, ...], cells: tuple[str, ...]) -> types.CodeType:
    given = ", ".join(names)
    lines = ["def outer():", *[f"    {name} = None" for name in cells], f"    def template({given}):"]
    for each in ("call", "function", "form", "kind", "modes", "type_of"):
        lines += [f"        the_{each} = 'the {each}'"]
    plain = " and ".join([f"the_kind(the_type_of({name})) == 0" for name in names])
    lines += [f"        if {plain} and not the_modes.count:", f"            return the_form(the_function)({given})"]
    lines += [f"        return the_call({given})", *[f"        {name}" for name in cells], "    return template"]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), CALL, "exec"), scope)
    code: types.CodeType = scope["outer"]().__code__
    return code


# Modes ------------------------------------------------------------------------------------------------


class Looking:
    """While it is entered, methods and operators of plain tensors look at their arguments, too."""

    def __enter__(self) -> None:
        global _lookers
        install()
        _members_look()
        _lookers += 1

    def __exit__(self, *_: object) -> None:
        global _lookers
        _lookers -= 1
        if not _lookers:
            _members_rest()


def enter(mode: Any) -> None:
    """From now on `mode` sees every call of this thread."""
    if isinstance(getattr(mode.__torch_function__, "__self__", None), type):
        raise EngineError(
            f"Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain method: "
            f"{type(mode).__name__}"
        )
    Looking().__enter__()
    _entered.count += 1
    state.modes = (*state.modes, mode)


def leave() -> None:
    """The innermost mode sees no more calls."""
    state.modes = state.modes[:-1]
    _entered.count -= 1
    Looking().__exit__()
