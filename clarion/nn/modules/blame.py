"""The layer's name in an error: `In encoder.2: Linear(in_features=6, out_features=2, bias=True)`.

A module does not know its own name, but every module that an error passes on its way up knows those of its children.
The innermost module notes itself, and each one above it puts its child's name in front.
"""

from __future__ import annotations

from typing import Any

from ...errors import Explained


def name_layer(error: Explained, module: Any) -> None:
    """Put the layer at fault into the text of an error that leaves `module`'s forward."""
    known = error.__dict__.get("_layer")
    if known is None:
        text = str(error.args[0]) if error.args else ""
        innermost, path = module, ""
    else:
        text, innermost, child, path = known
        name = next((name for name, each in module._modules.items() if each is child), None)
        if name is None:  # called from elsewhere than its owner: the name found so far is the best there is
            return
        path = f"{name}.{path}" if path else name
    error.__dict__["_layer"] = (text, innermost, module, path)
    shown = repr(innermost)
    layer = shown if "\n" not in shown else f"{type(innermost).__name__}(...)"
    error.args = (f"{text}\nIn {path}: {layer}" if path else f"{text}\nIn {layer}", *error.args[1:])
