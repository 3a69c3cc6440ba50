"""Where Python's and NumPy's functions and types stand in memory, for builtin functions that are compiled (api.py)."""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
from typing import Any

import numpy as np

from ..quiet import tell_errors

_NEW_FROM_DESCR = 94  # PyArray_NewFromDescr in NumPy's table of C functions
_ARRAY_TYPE = 2  # PyArray_Type in the same
_SET_BASE = 282  # PyArray_SetBaseObject


def _address(name: str) -> int:
    return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


def _numpy_api() -> Any:
    from numpy._core import _multiarray_umath as umath

    table = ctypes.pythonapi.PyCapsule_GetPointer
    table.restype, table.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(table(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))  # type: ignore[attr-defined]


def _layout_is_known() -> bool:
    """Do Python's and NumPy's objects lie in memory as direct.py reads them? (They do in every usual build.)"""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or object.__basicsize__ != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros((3, 5), np.float32)[:, 1:4]
    words = ctypes.cast(id(array), ctypes.POINTER(ctypes.c_int64))
    dims, strides = (ctypes.cast(words[k], ctypes.POINTER(ctypes.c_int64)) for k in (4, 5))
    return (
        words[1] == id(np.ndarray)
        and words[2] == array.__array_interface__["data"][0]
        and words[3] & 0xFFFFFFFF == 2
        and (dims[0], dims[1], strides[0], strides[1]) == (3, 3, 20, 4)
        and words[7] == id(array.dtype)
        and words[8] & 0xFFFF == array.flags.num
    )


def _item_size() -> int:
    """Where in a type of NumPy's the bytes of an element stand."""
    sizes = {np.dtype(kind): size for kind, size in ((np.float32, 4), (np.complex128, 16), (np.int16, 2))}
    words = [ctypes.cast(id(kind), ctypes.POINTER(ctypes.c_int64)) for kind in sizes]
    return 8 * next(k for k in range(2, 12) if [each[k] for each in words] == list(sizes.values()))


@functools.cache
def addresses() -> dict[str, int]:
    """Where Python's and NumPy's functions and types stand, by their names in api.py; empty where objects lie in another way."""
    if not _layout_is_known():
        return {}
    try:
        numpy_api = _numpy_api()
    except (ImportError, AttributeError):  # another NumPy
        return {}
    if numpy_api[_ARRAY_TYPE] != id(np.ndarray):
        return {}
    return {
        "array_type": id(np.ndarray),
        "float_type": id(float),
        "new_array": numpy_api[_NEW_FROM_DESCR],
        "vectorcall": _address("PyObject_Vectorcall"),
        "save_thread": _address("PyEval_SaveThread"),
        "restore_thread": _address("PyEval_RestoreThread"),
        "new_tuple": _address("PyTuple_New"),
        "set_item": _address("PyTuple_SetItem"),
        "incref": _address("Py_IncRef"),
        "decref": _address("Py_DecRef"),
        "out": id(sys.intern("out")),
        "tuple_type": id(tuple),
        "from_int64": _address("PyLong_FromLongLong"),
        "from_double": _address("PyFloat_FromDouble"),
        "float_errors": id(tell_errors),
        "none": id(None),
        "float32": id(np.dtype(np.float32)),
        "float64": id(np.dtype(np.float64)),
        "allocate": _address("PyType_GenericAlloc"),
        "int_type": id(int),
        "list_type": id(list),
        "as_int64": _address("PyLong_AsLongLong"),
        "as_int64_or": _address("PyLong_AsLongLongAndOverflow"),
        "set_base": numpy_api[_SET_BASE],
        "item_size": _item_size(),
        "new_list": _address("PyList_New"),
        "next": _address("PyIter_Next"),
        "frame_code": _address("PyFrame_GetCode"),
        "frame_place": _address("PyFrame_GetLasti"),
        "clear_error": _address("PyErr_Clear"),
        "slice_type": id(slice),
        "ellipsis": id(...),
        "unpack_slice": _address("PySlice_Unpack"),
        "limit_slice": _address("PySlice_AdjustIndices"),
        "true": id(True),
        "false": id(False),
    }
