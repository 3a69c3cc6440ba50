"""The libraries' own tests, on PyTorch and with clarion in its place: `python -m tests.libraries.suites NAME [pytest's arguments]`.

They come with the source archive of the version in `requirements.txt`; where an archive has none, `--tests FOLDER` names a
checkout of the library. PyTorch and the libraries must be installed, and pytest-xdist; what the tests themselves need besides
(torchtestcase, parameterized) is missing on both engines or on none. `docs/coverage.md` has the figures that were noted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import clarion

from .programs import SUITES as NOTED
from .regenerate import NAMES

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
PLACE = "in_pytorchs_place"  # the plugin that lets the tests' `import torch` give clarion
SAMPLE = """
import hashlib
import json
import os
from pathlib import Path

def pytest_collection_modifyitems(items):
    # What the first engine picked the second one runs: where a file of tests does not import, it is not others that are tried.
    picked = Path(os.environ["PICKED"])
    if not picked.exists():
        by_chance = sorted({item.nodeid for item in items}, key=lambda name: hashlib.md5(name.encode()).hexdigest())
        mine = picked.with_suffix(f".{os.getpid()}")
        mine.write_text(json.dumps(by_chance[: int(os.environ["SAMPLE"])]))
        mine.rename(picked)
    kept = set(json.loads(picked.read_text()))
    items[:] = [item for item in items if item.nodeid in kept]
"""  # a plugin: the same tests on both engines, and the next time

# library: where its archive keeps the tests, and what else pytest is told
SUITES = {
    "accelerate": ["tests", "--ignore=tests/deepspeed", "--ignore=tests/fsdp", "--ignore=tests/tp"],
    "e3nn": ["tests"],
    "einops": ["einops/tests"],
    "einx": ["test"],
    "gpytorch": ["test"],
    "linear_operator": ["test"],
    "nflows": ["tests"],
    "normflows": ["normflows"],
    "opacus": ["opacus/tests"],
    "peft": ["tests"],
    "pyro-ppl": ["tests", "-o", "filterwarnings=", "--ignore=tests/test_examples.py"],
    "pytorch-ignite": ["tests/ignite"],
    "skorch": ["skorch/tests", "-o", "addopts="],
    "timm": ["tests", "--ignore=tests/test_models.py"],  # every model there is, forwards and backwards: days
    "torch-optimizer": ["tests"],
    "torchsde": ["tests"],
    "vit-pytorch": ["tests"],
}
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "CLARION_DIAGNOSE": "off", "EINOPS_TEST_BACKENDS": "numpy,torch",
}  # fmt: skip


def version_of(name: str) -> str:
    """The version of a library that is tried (its name may be written with `-` or `_`, as pip takes it)."""
    lines = [line.partition("==") for line in REQUIREMENTS.read_text().splitlines()]
    plain = {known.lower().replace("_", "-"): version for known, _, version in lines}
    return plain[name.lower().replace("_", "-")]


def unpacked(name: str, folder: Path) -> Path:
    """The source archive of a library, as pip finds it."""
    inside = folder / f"{name}-{version_of(name)}"
    if not inside.exists():
        wanted = [f"{name}=={version_of(name)}", "--no-deps", "--no-binary", name, "--dest", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *wanted], check=True)
        with tarfile.open(max(folder.glob("*.tar.gz"), key=os.path.getmtime)) as archive:
            archive.extractall(inside, filter="data")
    return next(path for path in inside.iterdir() if path.is_dir())


def passing(engine: str, where: Path, arguments: list[str], sample: int, picked: Path) -> set[str]:
    """The tests that pass on an engine (of a sample, unless it is 0); what pytest says lies in `ENGINE.log` beside them."""
    with tempfile.TemporaryDirectory() as scratch:
        # Not the folder above clarion: it has a package `tests`, as many libraries do.
        Path(scratch, "clarion").symlink_to(Path(clarion.__file__).parent)
        Path(scratch, f"{PLACE}.py").write_text("from clarion.torch_alias import install\n\ninstall()\n")
        Path(scratch, "torchvision_names.py").write_text(NAMES)
        Path(scratch, "sample.py").write_text(SAMPLE)
        report = Path(scratch, "report.xml")
        env = {**os.environ, **ENVIRONMENT, "SAMPLE": str(sample), "PICKED": str(picked)}
        env["PYTHONPATH"] = os.pathsep.join([scratch, *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ["-p", PLACE if engine == "clarion" else "torchvision_names"]
        command += ["-p", "sample"] if sample else []
        with open(where / f"{engine}.log", "w") as log:
            command += ["--continue-on-collection-errors", *arguments]
            subprocess.run(command, cwd=where, env=env, stdout=log, stderr=subprocess.STDOUT, check=False)
        cases = ET.parse(report).iter("testcase")
        wrong = {"failure", "error", "skipped"}
        return {f"{case.get('classname')}::{case.get('name')}" for case in cases if not wrong & {c.tag for c in case}}


def main() -> None:
    """Run both, and say which tests pass on PyTorch alone."""
    parser = argparse.ArgumentParser(prog="python -m tests.libraries.suites")
    parser.add_argument("name", help="a library of requirements.txt")
    parser.add_argument("--tests", type=Path, help="a checkout of the library, if its archive has no tests")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir(), "suites"), help="where archives are kept"
    )
    parser.add_argument("--sample", type=int, default=0, help="so many of the tests, always the same")
    parser.add_argument("--note", action="store_true", help="write the figures down for docs/coverage.md")
    told, more = parser.parse_known_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    where = told.tests or unpacked(told.name, told.folder)
    arguments = [*SUITES.get(told.name, []), *more]
    with tempfile.TemporaryDirectory() as scratch:
        picked = Path(scratch, "picked.json")
        theirs, ours = (passing(engine, where, arguments, told.sample, picked) for engine in ("torch", "clarion"))
    missed = sorted(theirs - ours)
    print(
        *missed, f"{told.name}: of {len(theirs)} tests that pass on PyTorch {len(theirs) - len(missed)} pass", sep="\n"
    )
    print(f"The reasons: {where / 'clarion.log'}")
    if told.note:
        noted = json.loads(NOTED.read_text()) if NOTED.exists() else {}
        noted[told.name] = {"version": version_of(told.name), "pytorch": len(theirs), "clarion": len(theirs & ours)}
        noted[told.name] |= {"sample": told.sample} if told.sample else {}
        NOTED.write_text(json.dumps(dict(sorted(noted.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
