"""Carries the samples of PyTorch's operator database over to another library.

The library is a parameter everywhere: it is clarion for a real comparison and
torch itself when the harness checks itself.  Both sides of a comparison are
built by the same code, so they start from equal, independent tensors.
"""

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided

# NumPy has no such types: the values travel in a wider type and are cast back.
WIDER = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


class Missing(Exception):
    """The library has no object of this name."""


def lookup(lib, path):
    """`lookup(lib, "nn.functional.relu")` is `lib.nn.functional.relu`."""
    found = lib
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Missing(f"{lib.__name__}.{path} does not exist") from None
    return found


def name_of(torch_object):
    """The bare name of a dtype, layout or memory format: torch.float32 -> float32."""
    return str(torch_object).rpartition(".")[2]


class Converter:
    """Converts one sample.  Tensors that were one object, or that shared one
    storage, still do after the conversion."""

    def __init__(self, lib, with_grad=True, exact_views=False):
        self.lib = lib
        self.with_grad = with_grad
        # as_strided looks at the storage behind a view, so for it the view has
        # to be taken by the library; elsewhere NumPy takes it, which does not
        # rely on the library being right.
        self.exact_views = exact_views
        self.leaves = []
        self._tensors = {}
        self._storages = {}

    def __call__(self, value):
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.Size):
            return lookup(self.lib, "Size")(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self(item) for item in value)
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return lookup(self.lib, name_of(value))
        if isinstance(value, torch.device):
            return lookup(self.lib, "device")(str(value))
        return value

    def _tensor(self, tensor):
        if id(tensor) not in self._tensors:
            made = self._build(tensor)
            if tensor.requires_grad and self.with_grad:
                made.requires_grad_(True)
                self.leaves.append(made)
            # The original is kept with the copy, lest its id be reused.
            self._tensors[id(tensor)] = (made, tensor)
        return self._tensors[id(tensor)][0]

    def _build(self, tensor):
        if tensor.layout == torch.sparse_csr:
            parts = map(self._build, (tensor.crow_indices(), tensor.col_indices(), tensor.values()))
            return lookup(self.lib, "sparse_csr_tensor")(*parts, tuple(tensor.shape))
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise Missing(f"{tensor.layout} tensor on {tensor.device}")
        tensor = tensor.detach().resolve_conj().resolve_neg()
        flat = self._storage(tensor)
        size, strides = tuple(tensor.shape), tuple(tensor.stride())
        if self.exact_views:
            base = self._wrap(flat, tensor.dtype)
            return base.as_strided(size, strides, tensor.storage_offset())
        bytes_apart = tuple(step * flat.itemsize for step in strides)
        start = flat[tensor.storage_offset() :]
        return self._wrap(as_strided(start, size, bytes_apart), tensor.dtype)

    def _storage(self, tensor):
        """A copy of the whole storage behind a tensor, as a flat NumPy array."""
        storage = tensor.untyped_storage()
        key = (storage.data_ptr(), tensor.dtype)
        if key not in self._storages:
            flat = torch.empty(0, dtype=tensor.dtype).set_(storage)
            flat = flat.to(WIDER.get(tensor.dtype, tensor.dtype))
            self._storages[key] = (flat.numpy().copy(), tensor)
        return self._storages[key][0]

    def _wrap(self, array, dtype):
        made = lookup(self.lib, "from_numpy")(array)
        return made.to(lookup(self.lib, name_of(dtype))) if dtype in WIDER else made


def to_numpy(lib, tensor):
    """The values of a tensor of either library."""
    tensor = tensor.detach()
    if str(tensor.layout) != "torch.strided":
        tensor = tensor.to_dense()
    name = name_of(tensor.dtype)
    if name == "bfloat16":
        tensor = tensor.to(lib.float32)
    elif name == "complex32":
        tensor = tensor.to(lib.complex64)
    if lib is torch:
        # Resolves lazy conjugation and PyTorch's internal zero tensors.
        return tensor.numpy(force=True)
    if getattr(tensor, "is_conj", None) and tensor.is_conj():
        tensor = tensor.resolve_conj()
    return np.asarray(tensor.numpy())


def from_array(lib, array, dtype_name, requires_grad=False):
    """A tensor of the library with the values of a float64 or complex128 array."""
    wider = {name_of(dtype): name_of(wide) for dtype, wide in WIDER.items()}
    array = array.astype(wider.get(dtype_name, dtype_name))
    made = lookup(lib, "from_numpy")(array)
    if dtype_name in wider:
        made = made.to(lookup(lib, dtype_name))
    return made.requires_grad_(True) if requires_grad else made


SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def describe(value):
    """A short text for a sample: f64[5,3]g is a float64 tensor that requires grad."""
    if isinstance(value, torch.Tensor):
        name = name_of(value.dtype)
        kind = name.rstrip("0123456789")
        text = SHORT.get(kind, kind) + name[len(kind) :]
        text += "[" + ",".join(map(str, value.shape)) + "]"
        if value.layout == torch.strided and not value.is_contiguous():
            text += "strides" + str(tuple(value.stride())).replace(" ", "")
        return text + ("g" if value.requires_grad else "")
    if isinstance(value, dict):
        return ", ".join(f"{key}={describe(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        inside = ", ".join(describe(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(value)


def describe_sample(sample):
    parts = [describe(sample.input), *map(describe, sample.args)]
    return ", ".join(parts + ([describe(sample.kwargs)] if sample.kwargs else []))
