"""The libraries' own tests, on PyTorch and with clarion in its place: `python -m tests.libraries.suites NAME [pytest's arguments]`.

They come with the source archive of the version in `requirements.txt`; where an archive has none, `--tests FOLDER` names a
checkout's. PyTorch and the libraries must be installed (`docs/coverage.md` has the figures, and says how).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import clarion

ROOT = Path(clarion.__file__).resolve().parent.parent
REQUIREMENTS = Path(__file__).parent / "requirements.txt"

# library: where its archive keeps the tests, and what pytest is told. What needs the network or a GPU skips itself.
SUITES: dict[str, list[str]] = {
    "einops": ["einops/tests"],
    "einx": ["test"],
    "gpytorch": ["test"],
    "linear_operator": ["test"],
    "nflows": ["tests"],
    "normflows": ["normflows", "--pyargs", "-o", "python_files=*_test.py test_*.py"],
    "peft": ["tests"],
    "pytorch-ignite": ["tests/ignite"],
    "skorch": ["skorch/tests"],
    "timm": ["tests"],
    "torch-optimizer": ["tests"],
    "torchsde": ["tests"],
    "vit-pytorch": ["tests"],
}


def archive(name: str, folder: Path) -> Path:
    """The unpacked source archive of a library, as pip finds it."""
    pinned = next(line for line in REQUIREMENTS.read_text().splitlines() if line.lower().startswith(f"{name}=="))
    unpacked = folder / pinned
    if not unpacked.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            name,
            "-d",
            str(folder),
            pinned,
        ]
        subprocess.run(command, check=True)
        found = max(folder.glob("*.tar.gz"), key=os.path.getmtime)
        with tarfile.open(found) as file:
            file.extractall(unpacked, filter="data")
    return next(path for path in unpacked.iterdir() if path.is_dir())


def outcomes(engine: str, where: Path, arguments: list[str]) -> dict[str, str]:
    """Each test's outcome (passed, failed, skipped) on an engine."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        env = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CLARION_DIAGNOSE": "off"}
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        plugin = ["-p", "tests.libraries.in_pytorchs_place"] if engine == "clarion" else []
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}"]
        with open(f"{engine}.log", "w") as log:
            subprocess.run([*command, *plugin, *arguments], cwd=where, env=env, stdout=log, stderr=subprocess.STDOUT)
        found = {}
        for case in ET.parse(report).iter("testcase"):
            states = {child.tag for child in case} & {"failure", "error", "skipped"}
            name = f"{case.get('classname')}::{case.get('name')}"
            found[name] = "skipped" if states == {"skipped"} else "failed" if states else "passed"
        return found


def main() -> None:
    """Run both, and say what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.libraries.suites", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--tests", type=Path, help="the folder of a checkout, for archives without tests")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir(), "suites"), help="where archives are kept"
    )
    told, more = parser.parse_known_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    where = told.tests or archive(told.name, told.folder)
    arguments = [*SUITES.get(told.name, []), *more]
    theirs, ours = (outcomes(engine, where, arguments) for engine in ("torch", "clarion"))
    passed = [name for name, state in theirs.items() if state == "passed"]
    missed = [name for name in passed if ours.get(name) != "passed"]
    print(*(f"{ours.get(name, 'not found')}: {name}" for name in missed), sep="\n")
    print(
        f"{told.name}: PyTorch passes {len(passed)} ({dict(Counter(theirs.values()))}), clarion {len(passed) - len(missed)} of them"
    )


if __name__ == "__main__":
    main()
