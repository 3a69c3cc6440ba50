"""A program for each library that is to run on clarion as it is."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent
GOLDEN = FOLDER.parent / "golden.json"

# program: the package that it uses
LIBRARIES = {
    "accelerate": "accelerate", "captum": "captum", "diffusers": "diffusers", "einops": "einops", "einx": "einx",
    "geoopt": "geoopt", "gpytorch": "gpytorch", "higher": "higher", "ignite": "pytorch-ignite", "kornia": "kornia",
    "lightning": "lightning", "nflows": "nflows", "normflows": "normflows", "peft": "peft", "pyro": "pyro-ppl",
    "skorch": "skorch", "tensordict": "tensordict", "timm": "timm", "torch_geometric": "torch_geometric",
    "torch_optimizer": "torch-optimizer", "torchdiffeq": "torchdiffeq", "torchinfo": "torchinfo",
    "torchmetrics": "torchmetrics", "torchsde": "torchsde", "torchviz": "torchviz", "transformers": "transformers",
    "transformers_trainer": "transformers", "vit_pytorch": "vit-pytorch", "x_transformers": "x-transformers",
    # a second program of the libraries that people use most
    "accelerate_more": "accelerate", "diffusers_more": "diffusers", "einops_mixer": "einops", "einx_more": "einx",
    "gpytorch_deep": "gpytorch", "gpytorch_kernels": "gpytorch", "kornia_more": "kornia",
    "lightning_more": "lightning", "peft_more": "peft", "pyro_flows": "pyro-ppl", "pyro_guides": "pyro-ppl",
    "timm_more": "timm", "torchdiffeq_more": "torchdiffeq", "torchmetrics_more": "torchmetrics",
    "torchsde_more": "torchsde", "transformers_more": "transformers", "vit_more": "vit-pytorch",
    "x_transformers_more": "x-transformers",
}  # fmt: skip


def path(name: str) -> Path:
    """The file of a program."""
    return FOLDER / f"with_{name}.py"


def golden() -> dict[str, dict[str, str]]:
    """What PyTorch printed, and with which version of the library: `{name: {"version": …, "output": …}}`."""
    found: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text())
    return found


def table() -> str:
    """The libraries as a table of Markdown."""
    lines = ["| library | program |", "|---|---|"]
    known = golden()
    for name, package in LIBRARIES.items():
        if name in known:
            lines.append(f"| {package} {known[name]['version']} | `tests/libraries/programs/with_{name}.py` |")
    return "\n".join(lines)
