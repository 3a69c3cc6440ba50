"""A program for each library that is to run on clarion as it is."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent
GOLDEN = FOLDER.parent / "golden.json"
SUITES = FOLDER.parent / "suites.json"  # how many tests of a library pass: {package: {"version", "pytorch", "clarion"}}

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
    # and further ones, written after what was missing had been filled in
    "einops_attention": "einops", "einops_images": "einops", "einx_attention": "einx", "vit_variants":
    "vit-pytorch", "vit_pretraining": "vit-pytorch", "torchdiffeq_flows": "torchdiffeq", "torchsde_latent":
    "torchsde", "gpytorch_tasks": "gpytorch", "pyro_mixtures": "pyro-ppl", "pyro_mcmc": "pyro-ppl",
    "torchmetrics_collections": "torchmetrics", "torchmetrics_domains": "torchmetrics", "ignite_handlers":
    "pytorch-ignite", "skorch_callbacks": "skorch", "kornia_functions": "kornia", "torch_geometric_layers":
    "torch_geometric", "captum_more": "captum", "torchinfo_more": "torchinfo", "nflows_transforms": "nflows",
    "geoopt_manifolds": "geoopt", "higher_maml": "higher", "torch_optimizer_more": "torch-optimizer",
    "transformers_generation": "transformers", "transformers_tasks": "transformers", "transformers_training":
    "transformers", "transformers_decoding": "transformers", "peft_methods": "peft", "accelerate_states":
    "accelerate", "timm_families": "timm", "diffusers_samplers": "diffusers", "lightning_checkpoints": "lightning",
    "lightning_summary": "lightning", "tensordict_more": "tensordict", "einops_vision": "einops", "torchinfo_tables":
    "torchinfo", "tensordict_operations": "tensordict", "transformers_experts": "transformers",
    "torch_geometric_edges": "torch_geometric",
    "diffusers_schedulers": "diffusers",
    "gpytorch_variational": "gpytorch",
    "pyro_enumeration": "pyro-ppl",
    "pyro_modules": "pyro-ppl",
    "torchdiffeq_solvers": "torchdiffeq",
    "geoopt_optimizers": "geoopt",
    "torch_geometric_hetero": "torch_geometric",
    "torch_geometric_reversible": "torch_geometric",
    "transformers_families": "transformers",
    "denoising_diffusion": "denoising-diffusion-pytorch",
    "e3nn": "e3nn",
    "metric_learning": "pytorch-metric-learning",
    "opacus": "opacus",
    "transformers_tied": "transformers",
    "diffusers_stochastic": "diffusers",
    "torchmetrics_wrappers": "torchmetrics",
    "linear_operator": "linear_operator",
    "torchvision": "torchvision",
    "torchmetrics_classes": "torchmetrics",
    "pyro_examples": "pyro-ppl",
    "torch_geometric_models": "torch_geometric",
}  # fmt: skip


def path(name: str) -> Path:
    """The file of a program."""
    return FOLDER / f"with_{name}.py"


def golden() -> dict[str, dict[str, str]]:
    """What PyTorch printed, and with which version of the library: `{name: {"version": …, "output": …}}`."""
    found: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text())
    return found


def table() -> str:
    """The libraries as a table of Markdown: the programs of each, and how many of its own tests pass."""
    known, tested = golden(), json.loads(SUITES.read_text())
    programs: dict[str, list[str]] = {}
    for name, package in LIBRARIES.items():
        if name in known:
            programs.setdefault(f"{package} {known[name]['version']}", []).append(f"`with_{name}`")
    lines = ["| library | programs | its own tests |", "|---|---|---|"]
    for library, names in sorted(programs.items(), key=lambda each: each[0].lower()):
        figures = tested.get(library.partition(" ")[0])
        share = f"{figures['clarion']} of {figures['pytorch']}" if figures else ""
        share += " (a sample)" if figures and figures.get("sample") else ""
        lines.append(f"| {library} | {' '.join(names)} | {share} |")
    return "\n".join(lines)
