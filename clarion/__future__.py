"""`torch.__future__`: switches for how `Module.to` treats parameters. As a rule it keeps them and changes their data."""

from __future__ import annotations


class _Conversion:
    """What was set."""

    overwrites = False
    swaps = False


conversion = _Conversion()


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Make new parameters on conversion? An optimizer that has the old ones loses them."""
    conversion.overwrites = bool(value)


def get_overwrite_module_params_on_conversion() -> bool:
    """Are new parameters made on conversion?"""
    return conversion.overwrites


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Swap the parameters with what `load_state_dict` and conversion make of them, so that they stay the same objects?"""
    conversion.swaps = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """What was set."""
    return conversion.swaps
