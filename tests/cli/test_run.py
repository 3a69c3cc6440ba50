"""`clarion run`: the program runs as Python runs it, and what is found reaches standard error and the files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import clarion
from clarion.cli.main import main

ROOT = Path(clarion.__file__).resolve().parent.parent
FIELDS = {"name", "level", "file", "line", "also", "step", "what", "why", "fix", "silence"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """In which a fresh interpreter knows where clarion is, and diagnoses."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS", "CLARION_DIAGNOSE", "CLARION_DIAGNOSE_ALLOW"):
        env.pop(name, None)
    return env


@pytest.fixture(scope="module")
def python(environment):
    """`python(*arguments)` runs a fresh interpreter; text in, text out."""

    def run(*args: object, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, args)]
        return subprocess.run(
            command, capture_output=True, text=True, input=stdin, cwd=cwd, env=environment, timeout=120
        )

    return run


@pytest.fixture
def run(python, tmp_path):
    """`run(*arguments)` is `clarion run arguments…` in a fresh folder."""
    return lambda *args: python("-m", "clarion", "run", "--engine", "clarion", *args, cwd=tmp_path)


# As Python runs it -------------------------------------------------------------------------------------------

FACTS = """
import argparse, os, pickle, sys
import beside

class Thing:
    def __eq__(self, other): return type(other) is Thing

parser = argparse.ArgumentParser()
parser.add_argument("--json")
parser.add_argument("rest", nargs="*")
print(parser.parse_args(), sys.argv, beside.x)
print(__name__, __file__, __package__, __spec__, __doc__, sys.path[0], len(sys.path))
print(repr(sys.stdin.read()), pickle.loads(pickle.dumps(Thing())) == Thing())
assert sys.modules["__main__"].Thing is Thing
if __name__ == "__main__":
    print("guarded", file=sys.stderr)
sys.exit(7)
"""
LAST_WORDS = """
import atexit, threading, time
from concurrent.futures import ThreadPoolExecutor
atexit.register(print, "at exit")
ThreadPoolExecutor(1).submit(time.sleep, 0)  # its thread idles until the interpreter ends it
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
print("main")
raise SystemExit("last words")
"""
CHAINED = (
    "def f():\n    try:\n        {}['x']\n    except KeyError as e:\n        raise ValueError('mine') from e\nf()\n"
)
HOOK = "import sys\nsys.excepthook = lambda kind, value, trace: print(kind, value, trace.tb_lineno)\n1 / 0\n"
AT_ONCE = "import os\nprint('flushed', flush=True)\nprint('lost')\nos._exit(9)\n"


@pytest.mark.parametrize(
    "source",
    [FACTS, LAST_WORDS, CHAINED, HOOK, AT_ONCE, "x = (\n"],
    ids="facts last_words chained hook at_once syntax".split(),
)
def test_as_python_runs_it(python, tmp_path, source):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "train.py").write_text(source)
    (tmp_path / "there" / "beside.py").write_text("x = 3\n")
    program = ["there/train.py", "a", "--json", "x", "--", "--strict"]
    plain = python(*program, cwd=tmp_path, stdin="one\ntwo")
    ours = python("-m", "clarion", "run", "--engine", "clarion", *program, cwd=tmp_path, stdin="one\ntwo")
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert plain.stdout or plain.stderr


def test_modules(python, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("name = 'relative'\n")
    facts = "import sys\nfrom . import name\nprint(name, __name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0])\n"
    (package / "__main__.py").write_text(facts)
    (package / "failing.py").write_text(facts + "import package.missing\n")
    for module in ("package", "package.failing"):
        program = ["-m", module, "--report", "x"]
        plain, ours = (
            python(*command, *program, cwd=tmp_path)
            for command in ([], ["-m", "clarion", "run", "--engine", "clarion"])
        )
        assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
        # Python shows itself above the user's first line.
        assert ours.stderr == re.sub(r'  File "<frozen runpy>".*\n', "", plain.stderr)


def test_worker_processes_know_the_alias(run, tmp_path):
    source = """
import os
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.tensor([float(i)])

if __name__ == "__main__":
    os.chdir("/")
    for method in ("fork", "spawn"):
        loader = DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context=method)
        print(method, [batch.sum().item() for batch in loader])
"""
    (tmp_path / "train.py").write_text(source)
    done = run("train.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "fork [1.0, 5.0]\nspawn [1.0, 5.0]\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (["missing.py"], "cannot read missing.py: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (["-m", "missing.module"], "no module named missing.module"),
    ],
)
def test_no_program(run, tmp_path, program, message):
    done = run("--json", "found.json", *program)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"clarion run: {message}\n")
    assert not list(tmp_path.iterdir())


# What is found -----------------------------------------------------------------------------------------------

TRAIN = """
import sys
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.ones(3, 2)).mean().backward()  # ALSO
    try:
        optimizer.step()  # HERE
    except Exception as error:
        if "catch" not in sys.argv: raise
        print(type(error).__name__)
print("trained", torch.__version__.partition("+")[2])
"""
FORK = "import os\nif os.fork() == 0:\n    sys.exit(5)\nprint(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)\nos._exit(4)\n"
RAISE = """
import clarion
error = clarion.errors.EngineError("mine")
error.finding = clarion.diagnose.Finding("graph-freed", "error", __file__, 1, "what", "why", "fix")
raise error
"""
INTERRUPT = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"


@pytest.fixture
def diagnosed(run, tmp_path):
    """Runs TRAIN, and what comes after it, with options; returns the finished process and the findings in JSON."""

    def diagnosed(*options: str, then: str = "", arguments: tuple[str, ...] = ()):
        (tmp_path / "train.py").write_text(TRAIN + then)
        done = run(*options, "--json", "found.json", "train.py", *arguments)
        assert {*os.listdir(tmp_path)} <= {"found.json", "found.html", "train.py"}  # nothing is left lying about
        return done, json.loads((tmp_path / "found.json").read_text())

    return diagnosed


