"""`torch.__future__`: switches for how `Module.to` treats parameters. clarion keeps the parameters and changes their data."""

from __future__ import annotations

from .errors import NotSupportedError

_SWITCHES = {"swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Make new parameters on conversion? Refused: optimizers would lose them."""
    if value:
        raise NotSupportedError("clarion keeps the parameters of a module when it is converted")


def get_overwrite_module_params_on_conversion() -> bool:
    """Are new parameters made on conversion? No."""
    return False


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Swap the parameters' contents on conversion? It makes no difference here: their data is changed in place."""
    _SWITCHES["swap"] = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """What was set."""
    return _SWITCHES["swap"]
