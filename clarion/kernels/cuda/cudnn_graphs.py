"""Convolutions by cuDNN's graph interface: the kernel is chosen once, and what a call hands over is where the arrays lie.

The older interface (convolutions.py) looks for its kernel at every call, which takes the host 40 to 170 µs; this one a tenth of it.
It is used for half precision; what it has no kernel for goes the older way.
"""

from __future__ import annotations

from ctypes import addressof, byref, c_bool, c_float, c_int, c_int64, c_void_p
from typing import Any

import cupy

from .libraries import LibraryError, check

# cudnnBackendDescriptorType_t
_CONVOLUTION, _CONFIG, _HEURISTIC, _PLAN, _GRAPH, _PACK, _TENSOR = 1, 3, 4, 5, 15, 16, 17
# cudnnBackendAttributeType_t
_HANDLE_T, _DATA_T, _BOOL_T, _INT_T, _FLOAT_T, _POINTER_T, _MODE_T, _HEURISTIC_T, _DESCRIPTOR_T = (
    0,
    1,
    2,
    3,
    4,
    6,
    7,
    8,
    15,
)
# cudnnBackendAttributeName_t: of each kind of convolution the descriptor's type, then alpha, beta, convolution, and x, weight, y
_KINDS = {
    "Forward": (10, 700, 701, 702, 704, 703, 705),
    "BackwardData": (12, 706, 707, 708, 710, 709, 711),
    "BackwardFilter": (11, 712, 713, 714, 716, 715, 717),
}
_INSTANTLY, _BY_MODEL, _FALLBACK = 0, 3, 2  # cudnnBackendHeurMode_t
_MOST = 1 << 30  # bytes of scratch memory that a kernel may ask for
_PACKS = 64  # calls with the same places that are kept prepared


def _array(kind: Any, values: Any) -> Any:
    values = list(values)
    return (kind * len(values))(*values)


class _Made:
    """Descriptors, which live as long as this."""

    def __init__(self, dnn: Any) -> None:
        self.dnn = dnn
        self.kept: list[Any] = []

    def new(self, kind: int) -> c_void_p:
        made = c_void_p()
        check("cudnnBackendCreateDescriptor", self.dnn.cudnnBackendCreateDescriptor(kind, byref(made)))
        self.kept.append(made)
        return made

    def set(self, made: c_void_p, attribute: int, kind: int, values: Any) -> None:
        status = self.dnn.cudnnBackendSetAttribute(
            made, attribute, kind, c_int64(len(values)), c_void_p(addressof(values))
        )
        check(f"cudnnBackendSetAttribute {attribute}", status)

    def finalize(self, made: c_void_p) -> int:
        return int(self.dnn.cudnnBackendFinalize(made))

    def finished(self, kind: int, *attributes: tuple[int, int, Any]) -> c_void_p:
        """A descriptor with its attributes: (name, type, values)."""
        made = self.new(kind)
        for attribute, of, values in attributes:
            self.set(made, attribute, of, values)
        check(f"cudnnBackendFinalize of {kind}", self.finalize(made))
        return made


