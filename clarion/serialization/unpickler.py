"""The unpickler of `weights_only=True`: a small machine that builds data and calls nothing that is not on its list.

It knows the instructions that data is made of. Whatever a file names is looked up in a table, never imported; what it
calls goes through the functions of `allowed.py`, which check their arguments; lengths are compared with what is left
of the file before anything is allocated.
"""

from __future__ import annotations

import pickle
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..errors import Explained
from ..nn.parameter import Parameter
from .allowed import BLOCKED, CALLS, VALUES, by_user, check_key
from .failures import FileDamagedError, RefusedError, TruncatedError

_NAMES = {
    getattr(pickle, name)[0]: name for name in pickle.__all__ if name.isupper() and type(getattr(pickle, name)) is bytes
}
_HANDLERS: dict[int, Callable[[Unpickler], None]] = {}


def _on(*codes: bytes) -> Callable[[Any], Any]:
    def register(handler: Any) -> Any:
        for code in codes:
            _HANDLERS[code[0]] = handler
        return handler

    return register


class Unpickler:
    """Reads one pickle from `data`, starting at `at`; afterwards `at` is behind it."""

    def __init__(self, data: Any, persistent_load: Callable[[Any], Any], encoding: str = "utf-8", at: int = 0) -> None:
        self.data = memoryview(data)
        self.at, self.end = at, len(self.data)
        self.persistent_load = persistent_load
        self.encoding = encoding
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.user = by_user()

    def load(self) -> Any:
        """The object the pickle stands for."""
        data, end, stop = self.data, self.end, pickle.STOP[0]
        try:
            while self.at < end:
                code = data[self.at]
                self.at += 1
                if code == stop:
                    return self.stack.pop()
                handler = _HANDLERS.get(code)
                if handler is None:
                    raise RefusedError(f"Unsupported operand {code} ({_NAMES.get(code, 'no instruction of pickle')})")
                handler(self)
        except Explained:
            raise
        except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error) as error:
            raise RefusedError(
                f"the pickle is damaged near byte {self.at}: {type(error).__name__}: {str(error)[:200]}"
            ) from error
        raise TruncatedError("Ran out of input: the pickle is truncated")

    # Reading -------------------------------------------------------------------------------------

    def take(self, count: int) -> Any:
        """The next bytes."""
        begin = self.at
        if count > self.end - begin:
            raise TruncatedError(f"the pickle is truncated: {count} bytes are announced, {self.end - begin} are left")
        self.at = begin + count
        return self.data[begin : self.at]

    def number(self, form: str) -> Any:
        """The next number, in a form of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        """The next line, which must be short: only names are given in lines."""
        begin, window = self.at, bytes(self.data[self.at : self.at + 4096])
        length = window.find(b"\n")
        if length < 0:
            raise TruncatedError("a name in the pickle does not end")
        self.at = begin + length + 1
        return window[:length].decode()

    def pop_mark(self) -> list[Any]:
        """What was put on the stack since the last mark."""
        items = self.stack
        self.stack = self.marks.pop()
        return items

    # Names and calls: the only places where a file could reach code ----------------------------

    def find(self, module: str, name: str) -> Any:
        """What a name stands for: looked up, never imported."""
        if (module, name) in NAME_MAPPING:
            module, name = NAME_MAPPING[module, name]
        elif module in IMPORT_MAPPING:
            module = IMPORT_MAPPING[module]
        full = f"{module}.{name}"
        if module.partition(".")[0] in BLOCKED:
            raise RefusedError(
                f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked. GLOBAL {full} was not an "
                "allowed global by default, and cannot be allowed."
            )
        if full in VALUES:
            return VALUES[full]
        if full in self.user:
            return self.user[full]
        full = full.removeprefix("builtins.")
        raise RefusedError(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the `torch.serialization.safe_globals([{full}])` context "
            "manager to allowlist this global if you trust this class/function."
        )

    def is_users(self, value: Any) -> bool:
        """Did the user allow this very object?"""
        return any(value is each for each in self.user.values())

    def call(self, function: Any, args: Any) -> Any:
        """Call what may be called."""
        if type(args) is not tuple:
            raise RefusedError("the arguments of a call are not a tuple")
        allowed = CALLS.get(function) if _hashable(function) else None
        if allowed is VALUES["torch._tensor._rebuild_from_type_v2"]:
            self.check_rebuild(args)
        if allowed is None:
            if not self.is_users(function):
                raise RefusedError(f"Trying to call reduce for unrecognized function {_name(function)}")
            return function(*args)
        return allowed(*args)

    def check_rebuild(self, args: Any) -> None:
        """A rebuild of a tensor names another function and a class: both must be allowed themselves."""
        if len(args) != 4 or type(args[2]) is not tuple:
            raise FileDamagedError("a tensor of the file is rebuilt from the wrong number of values")
        function, kind = args[:2]
        known = any(function is each for each in _TENSOR_FUNCTIONS) and any(kind is each for each in _TENSOR_CLASSES)
        allowed = any(function is each for each in (*_TENSOR_FUNCTIONS, *self.user.values())) and self.is_users(kind)
        if not known and not allowed:
            raise RefusedError(f"Trying to call reduce for unrecognized function {_name(function)} of {_name(kind)}")

    def build(self, value: Any, state: Any) -> None:
        """Give an object its state."""
        kind = type(value)
        if kind is OrderedDict:
            if type(state) is not dict or any(type(key) is not str for key in state):
                raise RefusedError("the attributes of an OrderedDict are not stored by name")
            value.__dict__.update(state)
            return
        if not self.is_users(kind):
            raise RefusedError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{kind}"
            )
        if hasattr(value, "__setstate__"):
            value.__setstate__(state)
            return
        own, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        if own:
            value.__dict__.update(own)
        for name, item in (slots or {}).items():
            setattr(value, name, item)


_TENSOR_CLASSES = (Tensor, Parameter)
_TENSOR_FUNCTIONS = tuple(
    VALUES[f"torch._utils.{name}"]
    for name in (
        "_rebuild_tensor",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v3",
        "_rebuild_parameter",
        "_rebuild_wrapper_subclass",
        "_rebuild_meta_tensor_no_storage",
    )
)


def _hashable(value: Any) -> bool:
    """May a value be looked up in a table of functions? Data of the file may not: hashing it could take forever."""
    return isinstance(value, type) or callable(value)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"[:200]


# Instructions --------------------------------------------------------------------------------------


@_on(pickle.GLOBAL)
def _global(u: Unpickler) -> None:
    module = u.line()
    u.stack.append(u.find(module, u.line()))


@_on(pickle.STACK_GLOBAL)
def _stack_global(u: Unpickler) -> None:
    name, module = u.stack.pop(), u.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise RefusedError("STACK_GLOBAL without the names of a module and of something in it")
    u.stack.append(u.find(module, name))


@_on(pickle.INST)
def _inst(u: Unpickler) -> None:
    module = u.line()
    u.find(module, u.line())  # refuses by name what is not allowed
    raise RefusedError("Unsupported operand 105 (INST): it makes objects of old-style classes")


@_on(pickle.REDUCE)
def _reduce(u: Unpickler) -> None:
    args = u.stack.pop()
    u.stack[-1] = u.call(u.stack[-1], args)


@_on(pickle.NEWOBJ)
def _newobj(u: Unpickler) -> None:
    args, kind = u.stack.pop(), u.stack.pop()
    if isinstance(kind, type) and kind in CALLS:
        u.stack.append(u.call(kind, args))
    elif isinstance(kind, type) and u.is_users(kind):
        u.stack.append(kind.__new__(kind, *args))
    else:
        raise RefusedError(
            f"Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got {_name(kind)}"
        )


@_on(pickle.BUILD)
def _build(u: Unpickler) -> None:
    state = u.stack.pop()
    u.build(u.stack[-1], state)


@_on(pickle.BINPERSID)
def _binpersid(u: Unpickler) -> None:
    key = u.stack.pop()
    if type(key) is not tuple or not key or type(key[0]) not in (str, bytes) or key[0] not in ("storage", b"storage"):
        raise RefusedError(f"Only persistent_load of storage is allowed, but got {type(key).__name__}")
    u.stack.append(u.persistent_load(key))


@_on(pickle.APPEND)
def _append(u: Unpickler) -> None:
    item = u.stack.pop()
    _target(u, "append to", list).append(item)


@_on(pickle.APPENDS)
def _appends(u: Unpickler) -> None:
    items = u.pop_mark()
    _target(u, "extend", list).extend(items)


@_on(pickle.ADDITEMS)
def _additems(u: Unpickler) -> None:
    items = u.pop_mark()
    _target(u, "add to", set).update([check_key(item) for item in items])


def _target(u: Unpickler, verb: str, *kinds: type) -> Any:
    value = u.stack[-1]
    if type(value) not in kinds:
        raise RefusedError(f"Can only {verb} {' or '.join(k.__name__ for k in kinds)}s, but got {type(value)}")
    return value


@_on(pickle.SETITEM)
def _setitem(u: Unpickler) -> None:
    value, key = u.stack.pop(), u.stack.pop()
    _target(u, "SETITEM for", dict, OrderedDict, Counter)[check_key(key)] = value


@_on(pickle.SETITEMS)
def _setitems(u: Unpickler) -> None:
    items = u.pop_mark()
    target = _target(u, "SETITEMS for", dict, OrderedDict, Counter)
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[check_key(key)] = value


@_on(pickle.MARK)
def _mark(u: Unpickler) -> None:
    u.marks.append(u.stack)
    u.stack = []


@_on(pickle.TUPLE)
def _tuple(u: Unpickler) -> None:
    items = u.pop_mark()
    u.stack.append(tuple(items))


@_on(pickle.FROZENSET)
def _frozenset(u: Unpickler) -> None:
    items = u.pop_mark()
    u.stack.append(frozenset([check_key(item) for item in items]))


def _last(count: int) -> Callable[[Unpickler], None]:
    def handler(u: Unpickler) -> None:
        if len(u.stack) < count:
            raise IndexError("nothing on the stack")
        u.stack[-count:] = [tuple(u.stack[-count:])]

    return handler


for _count, _code in enumerate((pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3), 1):
    _on(_code)(_last(_count))


def _push(make: Callable[[Unpickler], Any]) -> Callable[[Unpickler], None]:
    def handler(u: Unpickler) -> None:
        u.stack.append(make(u))

    return handler


def _text(u: Unpickler, form: str) -> str:
    return str(u.take(u.number(form)), "utf-8", "surrogatepass")


def _old_string(u: Unpickler, form: str) -> Any:
    data = bytes(u.take(u.number(form)))
    return data if u.encoding == "bytes" else data.decode(u.encoding)


for _code, _make in (
    (pickle.NONE, lambda u: None),
    (pickle.NEWTRUE, lambda u: True),
    (pickle.NEWFALSE, lambda u: False),
    (pickle.EMPTY_TUPLE, lambda u: ()),
    (pickle.EMPTY_LIST, lambda u: []),
    (pickle.EMPTY_DICT, lambda u: {}),
    (pickle.EMPTY_SET, lambda u: set()),
    (pickle.BININT, lambda u: u.number("<i")),
    (pickle.BININT1, lambda u: u.number("<B")),
    (pickle.BININT2, lambda u: u.number("<H")),
    (pickle.BINFLOAT, lambda u: u.number(">d")),
    (pickle.LONG1, lambda u: int.from_bytes(u.take(u.number("<B")), "little", signed=True)),
    (pickle.LONG4, lambda u: int.from_bytes(u.take(u.number("<I")), "little", signed=True)),
    (pickle.SHORT_BINUNICODE, lambda u: _text(u, "<B")),
    (pickle.BINUNICODE, lambda u: _text(u, "<I")),
    (pickle.BINUNICODE8, lambda u: _text(u, "<Q")),
    (pickle.SHORT_BINSTRING, lambda u: _old_string(u, "<B")),
    (pickle.BINSTRING, lambda u: _old_string(u, "<I")),
    (pickle.SHORT_BINBYTES, lambda u: bytes(u.take(u.number("<B")))),
    (pickle.BINBYTES, lambda u: bytes(u.take(u.number("<I")))),
    (pickle.BINBYTES8, lambda u: bytes(u.take(u.number("<Q")))),
    (pickle.BYTEARRAY8, lambda u: bytearray(u.take(u.number("<Q")))),
    (pickle.BINGET, lambda u: u.memo[u.number("<B")]),
    (pickle.LONG_BINGET, lambda u: u.memo[u.number("<I")]),
):
    _on(_code)(_push(_make))


@_on(pickle.BINPUT)
def _binput(u: Unpickler) -> None:
    u.memo[u.number("<B")] = u.stack[-1]


@_on(pickle.LONG_BINPUT)
def _long_binput(u: Unpickler) -> None:
    u.memo[u.number("<I")] = u.stack[-1]


@_on(pickle.MEMOIZE)
def _memoize(u: Unpickler) -> None:
    u.memo[len(u.memo)] = u.stack[-1]


@_on(pickle.PROTO)
def _proto(u: Unpickler) -> None:
    if u.number("<B") > pickle.HIGHEST_PROTOCOL:
        raise RefusedError("the pickle is of a newer protocol than this Python knows")


@_on(pickle.FRAME)
def _frame(u: Unpickler) -> None:
    u.number("<Q")  # frames are a hint for reading
