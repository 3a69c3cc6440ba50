"""Run a PyTorch program under diagnosis, in this process, and compare with the marks at its lines.

python -m tests.diagnose.harness PATH...      # which cases pass; -v shows the findings
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import re
import runpy
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import clarion
from clarion.core import modes
from clarion.diagnose import Finding, summary, watching
from clarion.torch_alias import alias

_MARK = re.compile(r"#\s*(EXPECT-ERROR|EXPECT|ALSO|MAY):\s*([\w-]+)")
CASES = Path(__file__).parent / "cases"


@dataclass
class Outcome:
    """What a program did."""

    findings: list[Finding]
    error: BaseException | None
    output: str
    summary: str = ""


@dataclass
class Marks:
    """What its lines say it should do: {(name, line)}."""

    expect: set[tuple[str, int]] = field(default_factory=set)
    errors: set[tuple[str, int]] = field(default_factory=set)
    also: set[tuple[str, int]] = field(default_factory=set)
    may: set[str] = field(default_factory=set)


def marks_of(path: Path) -> Marks:
    """The marks of a program."""
    marks = Marks()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for kind, name in _MARK.findall(line):
            if kind == "EXPECT-ERROR":
                marks.errors.add((name, number))
            elif kind == "EXPECT":
                marks.expect.add((name, number))
            elif kind == "ALSO":
                marks.also.add((name, number))
            else:
                marks.may.add(name)
    return marks


def run(path: Path, thorough: bool = False) -> Outcome:
    """Run a program as `clarion run` does, but here."""
    error: BaseException | None = None
    output = io.StringIO()
    before = clarion.get_rng_state(), clarion.get_default_dtype(), sys.argv[:], os.getcwd()
    switches = modes.snapshot()
    gc.freeze()  # who looks through the memory for graphs need not look through pytest's
    with alias(), warnings.catch_warnings(), watching(thorough) as findings:
        warnings.simplefilter("ignore")
        sys.argv = [str(path)]
        sys.path.insert(0, str(path.resolve().parent))
        try:
            with contextlib.redirect_stdout(output):
                runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as raised:
            if not (isinstance(raised, SystemExit) and raised.code in (None, 0)):
                error = raised
        finally:
            modes.restore(switches)  # a program may have left some open
            clarion.set_rng_state(before[0])
            clarion.set_default_dtype(before[1])
            sys.argv[:] = before[2]
            sys.path.remove(str(path.resolve().parent))
            os.chdir(before[3])
            told = summary()
            gc.unfreeze()
    found = list(findings)
    carried = getattr(error, "finding", None)
    if carried is not None and carried not in found:
        found.append(carried)
    return Outcome(found, error, output.getvalue(), told)


def complaints(path: Path, outcome: Outcome) -> list[str]:
    """What is wrong with an outcome; empty if the case passes."""
    marks = marks_of(path)
    here = str(path.resolve())
    lines = {(f.name, f.line) for f in outcome.findings if os.path.realpath(f.file) == here}
    names = {name for name, _ in marks.expect | marks.errors}
    wrong = [line for line in outcome.summary.splitlines() if "failed and was taken out" in line]
    wrong += [
        f"not found: {name} at line {line}"
        for name, line in sorted(marks.expect | marks.errors)
        if (name, line) not in lines
    ]
    for name, line in sorted(marks.also):
        told = [f for f in outcome.findings if f.name == name]
        if told and not any({"file": here, "line": line} in _real(f) or f.line == line for f in told):
            wrong.append(f"{name} does not mention line {line}")
    for finding in outcome.findings:
        expected = finding.name in names and (finding.name, finding.line) in marks.expect | marks.errors
        if not expected and finding.name not in marks.may:
            wrong.append(f"false alarm: {finding.name} at line {finding.line}: {finding.what}")
    if outcome.error is not None and not marks.errors:
        wrong.append(f"raised {type(outcome.error).__name__}: {outcome.error}")
    if marks.errors and outcome.error is None:
        wrong.append("raised nothing")
    return wrong


def _real(finding: Finding) -> list[dict[str, object]]:
    return [{"file": os.path.realpath(a["file"]), "line": a["line"]} for a in finding.also]


def main(arguments: list[str]) -> int:
    """Print which programs pass."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", type=Path, default=[CASES])
    parser.add_argument("-v", "--verbose", action="store_true", help="show the findings")
    chosen = parser.parse_args(arguments)
    programs = sorted(p for path in chosen.paths for p in (path.rglob("*.py") if path.is_dir() else [path]))
    failed = 0
    for path in programs:
        outcome = run(path, thorough="custom-backward-wrong" in str(path))
        wrong = complaints(path, outcome)
        failed += bool(wrong)
        if wrong or chosen.verbose:
            print(("FAIL " if wrong else "ok   ") + "/".join(path.parts[-2:]))
        for text in wrong:
            print("     ", text)
        if chosen.verbose:
            for finding in outcome.findings:
                print("      |", str(finding).replace("\n", "\n      | "))
    print(f"{len(programs) - failed} of {len(programs)} programs pass")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
