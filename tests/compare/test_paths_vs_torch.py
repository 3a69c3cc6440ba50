"""What clarion has can be imported from every place where PyTorch keeps it, and nothing of its own is under PyTorch's name."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import subprocess
import sys
import types
import warnings
from collections import defaultdict

import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from clarion.absent import pytorch_names
from clarion.torch_alias import ROOMS

pytestmark = pytest.mark.compare

EXCEPTIONS = {
    "torch.JITException": "an inside of TorchScript that PyTorch does not hide",
    "torch.ScriptFunction": "an inside of TorchScript that PyTorch does not hide",
    "torch.fft.Tensor": "PyTorch imports it there for its own use",
    "torch.utils.data.datapipes.dataframe.DFIterDataPipe": "PyTorch's pipes of data frames are not there, only their class",
    "torch.masked.maskedtensor.is_masked_tensor": "there is no MaskedTensor here",
    "torch.masked.maskedtensor.core.is_masked_tensor": "there is no MaskedTensor here",
}


def resolved(path):
    """clarion's module for one of PyTorch's, or None."""
    try:
        return importlib.import_module("clarion" + path.removeprefix("torch"))
    except ImportError:
        return None


def places():
    """All public paths of each class and function of PyTorch."""
    found = defaultdict(list)
    for path, names in pytorch_names().items():
        try:
            module = importlib.import_module(path)
        except Exception:  # parts of PyTorch that cannot be imported on this machine
            continue
        for name, kind in names.items():
            value = getattr(module, name, None)
            if kind != "value" and str(getattr(value, "__module__", "")).startswith("torch"):
                found[id(value)].append((path, name))
    return list(found.values())


@pytest.fixture(scope="module")
def groups():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of what it will take away
        return places()


def test_every_path_of_what_is_there(groups):
    missing = []
    for paths in groups:
        modules = {path: resolved(path) for path, _ in paths}
        ours = [vars(modules[p])[n] for p, n in paths if modules[p] is not None and n in vars(modules[p])]
        ours = [e for e in ours if not (isinstance(e, types.ModuleType) or str(e.__doc__).startswith("Not there"))]
        if not ours:
            continue  # clarion does not have it
        for path, name in paths:
            if getattr(modules[path], name, None) is not ours[0] and f"{path}.{name}" not in EXCEPTIONS:
                missing.append(f"{path}.{name}")
    assert not missing
    assert len(groups) > 2000


def test_classes_say_pytorchs_path():
    for name in torch.nn.modules.__all__:
        ours, theirs = getattr(clarion.nn, name, None), getattr(torch.nn, name)
        if ours is not None and not str(ours.__doc__).startswith("Not there"):
            assert ours.__module__ == theirs.__module__.replace("torch.", "clarion.", 1), name
    for name in ("DataLoader", "TensorDataset", "RandomSampler", "random_split", "default_collate"):
        ours, theirs = getattr(clarion.utils.data, name), getattr(torch.utils.data, name)
        assert ours.__module__ == theirs.__module__.replace("torch.", "clarion.", 1), name


def test_every_module_is_pytorchs_or_a_room():
    for module in pkgutil.iter_modules(clarion.__path__):
        name = module.name
        if name == "__main__":
            continue
        assert (hasattr(torch, name) or importlib.util.find_spec(f"torch.{name}") is not None) != (name in ROOMS), name


PROGRAM = """
import torch, sys
rooms = "core kernels data checkpoint events config pytree cli absent elsewhere torch_alias doctor".split()
assert not [name for name in rooms if hasattr(torch, name)]
for name in [*rooms, "diagnose", "errors", "core.tensor"]:
    try:
        __import__("torch." + name)
    except ModuleNotFoundError as error:
        assert error.name == "torch." + name or error.name == "torch." + name.split(".")[0], error.name
    else:
        raise SystemExit("torch." + name)
from torch.nn.modules.loss import TripletMarginLoss
from torch.nn.modules.activation import MultiheadAttention
from torch.utils.data import DataLoader
import torch.cuda.memory, torch.profiler.profiler
assert not [name for name in rooms if hasattr(torch, name)]
assert torch.ops.aten.add.Tensor(torch.ones(2), torch.ones(2)).sum() == 4
import clarion
clarion.diagnose.off()
"""


def test_rooms_are_not_under_pytorchs_name(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "clarion", "run", str(tmp_path / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
