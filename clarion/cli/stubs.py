"""Type stubs, written from the tables of public names: `python -m clarion.cli.stubs`.

Most functions and methods are registered (`ops/faces/api.py`), so an editor that only reads does not see them. It reads them
here: `core/methods.pyi` are the methods of Tensor, `ops/faces/functions.pyi` is `torch`, and `ops/faces/functionals.pyi` is
`torch.nn.functional`. There are no modules of these names; they are imported under `TYPE_CHECKING`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clarion

from ..core.tensor import Tensor
from ..nn import functional
from ..ops.faces.api import FUNCTIONS, METHODS

ROOT = Path(__file__).parents[1]
HEAD = '''# mypy: disable-error-code="misc,override"
"""Written by `python -m clarion.cli.stubs`: {what}."""

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from typing import Any

from {tensor} import Tensor
'''

# What does not give a Tensor and does not say so itself. "Any": it depends on the arguments, or is a named tuple.
RETURNS = {
    "Any": "where nonzero sort topk kthvalue median nanmedian mode slogdet qr svd lu_unpack triangular_solve max min aminmax "
    "histogram histogramdd cummax cummin frexp unique unique_consecutive lu svd_lowrank pca_lowrank type item tolist numpy "
    "finfo iinfo Generator default_generator TypedStorage UntypedStorage storage untyped_storage storage_type __dlpack__ "
    "__dlpack_device__ __array__ __array_wrap__ __deepcopy__ __reduce_ex__ __iter__ __reversed__ __eq__ __ne__ __contains__ "
    "_typed_storage as_subclass result_type promote_types lstm lstm_cell gru rnn_tanh rnn_relu embedding_bag atleast_1d "
    "atleast_2d atleast_3d multi_head_attention_forward broadcast_shapes to_dlpack get_default_device size stride "
    "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d max_pool1d "
    "max_pool2d max_pool3d",
    "tuple[Tensor, Tensor]": "var_mean std_mean adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
    "adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices "
    "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices",
    "tuple[Tensor, ...]": "gradient unbind split split_with_sizes chunk tensor_split hsplit vsplit dsplit unravel_index "
    "unsafe_split unsafe_split_with_sizes unsafe_chunk meshgrid broadcast_tensors split_copy split_with_sizes_copy "
    "unbind_copy",
    "_bool": "can_cast is_floating_point is_complex is_signed is_inference is_same_size is_nonzero allclose equal is_conj "
    "is_neg is_set_to is_pinned is_shared is_tensor is_storage __bool__ set_flush_denormal",
    "_int": "numel get_num_threads get_num_interop_threads __int__ __index__ get_device seed initial_seed",
    "_float": "__float__",
    "_str": "__repr__ __format__ typename",
    "None": "__setitem__ __delitem__",
}
GIVES = {name: kind for kind, names in RETURNS.items() for name in names.split()}
WORDS = {
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "_str",
    "None": "None",
    "Any": "Any",
    "Tensor": "Tensor",
}
WORDS |= {"tuple": "tuple", "list": "list", "dict": "dict"}


def annotation(text: Any) -> str:
    """An annotation, if it can be read without the imports of the file that it stands in."""
    found = re.fullmatch(r"[\w\[\], .|]+", str(text))
    if found is None or any(word not in WORDS for word in re.findall(r"\w+", str(text))):
        return "Any"
    return re.sub(r"\w+", lambda word: WORDS[word[0]], str(text))


def parameters(fn: Callable[..., Any], method: bool) -> str | None:
    """The parameters as text; None if they cannot be known."""
    try:
        found = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return None
    parts, star = [], False
    code = getattr(fn, "__code__", None)
    names = {each.name for each in found}
    for i, each in enumerate(found):
        if each.name == "run":
            continue
        if each.kind is each.VAR_POSITIONAL:
            star = True
        elif each.kind is each.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        prefix = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        if method and i == 0 and not prefix:
            parts.append("self")
            continue
        default = "" if each.default is each.empty else " = ..."
        kind = "Any" if each.annotation is each.empty else annotation(each.annotation)
        parts.append(f"{prefix}{each.name}: {kind}{default}")
    if method and (not parts or parts[0].startswith("*")):
        parts.insert(0, "self")
    if (
        code is not None
        and "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        and "out" not in names
    ):
        parts += ["out: Any = ..."] if star else ["*", "out: Any = ..."]
        last = [part for part in parts if part.startswith("**")]
        parts = [part for part in parts if part not in last] + last
    return ", ".join(parts)


def line(name: str, value: Any, method: bool = False) -> str:
    """One name as a line of a stub."""
    if isinstance(value, property):
        return f"@property\ndef {name}(self) -> Tensor: ..."
    known = None if isinstance(value, type) or not callable(value) else parameters(value, method)
    if known is None:
        return f"{name}: Any"
    own = annotation(getattr(value, "__annotations__", {}).get("return", "Any"))
    gives = GIVES.get(name, "None" if name.startswith("_foreach_") and name.endswith("_") else own)
    if gives == "Any" and name not in GIVES:
        gives = "tuple[Tensor, ...]" if name.startswith("_foreach_") else "Tensor"
    return f"def {name}({known}) -> {gives}: ..."


def stubs() -> dict[Path, str]:
    """The files and their texts."""
    methods = {name: value for name, value in METHODS.items() if name not in _written_out()}
    body = "".join(f"    {text}\n" for name in sorted(methods) for text in line(name, methods[name], True).split("\n"))
    here = {
        name: value
        for name, value in vars(functional).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") != "typing"
    }
    return {
        ROOT / "core" / "methods.pyi": HEAD.format(what="the methods that operations give to Tensor", tensor=".tensor")
        + f"\nclass Methods:\n{body}",
        ROOT / "ops" / "faces" / "functions.pyi": HEAD.format(what="the functions of `torch`", tensor="...core.tensor")
        + "\n" + "".join(f"{line(name, FUNCTIONS[name])}\n" for name in sorted(FUNCTIONS) if name.isidentifier()),
        ROOT / "ops" / "faces" / "functionals.pyi": HEAD.format(
            what="the functions of `torch.nn.functional`", tensor="...core.tensor"
        )
        + "\n" + "".join(f"{line(name, here[name])}\n" for name in sorted(here)),
    }  # fmt: skip


def _written_out() -> set[str]:
    """What stands in the class itself, where everybody can read it."""
    source = inspect.getsource(inspect.getmodule(Tensor))  # type: ignore[arg-type]
    return set(re.findall(r"^    def (\w+)\(", source, re.M))


def main() -> None:
    """Write the files."""
    clarion.ones(1)  # everything is loaded
    for path, text in stubs().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
