"""`clarion info` says what computes here."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from clarion.cli.main import main
from clarion.core.namespace import OPS
from clarion.kernels import registry, threads


def test_the_page_names_backends_kernels_threads_and_versions():
    # In a process of its own, where no test has made another array library known.
    done = subprocess.run([sys.executable, "-m", "clarion", "info"], capture_output=True, text=True, check=True)
    said = done.stdout
    assert "portable" in said
    assert f"Threads    {threads.number()} " in said
    assert "numpy 2" in said
    assert "more operations: portable" in said


def test_one_operation(capsys):
    assert main(["info", "convolution"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split()[0] == "Operation"
    assert all("convolution" in row for row in rows[1:])


def test_a_name_that_no_operation_has(capsys):
    assert main(["info", "nonsense"]) == 2
    assert "no operation's name holds 'nonsense'" in capsys.readouterr().err


def test_json_holds_every_operation(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["operations"]) == set(OPS)
    assert found["operations"]["tan"]["numpy"] == ["portable"]
    missing = {backend["name"]: backend["missing"] for backend in found["backends"]}
    assert missing["portable"] is None


def test_a_backend_says_what_it_lacks(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_described", dict(registry._described))
    registry.describe("swift", "an invention", lambda: "swiftlib is not installed: pip install swiftlib")
    assert main(["info"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "an invention. Not here: swiftlib is not installed: pip install swiftlib" in said


@pytest.mark.parametrize("guarded", [False, True])
def test_the_order_in_which_backends_are_asked(guarded, capsys):
    known = registry._libraries["numpy"]
    registry._libraries["numpy"] = registry.Library("numpy", known.array_type, known.xp, ("extra", *known.backends))
    registry.offer("tan", "extra", registry.portable("tan"), (lambda x: True) if guarded else None)
    try:
        assert main(["info", "tan"]) == 0
        said = capsys.readouterr().out
        assert ("extra where it can, else portable" in said) == guarded
    finally:
        registry.withdraw("extra")
        registry._libraries["numpy"] = known
