"""Which PyTorch is there, and does it have what we need? Private names differ between versions."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import torch

OLDEST = (2, 4)

# Private names that are used: what each is for. Without one of them there is nothing to watch with. (What is patched may be
# missing: UNHEARD.)
NEEDED = {
    "autograd._engine_run_backward": "backward passes",
    "autograd._get_sequence_nr": "the age of nodes",
    "autograd._unsafe_preserve_version_counter": "versions",
    "overrides._push_mode": "listening",
    "overrides._pop_mode": "listening",
    "_C._len_torch_function_stack": "listening",
    "_C._len_torch_dispatch_stack": "listening",
    "_C._functorch.peek_interpreter_stack": "listening",
    "_C._functorch.is_functorch_wrapped_tensor": "values",
    "_C._get_tracing_state": "listening",
    "_C._current_graph_task_id": "threads",
    "_C._set_grad_enabled": "gradient modes",
    "_C.DisableTorchFunction": "listening",
    "_C.TensorBase.grad": "gradients",
    "_foreach_norm": "norms of gradients",
    "utils._contextlib": "gradient modes",
    "utils._python_dispatch:_disable_current_modes": "listening",
    "nn.modules.batchnorm._NormBase": "layers",
    "nn.modules.dropout._DropoutNd": "layers",
    "optim.Optimizer.profile_hook_step": "steps",
    "optim.optimizer:register_optimizer_step_pre_hook": "steps",
    "optim.optimizer:register_optimizer_step_post_hook": "steps",
}

# What is not heard of where one of these is missing, and the diagnoses that would be wrong then.
UNHEARD = {
    "_make_grads": ("what backward() is given", ("loss-not-scalar",)),
    "_maybe_opt_step": (
        "steps that a GradScaler skips",
        ("gradient-discarded", "non-finite-backward", "non-finite-forward"),
    ),
    "_allowed_determinism_checks_to_fns": ("checkpointed regions", ("checkpoint-diverges",)),
    "_dynamo": ("what happens inside of what torch.compile makes", ()),
}
lacking: dict[str, tuple[str, tuple[str, ...]]] = {}  # what this PyTorch does not have, of those that are patched


def lack(name: str, reason: str = "") -> None:
    """Something is not there, or not as we know it."""
    lacking[reason or name] = UNHEARD.get(name.rpartition(".")[2], (f"what {name} would tell", ()))


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
