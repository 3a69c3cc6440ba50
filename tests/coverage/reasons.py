"""Why a public name of PyTorch is not there, where its module is."""

from __future__ import annotations

import re

from clarion.absent import WHY, why

# The first pattern that fits a full name says why.
REASONS = [
    (r"quantiz|quint|qint|qscheme|fbgemm|\.q_|int_repr|fake_quant|choose_qparams|observer", WHY["torch.ao"]),
    (r"\.(cudnn|miopen|mkldnn|_?cuda|mps|hip|xpu|ipu|vulkan|xla)_|is_vulkan", "a kernel or a switch of another device"),
    (r"sparse|sspaddmm|spmm|hspmm|hsmm|dsmm|smm|saddmm|crow_|ccol_|col_indices|row_indices|coalesce", "sparse tensors have few operations yet"),
    (r"named_tensor|rename|refine_names|align_|\.names$|has_names", "dimensions have no names"),
    (r"nested", "there are no nested tensors"),
    (r"torch\.[A-Z]\w*(Type|Logger|Executor\w*|Context|Benchmark\w*|Schema|Module\w*|Script\w*)$", WHY["torch.jit"]),
    (r"torch\.(AliasDb|Argument\w*|Block|CallStack|Capsule|Code|Compil\w+|Deep\w+|Error\w+|Exec\w+|Fatal\w+|File\w+|Gradient)$", WHY["torch.jit"]),
    (r"torch\.(Graph\w*|IODesc\w*|JITEx\w*|Lite\w*|Lock\w*|Node|Noop\w*|Operator\w*|Opt\w*|Script\w*|Static\w*|Tracing\w*|Use|Value)$", WHY["torch.jit"]),
    (r"import_ir|parse_ir|parse_schema|parse_type|merge_type|unify_type|TensorType|ScriptObject", WHY["torch.jit"]),
    (r"Storage", "memory is an array; a tensor's is at untyped_storage()"),
    (r"distributed|rpc", WHY["torch.distributed"]),
    (r"compile|dynamo|inductor|export|sym_|Sym[A-Z]", "nothing is compiled or exported"),
]  # fmt: skip
YET = "not written yet"


def reason(module: str, name: str) -> str:
    """Why `module.name` is not there."""
    path = f"{module}.{name}"
    for pattern, text in REASONS:
        if re.search(pattern, path):
            return text
    return why(path) or YET
