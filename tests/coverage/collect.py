"""Write clarion/assets/pytorch_names.txt from the PyTorch that is installed: `python -m tests.coverage.collect`.

A module's public names are those of its `__all__`, or, where it has none, what was defined in it or below it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import types
import warnings
from pathlib import Path

FILE = Path(__file__).parents[2] / "clarion" / "assets" / "pytorch_names.txt"
# Programs, examples, and what is PyTorch's own workshop.
LEFT_OUT = {
    "torch.contrib",
    "torch.distributed.checkpoint.examples",
    "torch.distributed.launch",
    "torch.distributed.run",
    "torch.distributed.tensor.examples",
    "torch.testing",
    "torch.utils.benchmark.examples",
    "torch.utils.benchmark.op_fuzzers",
    "torch.utils.bottleneck",
    "torch.utils.data.datapipes.gen_pyi",
    "torch.utils.hipify",
    "torch.utils.tensorboard",
}

# Private names of modules that clarion does not have, which libraries import at their top.
IMPORTED = {
    "torch.ao.quantization.fx._decomposed": "",
    "torch.distributed._composable.fsdp": "FSDPModule fully_shard",
    "torch.distributed._functional_collectives": "AsyncCollectiveTensor all_gather_tensor all_to_all_single "
    "all_to_all_single_autograd permute_tensor wait_tensor",
    "torch.distributed._tensor": "DTensor distribute_tensor",
    "torch.distributed._tensor.experimental": "implicit_replication",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": "CheckpointImpl CheckpointWrapper "
    "apply_activation_checkpointing checkpoint_wrapper offload_wrapper",
    "torch.distributed.checkpoint._consolidate_hf_safetensors": "consolidate_safetensors_files",
    "torch.distributed.checkpoint.format_utils": "_EmptyStateDictLoadPlanner _load_state_dict",
    "torch.distributed.checkpoint.state_dict_loader": "_load_state_dict",
    "torch.distributed.fsdp._runtime_utils": "_root_pre_forward",
    "torch.distributed.fsdp.fully_sharded_data_parallel": "CPUOffload FullOptimStateDictConfig FullStateDictConfig "
    "MixedPrecision ShardedOptimStateDictConfig ShardedStateDictConfig ShardingStrategy StateDictType",
    "torch.distributed.fsdp.wrap": "_or_policy",
    "torch.distributed.run": "",
    "torch.distributed.rpc.api": "_barrier _all_gather _require_initialized",
    "torch.distributed.tensor._utils": "compute_local_shape_and_global_offset",
    "torch.distributed.tensor.experimental._attention": "set_rotate_method",
    "torch.distributed.tensor.placement_types": "_StridedShard",
    "torch.distributed.utils": "_sync_module_states",
    "torch.export._trace": "",
    "torch.fx._pytree": "register_pytree_flatten_spec",
    "torch.fx.experimental.symbolic_shapes": "GuardOnDataDependentSymNode free_unbacked_symbols",
    "torch.fx.graph_module": "_CodeOnlyModule _copy_attr",
    "torch.fx.node": "Target",
    "torch.jit._recursive": "",
    "torch.nested._internal.nested_tensor": "NestedTensor",
    "torch.nested._internal.ops": "extract_kwargs",
    "torch.onnx.symbolic_helper": "parse_args",
    "torch.nn.utils._per_sample_grad": "call_for_per_sample_grads",
    "torch.onnx.symbolic_opset11": "select squeeze unsqueeze",
    "torch.onnx.symbolic_opset12": "dropout",
    "torch.onnx.symbolic_opset9": "masked_fill softmax",
    "torch.utils._sympy.numbers": "IntInfinity",
    "torch.utils._sympy.value_ranges": "ValueRanges",
    "torch.utils._triton": "has_triton",
}


def modules(package: types.ModuleType) -> list[types.ModuleType]:
    """A package and all public modules below it that can be imported here."""
    found = [package]
    for entry in pkgutil.iter_modules(getattr(package, "__path__", []), package.__name__ + "."):
        if entry.name in LEFT_OUT or entry.name.rpartition(".")[2].startswith("_"):
            continue
        try:
            found += modules(importlib.import_module(entry.name))
        except ImportError as error:
            print(f"left out: {entry.name}: {error}", file=sys.stderr)
    return found


def kind(value: object) -> str:
    """What a name stands for."""
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def is_public(module: types.ModuleType, name: str) -> bool:
    """Does a name belong to a module that does not list its names?"""
    home = getattr(getattr(module, name, None), "__module__", None)
    below = hasattr(module, "__path__") and str(home).startswith(module.__name__ + ".")
    return home == module.__name__ or below


def names(module: types.ModuleType) -> dict[str, list[str]]:
    """Its public names by kind."""
    listed = getattr(module, "__all__", None)
    every = sorted(set(listed) if listed is not None else (n for n in vars(module) if is_public(module, n)))
    found: dict[str, list[str]] = {"class": [], "function": [], "value": []}
    for name in every:
        value = getattr(module, name, None)
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            found[kind(value)].append(name)
    for name in IMPORTED.get(module.__name__, "").split():
        if not any(name in each for each in found.values()):
            found[kind(getattr(module, name))].append(name)
    return found


def main() -> None:
    """Collect and write."""
    import torch

    warnings.simplefilter("ignore")
    lines = []
    every = {module.__name__: module for module in modules(torch)}
    for name in IMPORTED:
        for parent in (name, name.rpartition(".")[0]):
            every[parent] = importlib.import_module(parent)
    for name, module in sorted(every.items()):
        lines.append(name)
        lines += [f" {kind} {' '.join(found)}" for kind, found in names(module).items() if found]
    lines.append("torch.Tensor")
    methods = sorted(name for name in dir(torch.Tensor) if not name.startswith("_"))
    lines += [" function " + " ".join(methods)]
    lines.append("torch.ops.aten")
    schemas = torch._C._jit_get_all_schemas()
    lines += [
        " function " + " ".join(sorted({s.name.removeprefix("aten::") for s in schemas if s.name.startswith("aten::")}))
    ]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
