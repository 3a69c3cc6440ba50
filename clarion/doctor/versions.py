"""Which PyTorch is there, and does it have what we need? Private names differ between versions."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import torch

OLDEST = (2, 4)

# Private names that are used: what each is for. Without one of them there is nothing to watch with.
NEEDED = {
    "autograd._engine_run_backward": "backward passes",
    "autograd._make_grads": "backward passes",
    "autograd._get_sequence_nr": "the age of nodes",
    "overrides._push_mode": "listening",
    "overrides._pop_mode": "listening",
    "_C._len_torch_function_stack": "listening",
    "_C._len_torch_dispatch_stack": "listening",
    "_C.TensorBase.grad": "gradients",
    "optim.optimizer:register_optimizer_step_pre_hook": "steps",
    "optim.optimizer:register_optimizer_step_post_hook": "steps",
}


class UnsupportedPyTorch(ImportError):
    """This PyTorch is too old, or too different."""


def version() -> tuple[int, int]:
    """`(2, 13)`"""
    numbers = torch.__version__.split("+")[0].split(".")
    return int(numbers[0]), int("".join(c for c in numbers[1] if c.isdigit()))


def missing(names: Any = NEEDED) -> list[str]:
    """The names that this PyTorch does not have."""
    found = []
    for name in names:
        try:
            resolve_name(f"torch.{name}" if ":" in name else f"torch:{name}")
        except (ImportError, AttributeError):
            found.append(name)
    return found


def check() -> None:
    """Refuse what cannot be watched, in words."""
    if version() < OLDEST:
        raise UnsupportedPyTorch(
            f"PyTorch {torch.__version__} is too old to be diagnosed: {OLDEST[0]}.{OLDEST[1]} or newer is needed "
            "(pip install --upgrade torch), or `clarion run --engine clarion`."
        )
    lacking = missing()
    if lacking:
        raise UnsupportedPyTorch(
            f"PyTorch {torch.__version__} lacks {', '.join(f'torch.{name} ({NEEDED[name]})' for name in lacking)}; "
            "a newer clarion may know how to do without."
        )
