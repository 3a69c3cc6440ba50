"""`_saved_*` attributes of nodes by PyTorch's names, where an operation calls its values otherwise.

`ALIASES`: PyTorch's name -> the name in the operation's layout. `CONSTANTS`: what PyTorch saves and an
operation here implies.
"""

from __future__ import annotations

from typing import Any

from ..core import saved
from ..core.namespace import OPS

ALIASES: dict[str, dict[str, str]] = {
    "addcdiv": {"tensor1": "y", "tensor2": "z"},
    "addcmul": {"tensor1": "y", "tensor2": "z"},
    "as_strided": {"storage_offset": "offset"},
    "bmm": {"mat2": "y"},
    "clamp": {"min": "low", "max": "high"},
    "dot": {"tensor": "y"},
    "mm": {"mat2": "y"},
    "mv": {"vec": "y"},
    "pow_base": {"exponent": "y"},
    "slice": {"end": "stop"},
    "split": {"split_size": "size"},
    "split_with_sizes": {"split_sizes": "sizes"},
    "unfold": {"dimension": "dim"},
}

CONSTANTS: dict[str, dict[str, Any]] = {
    "add": {"alpha": 1},
    "embedding": {"sparse": False},
    "gather": {"sparse_grad": False},
    "rsub": {"alpha": 1},
    "square": {"exponent": 2},
    "sub": {"alpha": 1},
}

for _name, _aliases in ALIASES.items():
    OPS[_name].saved_names.update(_aliases)
saved.constants.update(CONSTANTS)
for _name in {*ALIASES, *CONSTANTS}:
    OPS[_name].offer_saved()