class GraphPlan:
    """One of the three convolutions, for arrays of known shapes, strides and type."""

    def __init__(
        self, dnn: Any, handle: c_void_p, which: str, kind: int, places: Any, geometry: tuple[Any, Any, Any]
    ) -> None:
        """`places`: shape and strides of the images, the weight and the results, in four dimensions or more."""
        self.dnn, self.handle, self.made = dnn, handle, _Made(dnn)
        stride, padding, dilation = geometry
        made = self.made
        tensors = [
            made.finished(
                _TENSOR,
                (901, _DATA_T, _array(c_int, [kind])),
                (902, _INT_T, _array(c_int64, shape)),
                (903, _INT_T, _array(c_int64, strides)),
                (906, _INT_T, _array(c_int64, [i + 1])),
                (900, _INT_T, _array(c_int64, [16])),
                (907, _BOOL_T, _array(c_bool, [False])),
            )
            for i, (shape, strides) in enumerate(places)
        ]
        convolution = made.finished(
            _CONVOLUTION,
            (100, _DATA_T, _array(c_int, [0])),  # sums in float32
            (101, _MODE_T, _array(c_int, [1])),  # cross correlation
            (102, _INT_T, _array(c_int64, dilation)),
            (103, _INT_T, _array(c_int64, stride)),
            (104, _INT_T, _array(c_int64, padding)),
            (105, _INT_T, _array(c_int64, padding)),
            (106, _INT_T, _array(c_int64, [len(stride)])),
        )
        described, alpha, beta, of, x, w, y = _KINDS[which]
        operation = made.finished(
            described,
            (of, _DESCRIPTOR_T, _array(c_void_p, [convolution.value])),
            *[(name, _DESCRIPTOR_T, _array(c_void_p, [t.value])) for name, t in zip((x, w, y), tensors, strict=True)],
            (alpha, _FLOAT_T, _array(c_float, [1.0])),
            (beta, _FLOAT_T, _array(c_float, [0.0])),
        )
        graph = made.finished(
            _GRAPH,
            (800, _HANDLE_T, _array(c_void_p, [handle.value])),
            (801, _DESCRIPTOR_T, _array(c_void_p, [operation.value])),
        )
        self.plan, self.workspace = self._chosen(graph)
        self.packs: dict[Any, c_void_p] = {}

    def _chosen(self, graph: c_void_p) -> tuple[c_void_p, int]:
        """The first kernel, as the library's heuristics order them, that can be had."""
        made = self.made
        for mode in (_BY_MODEL, _INSTANTLY, _FALLBACK):
            asked = made.new(_HEURISTIC)
            made.set(asked, 201, _DESCRIPTOR_T, _array(c_void_p, [graph.value]))
            made.set(asked, 200, _HEURISTIC_T, _array(c_int, [mode]))
            if made.finalize(asked):
                continue
            configs = _array(c_void_p, [made.new(_CONFIG).value for _ in range(8)])
            count = c_int64()
            status = self.dnn.cudnnBackendGetAttribute(
                asked, 202, _DESCRIPTOR_T, c_int64(8), byref(count), c_void_p(addressof(configs))
            )
            for i in range(0 if status else min(count.value, 8)):
                found = self._planned(configs[i])
                if found is not None:
                    return found
        raise LibraryError("cuDNN has no kernel for this convolution")

    def _planned(self, config: int) -> tuple[c_void_p, int] | None:
        made = self.made
        plan = made.new(_PLAN)
        made.set(plan, 400, _HANDLE_T, _array(c_void_p, [self.handle.value]))
        made.set(plan, 401, _DESCRIPTOR_T, _array(c_void_p, [config]))
        if made.finalize(plan):
            return None
        size, count = c_int64(), c_int64()
        status = self.dnn.cudnnBackendGetAttribute(plan, 402, _INT_T, c_int64(1), byref(count), byref(size))
        return None if status or size.value > _MOST else (plan, size.value)

    def run(self, x: Any, w: Any, y: Any) -> None:
        """Run on the stream of the handle."""
        room = cupy.cuda.alloc(self.workspace) if self.workspace else None
        places = x.data.ptr, w.data.ptr, y.data.ptr, 0 if room is None else room.ptr
        pack = self.packs.get(places)
        if pack is None:
            pack = self._packed(places)
        status = self.dnn.cudnnBackendExecute(self.handle, self.plan, pack)
        if status:
            check("cudnnBackendExecute", status)

    def _packed(self, places: tuple[int, int, int, int]) -> c_void_p:
        if len(self.packs) >= _PACKS:
            for old in self.packs.values():
                self.dnn.cudnnBackendDestroyDescriptor(old)
            self.packs.clear()
        pack = self.packs[places] = _Made(self.dnn).finished(
            _PACK,
            (1000, _INT_T, _array(c_int64, [1, 2, 3])),
            (1001, _POINTER_T, _array(c_void_p, places[:3])),
            (1003, _POINTER_T, _array(c_void_p, [places[3]])),
        )
        return pack
