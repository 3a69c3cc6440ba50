"""`torch.serialization`: checkpoints on disk, in PyTorch's own format and as safetensors."""

from typing import Any

from .allowed import add_safe_globals as add_safe_globals
from .allowed import clear_safe_globals as clear_safe_globals
from .allowed import get_safe_globals as get_safe_globals
from .allowed import safe_globals as safe_globals
from .api import DEFAULT_PROTOCOL as DEFAULT_PROTOCOL
from .api import load as load
from .api import save as save
from .archives import open_file_like as _open_file_like  # noqa: F401
from .archives import open_zipfile_reader as _open_zipfile_reader  # noqa: F401
from .archives import open_zipfile_writer as _open_zipfile_writer  # noqa: F401
from .locations import MAP_LOCATION as MAP_LOCATION
from .locations import default_restore_location as default_restore_location
from .locations import location_tag as location_tag
from .locations import register_package as register_package
from .options import LoadEndianness as LoadEndianness
from .options import get_crc32_options as get_crc32_options
from .options import get_default_load_endianness as get_default_load_endianness
from .options import get_default_mmap_options as get_default_mmap_options
from .options import set_crc32_options as set_crc32_options
from .options import set_default_load_endianness as set_default_load_endianness
from .options import set_default_mmap_options as set_default_mmap_options
from .options import skip_data as skip_data
from .rebuild import get_layout as _get_layout  # noqa: F401
from .safetensors import load_safetensors as load_safetensors
from .safetensors import save_safetensors as save_safetensors
from .survey import get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint
from .zipreader import is_zip as _is_zipfile  # noqa: F401


def normalize_storage_type(storage_type: type) -> Any:
    """The class of storages that files name for one of another device."""
    from ..ops.creation.typed_storage import LEGACY

    return LEGACY[storage_type.__name__]


class SourceChangeWarning(Warning):
    """What PyTorch says of a module whose source has changed since it was saved; here nothing compares sources."""
