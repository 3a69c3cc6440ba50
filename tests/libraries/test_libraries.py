"""PyTorch's libraries run unchanged: each program prints on clarion what it printed on PyTorch."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import clarion

from .programs import LIBRARIES, golden, path

ROOT = Path(clarion.__file__).resolve().parent.parent
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")
RELATIVE = 1e-3


def installed(name: str) -> str:
    """The version of the library of a program; skips where it, or what it stands on, is not installed."""
    try:
        version = metadata.version(LIBRARIES[name])
    except metadata.PackageNotFoundError:
        pytest.skip(f"{LIBRARIES[name]} is not installed")
    for needed in {"timm": ["torchvision"], "vit-pytorch": ["torchvision"], "skorch": ["sklearn"]}.get(
        LIBRARIES[name], []
    ):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{name} needs {needed}")
    return version


@pytest.mark.parametrize("name", sorted(golden()))
def test_prints_pytorchs_numbers(name):
    version = installed(name)
    if version != golden()[name]["version"]:
        pytest.skip(f"{name} {version}: PyTorch's numbers were noted with {golden()[name]['version']}")
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "ignore", "-m", "clarion", "run", "--engine", "clarion", str(path(name))]
    env["CUDA_VISIBLE_DEVICES"] = ""  # what was written down was computed on a CPU
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    ours, theirs = done.stdout, golden()[name]["output"]
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", theirs)
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (ours, theirs)]
    assert numbers[0] == pytest.approx(numbers[1], rel=RELATIVE, abs=1e-6, nan_ok=True)
