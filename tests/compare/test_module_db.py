"""Every module of PyTorch's module database that clarion has: text, initial weights, outputs, gradients."""

import dataclasses
import fnmatch
import inspect
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("expecttest", reason="PyTorch's module database imports it")

from torch.testing._internal.common_modules import module_db

import clarion

from .convert import Converter, to_numpy

SEED = 20


@dataclasses.dataclass(frozen=True)
class Gap:
    """A known difference: a module, a word of the failure, and why."""

    module: str
    word: str
    reason: str


KNOWN_GAPS: tuple[Gap, ...] = ()

# Modules that clarion does not have, and why.
ABSENT = {}


def name_of(info):
    return info.name.removeprefix("nn.").removeprefix("modules.")


def clarion_class(info):
    return getattr(clarion.nn, name_of(info).rpartition(".")[2], None)


class Both(Converter):
    """Also carries modules and functions of PyTorch over, by their names."""

    def __call__(self, value):
        if isinstance(value, torch.nn.Module):
            return self._module(value)
        if inspect.isroutine(value) and hasattr(torch.nn.functional, getattr(value, "__name__", "")):
            return getattr(self.lib.nn.functional, value.__name__)
        if isinstance(value, torch.nn.utils.rnn.PackedSequence):
            return self.lib.nn.utils.rnn.PackedSequence(
                *[None if v is None else super(Both, self).__call__(v) for v in value]
            )
        if type(value) in (list, tuple):
            return type(value)(self(v) for v in value)
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        return super().__call__(value)

    def _module(self, value):
        """The same module: activations have no arguments, and of layers only the encoder's is an argument of others."""
        if not isinstance(value, torch.nn.TransformerEncoderLayer):
            return getattr(self.lib.nn, type(value).__name__)()
        attention = value.self_attn
        made = self.lib.nn.TransformerEncoderLayer(
            attention.embed_dim, attention.num_heads, value.linear1.out_features, value.dropout.p,
            self(value.activation), value.norm1.eps, attention.batch_first, value.norm_first, value.linear1.bias is not None,
        )  # fmt: skip
        made.load_state_dict({k: Converter(self.lib)(v) for k, v in value.state_dict().items()})
        return made


def tensors_of(lib, value):
    if isinstance(value, lib.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_of(lib, v)]
    return []


def values_of(lib, state):
    """The arrays of a state; parameters of lazy modules by their text."""
    lazy = lib.nn.parameter.is_lazy
    return {k: repr(v) if lazy(v) else to_numpy(lib, v) for k, v in state.items() if isinstance(v, lib.Tensor)}


def played(lib, cls, case, training):
    """All that is compared, under names."""
    convert = Both(lib)
    lib.manual_seed(SEED)
    build, call = case.constructor_input, case.forward_input
    module = cls(*convert(build.args), **convert(build.kwargs))
    seen = {"repr": repr(module), "keys": list(module.state_dict())}
    seen |= {f"state {k}": v for k, v in values_of(lib, module.state_dict()).items()}
    module = module.double().train(training)
    lib.manual_seed(SEED + 1)
    if call is None:
        return seen
    outs = tensors_of(lib, module(*convert(call.args), **convert(call.kwargs)))
    seen |= {f"output {i}": to_numpy(lib, t) for i, t in enumerate(outs)}
    seen["requires_grad"] = [t.requires_grad for t in outs]
    wanted = [t for t in outs if t.requires_grad]
    if wanted:
        rng = np.random.default_rng(0)
        seeds = [lib.from_numpy(np.asarray(rng.standard_normal(tuple(t.shape)))).to(t.dtype) for t in wanted]
        lib.autograd.backward(wanted, seeds)
        grads = {**{f"{i}": leaf.grad for i, leaf in enumerate(convert.leaves)}}
        grads |= {k: p.grad for k, p in module.named_parameters()}
        seen |= {f"gradient {k}": None if g is None else to_numpy(lib, g) for k, g in grads.items()}
    seen |= {f"later {k}": v for k, v in values_of(lib, module.state_dict()).items()}
    return seen


def differences(ours, theirs):
    if ours.keys() != theirs.keys():
        yield f"other things are there: {sorted(ours.keys() ^ theirs.keys())}"
    for key, wanted in theirs.items():
        got = ours.get(key)
        if isinstance(wanted, np.ndarray) and isinstance(got, np.ndarray):
            if wanted.shape != got.shape or wanted.dtype != got.dtype:
                yield f"{key}: {got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
            elif not np.allclose(got, wanted, rtol=1e-7, atol=1e-7, equal_nan=True):
                yield f"{key}: off by {np.abs(got - wanted).max()}"
        elif type(got) is not type(wanted) or (not isinstance(wanted, np.ndarray) and got != wanted):
            yield f"{key}: {got!r}, not {wanted!r}"


def compare(info, training):
    found = []
    for case in info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True, training=training):
        theirs = played(torch, info.module_cls, case, training)
        try:
            ours = played(clarion, clarion_class(info), case, training)
        except Exception as error:
            found.append(f"{case.desc}: {type(error).__name__}: {error}")
            continue
        found += [f"{case.desc}: {line}" for line in differences(ours, theirs)]
    return found


def cases():
    for info in module_db:
        if "quant" in info.name or clarion_class(info) is None:
            continue
        for training in (True, False) if info.train_and_eval_differ else (True,):
            yield pytest.param(info, training, id=f"{name_of(info)}-{'train' if training else 'eval'}")


@pytest.mark.parametrize(("info", "training"), list(cases()))
def test_module(info, training):
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(info, training)
    gaps = [gap for gap in KNOWN_GAPS if fnmatch.fnmatch(name_of(info), gap.module)]
    fresh = [line for line in found if not any(gap.word in line for gap in gaps)]
    assert not fresh, "\n".join(fresh[:10])
    stale = [gap for gap in gaps if not any(gap.word in line for line in found)]
    assert not stale, f"no longer a gap: {stale}"


def test_what_is_absent_is_listed():
    absent = {info.name for info in module_db if clarion_class(info) is None and "quant" not in info.name}
    assert absent <= set(ABSENT)
