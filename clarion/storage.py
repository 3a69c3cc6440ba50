"""`torch.storage`: the memory behind tensors."""

import io
from typing import Any

from .ops.creation.memory import UntypedStorage as UntypedStorage
from .ops.creation.typed_storage import LEGACY as _LEGACY
from .ops.creation.typed_storage import LegacyStorage as _LegacyStorage
from .ops.creation.typed_storage import TypedStorage as TypedStorage
from .ops.creation.typed_storage import _Warned
from .ops.creation.typed_storage import warn_of_removal as _warn_typed_storage_removal

__all__ = ["TypedStorage", "UntypedStorage", "_LegacyStorage", "_warn_typed_storage_removal"]

_storage_classes = {UntypedStorage, TypedStorage, *_LEGACY.values()}


def _dtype_to_storage_type_map() -> dict[Any, str]:
    return {each._dtype: name for name, each in _LEGACY.items()}


def _storage_type_to_dtype_map() -> dict[str, Any]:
    return {name: each._dtype for name, each in _LEGACY.items()}


def _get_always_warn_typed_storage_removal() -> bool:
    return _Warned.always


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    _Warned.always = always_warn


def _reset_warn_typed_storage_removal() -> None:
    _Warned.once = False


def _load_from_bytes(content: bytes) -> Any:
    """A storage out of a pickle that PyTorch wrote."""
    from .serialization.api import load

    return load(io.BytesIO(content), weights_only=False)
