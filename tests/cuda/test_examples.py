"""The programs of examples/ on the GPU, with clarion and with PyTorch: from the same seed, the same loss curve."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import clarion

if not clarion.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

from tests.examples.loading import FOLDER, NAMES  # noqa: E402

STEPS = 20
RTOL, ATOL = 5e-3, 2e-4
WRONG = {
    "mlp_digits": "the sampler of the loader draws a permutation",
}


def on_gpu(name: str, library: Any) -> ModuleType:
    """The example with its data on the GPU."""
    source = (FOLDER / f"{name}.py").read_text()
    if library is torch:
        source = re.sub(r"^import clarion as torch$", "import torch", source, flags=re.MULTILINE)
        source = re.sub(r"^from clarion\b", "from torch", source, flags=re.MULTILINE)
    source = source.replace("torch.from_numpy", "from_host").replace("image.numpy()", "image.cpu().numpy()")
    module = ModuleType(f"examples_on_gpu_{name}")
    module.__file__ = str(FOLDER / f"{name}.py")
    module.__dict__["from_host"] = lambda array: library.from_numpy(array).to("cuda")
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    return module


def curve(name: str, library: Any) -> list[float]:
    library.set_default_device("cuda")
    try:
        return on_gpu(name, library).run(STEPS)
    finally:
        library.set_default_device(None)


@pytest.mark.parametrize("name", NAMES)
def test_same_curve(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    torch.backends.cudnn.allow_tf32 = False
    try:
        expected = curve(name, torch)
    except Exception as error:
        pytest.skip(f"PyTorch itself does not run it there: {type(error).__name__}: {error}")
    if name in WRONG:
        request.applymarker(pytest.mark.xfail(reason=WRONG[name]))
    found = curve(name, clarion)
    assert len(found) == len(expected) == STEPS
    # Sums are taken in another order: training with batch norm magnifies that from step to step.
    np.testing.assert_allclose(found[: STEPS // 2], expected[: STEPS // 2], rtol=RTOL, atol=ATOL)
    np.testing.assert_allclose(found, expected, rtol=10 * RTOL, atol=ATOL)
