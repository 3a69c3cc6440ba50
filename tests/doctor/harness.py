"""Run programs under diagnosis on PyTorch's own engine, each in a process forked from one that has imported everything.

python -m tests.doctor.harness PATH...      # which cases pass; -v shows the findings, -j N processes at a time
python -m tests.doctor.harness --output …   # and whether they print the same without us
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import multiprocessing
import os
import pickle
import runpy
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.diagnose.harness import CASES, Outcome, complaints


def run_here(path: Path, thorough: bool = False, watched: bool = True) -> Outcome:
    """Run a program in this process (which it may leave in any state)."""
    import torch

    import clarion.doctor

    torch.set_num_threads(1)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.resolve().parent))
    error: BaseException | None = None
    output = io.StringIO()
    watch = clarion.doctor.watch(thorough=thorough) if watched else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with contextlib.redirect_stdout(output):
                runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as raised:
            if not (isinstance(raised, SystemExit) and raised.code in (None, 0)):
                error = raised
        if watch is not None:
            watch.stop()
    found = [] if watch is None else watch.findings
    carried = getattr(error, "finding", None)
    if carried is not None and carried not in found:
        found.append(carried)
    if watch is not None and watch._session.failures:
        name, failure = next(iter(watch._session.failures.items()))
        text = "".join(traceback.format_exception(failure))
        error = AssertionError(f"{name} failed: {text}")
    return Outcome(found, error, output.getvalue())


def _child(path: Path, thorough: bool, watched: bool, pipe: Any) -> None:
    sys.stderr = open(os.devnull, "w")
    try:
        outcome = run_here(path, thorough, watched)
        text = None if outcome.error is None else "".join(traceback.format_exception(outcome.error)[-12:])
        pipe.send((outcome.findings, text, outcome.output))
    except BaseException as error:
        pipe.send(([], f"{type(error).__name__}: {error}", ""))
    finally:
        pipe.close()
        os._exit(0)


@functools.cache
def prepare() -> None:
    """Import here what every program would import anew: PyTorch loads much of itself with the first optimizer."""
    import torch

    import clarion.doctor.watching

    with clarion.doctor.watch():
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
    gc.freeze()  # children copy fewer pages


def run(path: Path, thorough: bool = False, watched: bool = True, limit: float = 300.0) -> Outcome:
    """Run a program in a forked process."""
    prepare()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(path, thorough, watched, theirs))
    child.start()
    theirs.close()
    try:
        findings, error, output = ours.recv() if ours.poll(limit) else ([], "it took too long", "")
    except (EOFError, pickle.UnpicklingError):
        findings, error, output = [], "it died", ""
    child.kill()
    child.join()
    return Outcome(findings, None if error is None else RuntimeError(error), output)


def main(arguments: list[str]) -> int:
    """Print which programs pass."""
    prepare()
    verbose, compared = "-v" in arguments, "--output" in arguments
    at_once = int(arguments[arguments.index("-j") + 1]) if "-j" in arguments else 2
    names = [a for i, a in enumerate(arguments) if not a.startswith("-") and (not i or arguments[i - 1] != "-j")]
    paths = [Path(a) for a in names] or [CASES]
    programs = sorted(p for path in paths for p in (path.rglob("*.py") if path.is_dir() else [path]))

    def judged(path: Path) -> tuple[Path, Outcome, list[str]]:
        outcome = run(path, thorough="custom-backward-wrong" in str(path))
        wrong = complaints(path, outcome)
        if compared and run(path, watched=False).output != outcome.output:
            wrong.append("its output is another one without us")
        return path, outcome, wrong

    failed = 0
    with ThreadPoolExecutor(at_once) as pool:
        for path, outcome, wrong in pool.map(judged, programs):
            failed += bool(wrong)
            if wrong or verbose:
                print(("FAIL " if wrong else "ok   ") + "/".join(path.parts[-2:]), flush=True)
            for text in wrong:
                print("     ", text)
            if verbose:
                for finding in outcome.findings:
                    print("      |", str(finding).replace("\n", "\n      | "))
    print(f"{len(programs) - failed} of {len(programs)} programs pass")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
