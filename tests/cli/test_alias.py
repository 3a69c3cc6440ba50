"""`import torch` gives clarion: one module object under two names, refusals by name, and everything as before at the end."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import pickle
import subprocess
import sys

import pytest

import clarion
from clarion.torch_alias import TorchVersion, alias

IMPORTS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint
import torch.backends.cudnn as cudnn
from torch import Tensor, nn as same_nn, optim
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import StepLR
from torch.utils import data
from torch.utils.data import DataLoader, TensorDataset
"""

MODULES = [
    "amp",
    "autograd",
    "autograd.function",
    "cuda.amp",
    "distributions.normal",
    "linalg",
    "nn.modules.linear",
    "nn.utils.parametrizations",
    "optim.lr_scheduler",
    "serialization",
    "utils.data.dataset",
    "version",
]


def test_imports_give_clarion_itself():
    names: dict[str, object] = {}
    with alias() as module:
        exec(IMPORTS, names)
        loaded = {name: sys.modules[name] for name in sys.modules if name == "torch" or name.startswith("torch.")}
    assert names["torch"] is module is clarion
    assert names["nn"] is names["same_nn"] is clarion.nn
    assert names["F"] is clarion.nn.functional
    assert names["StepLR"] is clarion.optim.lr_scheduler.StepLR
    assert names["DataLoader"] is clarion.utils.data.DataLoader
    assert names["cudnn"] is clarion.backends.cudnn
    ours = {name: sys.modules.get("clarion" + name.removeprefix("torch")) for name in loaded}
    assert {name for name in loaded if loaded[name] is not ours[name]} == set()


@pytest.mark.parametrize("name", MODULES)
def test_one_module_under_two_names(name):
    with alias():
        module = importlib.import_module(f"torch.{name}")
        assert module is sys.modules[f"clarion.{name}"] is importlib.import_module(f"clarion.{name}")
    # What is told of a module is clarion's, as before.
    assert not module.__name__.startswith("torch")
    assert not module.__spec__.name.startswith("torch")


def test_a_function_is_not_hidden_by_its_module():
    with alias():
        import torch.autograd.gradcheck  # noqa: F401

        assert callable(clarion.autograd.gradcheck)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch.nn.no_such_thing", r"^clarion does not have torch\.nn\.no_such_thing yet"),
        ("torch.core_of_the_matter", r"^clarion does not have torch\.core_of_the_matter yet"),
        ("torch._C._nothing", r"^clarion does not have torch\._C\._nothing: PyTorch's compiled insides"),
        (
            "torch.fx.no_such_thing",
            r"^clarion does not have torch\.fx\.no_such_thing: programs are traced by symbolic_trace",
        ),
    ],
)
def test_what_is_missing_is_named(name, message):
    with alias(), pytest.raises(ModuleNotFoundError, match=message) as caught:
        importlib.import_module(name)
    assert (name + ".").startswith(caught.value.name + ".")


def test_asking_is_no_import():
    with alias():
        assert importlib.util.find_spec("torch.nn.functional") is not None
        assert importlib.util.find_spec("torch.no_such_thing") is None
        importlib.util.find_spec("torchvision")  # as in `is torchvision installed?`: no exception


def test_parts_that_refuse_when_they_are_used_can_be_imported():
    with alias():
        import torch
        import torch.fx as fx
        import torch.package as package
        from torch.ao.quantization.observer import MinMaxObserver
        from torch.package import PackageExporter, is_from_package

        assert torch.fx is fx is sys.modules["torch.fx"]
        assert not isinstance(3, PackageExporter)
        assert not is_from_package(3)

        class Own(PackageExporter):
            pass

        for use in (lambda: package.analyze.find_first_use_of_broken_modules(3), PackageExporter, Own):
            with pytest.raises(
                NotImplementedError, match=r"clarion does not have torch\.package\.[\w.]+: models are not packaged"
            ):
                use()
        with pytest.raises(NotImplementedError, match=r"there are no quantized tensors"):
            MinMaxObserver()
        with pytest.raises(AttributeError, match=r"torch\.fx\.no_such_thing"):
            torch.fx.no_such_thing


def test_the_package_torch_is_there_for_those_who_ask():
    with alias():
        assert importlib.metadata.version("torch") == "2.13.0"
        assert importlib.metadata.distribution("torch").metadata["Name"] == "torch"
        assert importlib.import_module("torch").__name__ == "torch"
        assert importlib.import_module("torch.version").__version__ == "2.13.0+clarion"
    assert clarion.__name__ == "clarion"
    assert clarion.version.__version__ == clarion.__version__


def test_version_can_be_compared():
    with alias():
        import torch

        version = torch.__version__
    assert version.split("+") == ["2.13.0", "clarion"]
    assert tuple(int(part) for part in version.split("+")[0].split(".")[:2]) == (2, 13)
    assert version >= "2.4"  # which text alone is not
    assert version > (1, 10)
    assert not version < (2, 13)
    assert version < "3"
    assert clarion.__version__ != version


@pytest.mark.compare
@pytest.mark.parametrize(
    "other", ["2.4", "2.13", "2.13.0", "2.13.0+clarion", "2.13.1", "10.0", (2, 13), (2, 14), (1, 9, 1)]
)
def test_version_compares_as_pytorch_does(other):
    pytorch = pytest.importorskip("torch.torch_version", reason="compares with PyTorch")
    ours, theirs = TorchVersion("2.13.0+clarion"), pytorch.TorchVersion("2.13.0+clarion")
    for comparison in ("__lt__", "__le__", "__eq__", "__ge__", "__gt__"):
        assert getattr(ours, comparison)(other) == getattr(theirs, comparison)(other), comparison


def test_everything_is_as_before_at_the_end():
    def state():
        pytorch = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
        return list(sys.meta_path), pytorch, clarion.__version__, dict(os.environ)

    real = sys.modules.get("torch")
    sys.modules["torch"] = before_torch = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("torch", None))
    try:
        before = state()
        with pytest.raises(KeyError), alias():
            import torch.nn

            with alias():
                import torch.optim
            assert sys.modules["torch"] is torch is clarion
            raise KeyError
        assert state() == before
        assert sys.modules["torch"] is before_torch
    finally:
        del sys.modules["torch"]
        if real is not None:
            sys.modules["torch"] = real


def test_parts_that_are_loaded_late_find_the_rooms():
    with alias():
        late: dict[str, object] = {"__name__": "clarion.late", "__package__": "clarion"}
        exec("from . import config", late)
        assert late["config"] is sys.modules["clarion.config"]
        with pytest.raises(ImportError, match="config"):
            exec("from torch import config", {"__name__": "program"})


def test_a_bare_call_holds_to_the_end():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from clarion.torch_alias import alias\nalias()\nimport torch, clarion\nprint(torch is clarion)",
        ],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_types_say_that_they_are_pytorchs_as_long_as_it_holds():
    x = clarion.ones(2)
    kinds = type(x), type(x.shape), type(x.dtype), type(x.device), clarion.nn.Parameter
    before = [str(kind) for kind in kinds]
    with alias():
        names = ["torch.Tensor", "torch.Size", "torch.dtype", "torch.device", "torch.nn.parameter.Parameter"]
        assert [str(kind) for kind in kinds] == [f"<class '{name}'>" for name in names]
        assert pickle.loads(pickle.dumps(kinds)) == kinds
    assert [str(kind) for kind in kinds] == before