def line_of(mark: str) -> int:
    return TRAIN.splitlines().index(next(line for line in TRAIN.splitlines() if line.endswith(mark))) + 1


def check(found: list[dict], file: Path) -> None:
    """Exactly the finding of TRAIN."""
    (finding,) = found
    assert set(finding) == FIELDS
    assert (finding["name"], finding["level"]) == ("stale-gradient", "warn")
    assert (finding["file"], finding["line"]) == (str(file), line_of("# HERE"))
    assert finding["also"] == [{"file": str(file), "line": line_of("# ALSO")}]


def test_findings_reach_files_and_standard_error(diagnosed, tmp_path):
    (tmp_path / "found.html").write_text("")
    done, found = diagnosed("--report", "found.html")
    assert (done.returncode, done.stdout) == (0, "trained clarion\n")
    assert "stale-gradient" in (tmp_path / "found.html").read_text()
    check(found, tmp_path / "train.py")
    assert done.stderr.startswith(f"clarion: stale-gradient train.py:{line_of('# HERE')}. ")
    assert done.stderr.count("clarion: 1 finding\n") == 1


def test_forks_and_exits_at_once(diagnosed, tmp_path):
    done, found = diagnosed(then=FORK)
    assert (done.returncode, done.stdout) == (4, "trained clarion\n5\n")
    check(found, tmp_path / "train.py")
    assert done.stderr.count("clarion: 1 finding\n") == 1


def test_an_interrupt_loses_nothing(diagnosed, tmp_path):
    done, found = diagnosed(then=INTERRUPT)
    assert done.returncode == -signal.SIGINT  # as without us
    assert done.stderr.count("KeyboardInterrupt") == 1
    check(found, tmp_path / "train.py")


def test_an_exception_is_shown_and_its_finding_written(diagnosed):
    done, found = diagnosed("--allow", "stale-gradient", then=RAISE)
    assert (done.returncode, done.stdout) == (1, "trained clarion\n")
    trace = r'Traceback.*\n  File ".*train\.py", line \d+, in <module>\n    raise error\nclarion\.errors\.EngineError: mine\n'
    assert re.match(trace, done.stderr)
    assert "stale-gradient" not in done.stderr
    assert [(finding["name"], finding["level"], set(finding)) for finding in found] == [
        ("graph-freed", "error", FIELDS)
    ]


def test_strict_stops_at_the_line(diagnosed, tmp_path):
    done, found = diagnosed("--strict")
    assert (done.returncode, done.stdout) == (3, "")
    check(found, tmp_path / "train.py")
    assert done.stderr.startswith("clarion run: stopped by a finding.\n\nstale-gradient train.py:")
    assert "Fix: " in done.stderr
    assert "Traceback" not in done.stderr


def test_strict_is_not_talked_out_of_it(diagnosed, tmp_path):
    done, found = diagnosed("--strict", arguments=("catch",))
    assert (done.returncode, done.stdout) == (3, "DiagnosisError\ntrained clarion\n")
    check(found, tmp_path / "train.py")


def test_allowed_is_silent(diagnosed):
    done, found = diagnosed("--strict", "--allow", "stale-gradient", "--thorough")
    assert (done.returncode, done.stdout, done.stderr, found) == (0, "trained clarion\n", "", [])


# The command line --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--allow", "stale-gradeint", "x.py"], "no diagnosis is called 'stale-gradeint'; did you mean stale-gradient"),
        (["--json", "no/such/folder/x.json", "x.py"], "cannot write no/such/folder/x.json: there is no folder"),
        (["--report", ".", "x.py"], "cannot write .: it is a folder"),
    ],
)
def test_refused_before_anything_runs(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"clarion run: {message}")


@pytest.mark.parametrize(
    "arguments", [[], ["-m"], ["--strict"], ["--wrong", "x.py"], ["--json"], ["--js", "x", "x.py"]]
)
def test_usage(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(["run", *arguments])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: clarion run [options] script.py [arguments…]")


# The terminal ------------------------------------------------------------------------------------------------


def test_progress_has_a_row_of_its_own(environment, tmp_path):
    pty = pytest.importorskip("pty", reason="needs pty")
    more = "import time\ntime.sleep(0.6)\nmodel(torch.ones(3, 2)).mean().backward()\n"
    (tmp_path / "train.py").write_text(TRAIN + more)
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    env = {**environment, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-m", "clarion", "run", "--engine", "clarion", "--allow", "stale-gradient", "train.py"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, cwd=tmp_path, env=env, timeout=60)
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stdout) == (0, b"trained clarion\n")
    assert re.search(r"\x1b\[24;1H\x1b\[2K\x1b\[2mclarion  step 4  loss -?\d.*?  0 findings\x1b\[0m\x1b8", shown)
    assert "\x1b[1;23r" in shown  # the last row no longer scrolls
    assert shown.endswith("\x1b[r\x1b[24;1H\x1b[2K\x1b8")  # and is given back


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_findings_are_written_when_a_signal_ends_the_program(run, tmp_path, number):
    program = tmp_path / "train.py"
    program.write_text(
        "import os, signal, torch\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(3):\n"
        "    (w * 2).sum().backward()\n"
        "    optimizer.step()\n"
        f"os.kill(os.getpid(), {int(number)})\n"
    )
    found = tmp_path / "found.json"
    assert run("--json", found, program).returncode == -number
    assert [finding["name"] for finding in json.loads(found.read_text())] == ["stale-gradient"]
