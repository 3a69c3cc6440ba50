"""Note what the programs print on PyTorch: `python -m tests.libraries.regenerate [NAME …]`, where PyTorch and the libraries are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata

from .programs import GOLDEN, LIBRARIES, golden, path

# torchvision's own operations are compiled; where they do not load, its Python asks for two of them by name.
NAMES = """
import importlib.util
if importlib.util.find_spec("torchvision"):
    import torch
    operations = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operations.define(f"{name}(Tensor a) -> Tensor")
"""
RUN = f"""
import runpy, sys, warnings
warnings.simplefilter("ignore")
{NAMES}
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def main() -> None:
    """Run and write."""
    found = golden() if GOLDEN.exists() else {}
    for name in sys.argv[1:] or LIBRARIES:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        done = subprocess.run([sys.executable, "-c", RUN, str(path(name))], capture_output=True, text=True, env=env)
        if done.returncode:
            print(f"{name} fails on PyTorch:\n{done.stderr[-1000:]}", file=sys.stderr)
            continue
        found[name] = {"version": metadata.version(LIBRARIES[name]), "output": done.stdout}
    GOLDEN.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
