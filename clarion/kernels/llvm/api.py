"""What builtin functions know of Python's and NumPy's objects: where things stand in them, and whom to call."""

from __future__ import annotations

from .text import Function, Variable

# Addresses that compiled code calls and compares with: Python tells them (cards.py), in this order.
NAMES = (
    "array_type", "float_type", "new_array", "vectorcall", "save_thread", "restore_thread", "new_tuple", "set_item",
    "incref", "decref", "out", "tuple_type", "from_int64", "float_errors", "none", "allocate", "holder", "other_holder", "prototype",
    "holder_words", "holder_array", "holder_plain", "holder_plain_too", "float32", "float64", "int_type", "list_type", "as_int64", "true", "false",
    "from_double", "as_int64_or", "set_base", "item_size", "new_list", "next", "frame_code", "frame_place", "clear_error",
    "slice_type", "ellipsis", "unpack_slice", "limit_slice",
)  # fmt: skip
GLOBALS = f"\n@api = internal global [{len(NAMES)} x i64] zeroinitializer\n"

TYPE, DATA, NDIM, DIMS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64  # of NumPy's arrays, in bytes
ITEM, SIZE = 24, 16  # of Python's tuples; the value of its floats stands at SIZE, too
ADJACENT, ALIGNED, WRITEABLE = 0x101, 0x100, 0x400  # flags of arrays: C-contiguous and aligned
DECLINED = "inttoptr (i64 1 to ptr)"  # neither a result nor an exception


def api(f: Function, name: str, type_: str = "ptr") -> str:
    """An address that Python has told."""
    return f.load(type_, f.element("@api", str(NAMES.index(name)), "i64"))


def of(f: Function, what: str, where: int, type_: str = "ptr") -> str:
    """What stands in an object."""
    return f.load(type_, f.offset(what, str(where)))


def same(f: Function, a: str, b: str, type_: str = "ptr") -> str:
    """Are two values equal?"""
    return f.op("icmp eq", type_, a, b)


def every(f: Function, *conditions: str) -> str:
    """Do all conditions hold?"""
    result = conditions[0]
    for condition in conditions[1:]:
        result = f.op("and", "i1", result, condition)
    return result


def when_not(f: Function, condition: str, answer: str) -> None:
    """Return `answer` where the condition does not hold."""
    with f.when(f.op("xor", "i1", condition, "true")):
        f.line(f"ret {answer}")
        f.begin(*f.labels("unreachable"))


def answer(f: Function, card: str, result: Variable) -> Function:
    """End what CPython calls for a builtin: what was declined is handed to the function that stands first on every card."""
    with f.when(same(f, result.get(), DECLINED)):
        otherwise = f.load("ptr", f.element(card, "0", "i64"))
        result.set(f.let(f"call ptr {api(f, 'vectorcall')}(ptr {otherwise}, ptr %args, i64 %count, ptr %names)"))
    f.end(f"ptr {result.get()}")
    return f


def entry(name: str, function: str) -> Function:
    """What CPython calls for a builtin that takes positional arguments only."""
    f = Function(name, "ptr", "ptr self", "ptr args", "i64 count", "ptr names")
    card, result = of(f, "%self", DATA), f.variable("ptr", DECLINED)
    with f.when(same(f, "%names", "null")):
        result.set(f.let(f"call ptr @{function}(ptr {card}, ptr %args, i64 %count)"))
    return answer(f, card, result)


def adjacent(f: Function, array: str, also: int = 0) -> str:
    """Do the elements of an array stand side by side?"""
    flags, wanted = of(f, array, FLAGS, "i32"), str(ADJACENT | also)
    return same(f, f.op("and", "i32", flags, wanted), wanted, "i32")


def set_api() -> Function:
    """Note an address."""
    f = Function("set_api", "void", "i64 number", "i64 address")
    f.store("i64", "%address", f.element("@api", "%number", "i64"))
    f.end()
    return f


def new_array(f: Function, descr: str, ndim: str, dims: str) -> str:
    """A new array; returns where there is none."""
    f.line(f"call void {api(f, 'incref')}(ptr {descr})")
    given = f"ptr {api(f, 'array_type')}, ptr {descr}, i32 {f.cast('trunc', 'i64', ndim, 'i32')}, ptr {dims}"
    made = f.let(f"call ptr {api(f, 'new_array')}({given}, ptr null, ptr null, i32 0, ptr null)")
    when_not(f, f.op("icmp ne", "ptr", made, "null"), "ptr null")
    return made
