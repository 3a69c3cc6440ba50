"""`import clarion.doctor` brings none of clarion's engine along, and clarion is whole as soon as somebody asks for it."""

import subprocess
import sys

import pytest


def _python(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


@pytest.mark.smoke
def test_the_doctor_comes_without_an_engine():
    loaded = _python("import clarion.doctor, sys; print(*[m for m in sys.modules if m.startswith('clarion')])").split()
    rooms = {name.split(".")[1] for name in loaded if "." in name}
    assert not rooms & {"core", "ops", "kernels", "nn", "optim", "surface"}
    assert _python("import clarion.doctor, sys; print('numpy' in sys.modules, 'torch' in sys.modules)") == "False False"


@pytest.mark.parametrize(
    "text",
    [
        "import clarion.doctor; import clarion.nn; print(clarion.diagnose.is_on(), clarion.float32)",
        "import clarion.core.tensor; import clarion; print(clarion.diagnose.is_on(), clarion.float32)",
        "from clarion import *; import clarion; print(clarion.diagnose.is_on(), float32)",
        "from clarion import nn; import clarion; print(clarion.diagnose.is_on(), clarion.float32)",
    ],
)
def test_the_whole_is_there_when_asked_for(text, monkeypatch):
    monkeypatch.delenv("CLARION_DIAGNOSE", raising=False)
    assert _python(text) == "True torch.float32"
