"""Run programs under diagnosis on PyTorch's own engine, each in a process forked from one that has imported everything.

python -m tests.doctor.harness PATH...      # which cases pass; -v shows the findings, -j N processes at a time
python -m tests.doctor.harness --output …   # and whether they print the same without us
python -m tests.doctor.harness --compile WAY …   # parts of them compiled (compiling.py); --backend aot_eager, or another
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import io
import math
import multiprocessing
import os
import pickle
import re
import runpy
import sys
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.diagnose.harness import CASES, Outcome, complaints, marks_of
from tests.doctor import compiling


@dataclass
class Compiled(Outcome):
    """What a program did of which parts were compiled; how many graphs there were, and what became of its modules."""

    graphs: dict[str, int] = field(default_factory=dict)
    state: float = 0.0


@dataclass(frozen=True)
class How:
    """How a program is run."""

    thorough: bool = False
    watched: bool = True
    way: str = ""  # what of it is compiled (compiling.py)
    backend: str = "aot_eager"


def run_here(path: Path, how: How) -> Compiled:
    """Run a program in this process (which it may leave in any state)."""
    import torch

    import clarion.doctor

    torch.set_num_threads(1)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.resolve().parent))
    error: BaseException | None = None
    output = io.StringIO()
    watch = clarion.doctor.watch(thorough=how.thorough) if how.watched else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with contextlib.redirect_stdout(output):
                _execute(path, how)
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
    return Compiled(found, error, output.getvalue(), graphs=_graphs() if how.way else {}, state=_state())


def _state() -> float:
    """One number for all parameters and buffers that are there: does it train to the same end?"""
    import torch

    modules = [found for found in gc.get_objects() if issubclass(type(found), torch.nn.Module)]
    every = {id(t): t for module in modules for t in (*module.parameters(), *module.buffers()) if t is not None}
    return sum(float(t.detach().double().abs().sum()) for t in every.values() if t.is_floating_point())


_kept: dict[str, Any] = {}  # the variables of a program that has ended


def _execute(path: Path, how: How) -> None:
    if not how.way:
        _kept.update(runpy.run_path(str(path), run_name="__main__"))
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__.update(compiling.names_for(how.backend), __file__=str(path))
    code = compiling.compiled(path, how.way)
    if code is not None:
        exec(code, main.__dict__)


def _graphs() -> dict[str, int]:
    from torch._dynamo.utils import counters

    return dict(counters["stats"])


def _child(path: Path, how: How, pipe: Any) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # loggers, too
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # the tests are no part of the program, whose files may be read
    try:
        outcome = run_here(path, how)
        text = None if outcome.error is None else "".join(traceback.format_exception(outcome.error)[-12:])
        pipe.send((outcome.findings, text, outcome.output, outcome.graphs, outcome.state))
    except BaseException as error:
        pipe.send(([], f"{type(error).__name__}: {error}", "", {}, 0.0))
    finally:
        pipe.close()
        os._exit(0)


@functools.cache
def prepare(compiler: bool = False) -> None:
    """Import here what every program would import anew: PyTorch loads much of itself with the first optimizer."""
    import torch

    import clarion.doctor.watching

    with clarion.doctor.watch():
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
    if compiler:
        torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(1, requires_grad=True)).sum().backward()
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
    gc.freeze()  # children copy fewer pages


def run(path: Path, thorough: bool = False, watched: bool = True, limit: float = 300.0, **how: str) -> Compiled:
    """Run a program in a forked process."""
    prepare("way" in how)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(path, How(thorough, watched, **how), theirs))
    child.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(limit) else ([], "it took too long", "", {}, 0.0)
    except (EOFError, pickle.UnpicklingError):
        answer = [], "it died", "", {}, 0.0
    child.kill()
    child.join()
    findings, error, output, graphs, state = answer
    return Compiled(findings, None if error is None else RuntimeError(error), output, graphs=graphs, state=state)


_SAME = 1e-4  # of the state of all modules: compiled code rounds otherwise
_PRINTED = 1e-2  # of what is printed, which is rounded
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def _is_the_same(one: Compiled, other: Compiled) -> bool:
    """Do they end with the same modules, and print the same numbers?"""
    printed = [[float(number) for number in _NUMBER.findall(each.output)] for each in (one, other)]
    return (
        (
            math.isclose(one.state, other.state, rel_tol=_SAME)
            or math.isnan(one.state) is math.isnan(other.state) is True
        )
        and len(printed[0]) == len(printed[1])
        and all(math.isclose(*pair, rel_tol=_PRINTED, abs_tol=_PRINTED) for pair in zip(*printed, strict=True))
    )


def judge(path: Path, compared: bool, **how: str) -> tuple[Path, Compiled, list[str] | None]:
    """What a program did, and what is wrong with that.

    None where PyTorch itself does not run it compiled, compiles nothing, or makes another program of it: one that trains to another
    end than as it is written (a region that is not run again, a NumPy buffer that is no longer shared).
    """
    if how and compiling.compiled(path, how["way"]) is None:
        return path, Compiled([], None, ""), None
    outcome = run(path, thorough="custom-backward-wrong" in str(path), **how)
    wrong = complaints(path, outcome)
    if not compared and not (how and wrong):
        return path, outcome, wrong
    alone = run(path, watched=False, **how)
    if how and (not alone.graphs.get("unique_graphs") or (alone.error is None) is bool(marks_of(path).errors)):
        return path, outcome, None
    if how and wrong and not _is_the_same(alone, run(path, watched=False)):
        print("other " + "/".join(path.parts[-2:]), "is another program when it is compiled:", *wrong, flush=True)
        return path, outcome, None
    if alone.output != outcome.output:
        wrong.append("its output is another one without us")
    if alone.graphs != outcome.graphs:
        wrong.append(f"its graphs are others without us: {alone.graphs}, not {outcome.graphs}")
    return path, outcome, wrong


def main(arguments: list[str]) -> int:
    """Print which programs pass."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", type=Path, default=[CASES])
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--output", action="store_true")
    parser.add_argument("--compile", dest="way", choices=compiling.WAYS)
    parser.add_argument("--backend", default="aot_eager")
    parser.add_argument("--only", default="", help="those with this in their names: broken, clean")
    parser.add_argument("--every", type=int, default=1, help="one program in so many")
    chosen = parser.parse_args(arguments)
    programs = sorted(p for path in chosen.paths for p in (path.rglob("*.py") if path.is_dir() else [path]))
    programs = [path for path in programs if chosen.only in path.name][:: chosen.every]
    how = {"way": chosen.way, "backend": chosen.backend} if chosen.way else {}
    prepare(bool(how))
    failed = left_out = 0
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for path, outcome, wrong in pool.map(lambda each: judge(each, chosen.output, **how), programs):
            failed += bool(wrong)
            left_out += wrong is None
            if wrong or chosen.verbose:
                print(("FAIL " if wrong else "ok   ") + "/".join(path.parts[-2:]), flush=True)
            for text in wrong or ():
                print("     ", text)
            if chosen.verbose:
                for finding in outcome.findings:
                    print("      |", str(finding).replace("\n", "\n      | "))
    total = len(programs) - left_out
    print(f"{total - failed} of {total} programs pass" + f", {left_out} cannot be compiled" * bool(left_out))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
