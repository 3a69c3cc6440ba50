"""`clarion run script.py`: a program as it was written for PyTorch, under diagnosis.

Standard output belongs to the program: what clarion has to say goes to standard error, and into the files that were asked
for. They are written last of all (by `atexit`), after the program's threads and its own last words.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import json
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from .. import diagnose
from ..children import follow
from ..diagnose.report import terminal
from ..errors import ArgumentValueError, DiagnosisError, DiagnosisWarning
from .engines import NotThere, choose
from .program import Unreadable, run_module, run_script, user_traceback
from .progress import BottomLine

REFUSED, FOUND = 2, 3  # exit statuses besides the program's own


@dataclasses.dataclass
class Options:
    """What the command line asks for."""

    json: str | None = None
    report: str | None = None
    strict: bool = False
    thorough: bool = False
    allow: Sequence[str] = ()
    engine: str = "clarion"
    listen_at: int | None = None


def run(program: Sequence[str], options: Options) -> int:
    """Run `script arguments…` or `-m module arguments…`; returns the exit status."""
    try:
        diagnosis = DiagnosedRun(options)
        chosen = choose(options.engine, program)
        if chosen.why:
            print(f"clarion run: {chosen.why}", file=sys.stderr)
        chosen.prepare()
    except (OSError, ArgumentValueError, NotThere) as error:
        return _refuse(str(error))
    diagnosis.begin(chosen.name)
    try:
        if program[0] == "-m":
            run_module(program[1], program[2:])
        else:
            run_script(program[0], program[1:])
        status = 0
    except Unreadable as error:
        diagnosis.drop()
        return _refuse(str(error))
    except BaseException as error:
        status = diagnosis.ended_by(error)
        if isinstance(error, KeyboardInterrupt):
            diagnosis.status(128 + signal.SIGINT)
            sys.excepthook = _nothing_more  # it was shown
            raise  # only so Python ends as it does when interrupted: by the signal, after all there is to do at exit
    return diagnosis.status(status)


def join(engine: str, shared: str, errors: list[int], options: dict[str, Any]) -> None:
    """This process was started by the program of such a run: it is diagnosed, too, and its findings are told with the others'.

    It says them as well, if its standard error (`errors`) is that of the program: else somebody there reads it.
    """
    if engine != "torch":
        from ..torch_alias import install

        install()
    diagnosis = DiagnosedRun(Options(**options), shared, errors)
    diagnosis.begin(engine)
    if not diagnosis.is_heard():
        warnings.filterwarnings("ignore", category=DiagnosisWarning)


def _standard_error() -> list[int]:
    """Which file it is; empty if it is closed."""
    with contextlib.suppress(OSError, ValueError):
        found = os.fstat(2)
        return [found.st_dev, found.st_ino]
    return []


def _nothing_more(*error: Any) -> None:
    pass


def _refuse(why: str) -> int:
    print(f"clarion run: {why}", file=sys.stderr)
    return REFUSED


class DiagnosedRun:
    """One run of a program: what was found, and where it is to be told.

    shared: the folder in which the processes that the program starts (one of which this is, if there is such a folder already)
    leave what they have found; errors: which file the program's standard error is.
    """

    def __init__(self, options: Options, shared: str | None = None, errors: list[int] | None = None) -> None:
        self.options = options
        self.is_first, self.shared = shared is None, shared
        self.errors = _standard_error() if errors is None else errors
        # The program may go to another folder.
        self.json = _writable(options.json)
        self.report = _writable(options.report)
        self.process = os.getpid()
        self.terminal: TextIO = sys.stderr  # the program may put something else there
        self.error: BaseException | None = None  # what the program died of
        self.exit_status: int | None = None
        self.concluded = self.told = False
        self.line = BottomLine(self.terminal, _progress) if self.is_first and BottomLine.fits(self.terminal) else None
        if options.allow:
            diagnose.off(*options.allow)

    def begin(self, engine: str = "clarion") -> None:
        """From here on the process belongs to the program."""
        if engine == "torch":
            from ..doctor import watch

            watch(strict=self.options.strict, thorough=self.options.thorough, listen_at=self.options.listen_at)
        else:
            self._begin_on_clarion()
        self._follow(engine)
        diagnose._quiet_exit = True
        atexit.unregister(diagnose._at_exit)
        atexit.register(self.tell)
        self._usual_format = warnings.formatwarning
        warnings.formatwarning = self._format_warning  # type: ignore[assignment]
        self._exit_at_once = os._exit
        os._exit = self._tell_and_exit  # type: ignore[assignment]
        for name in ("SIGTERM", "SIGHUP"):  # a scheduler that wants its machine back, a terminal that was closed
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                with contextlib.suppress(ValueError):  # not in the main thread
                    signal.signal(number, self._tell_and_die)
        if self.line is not None:
            self.line.start()

    def _follow(self, engine: str) -> None:
        """Processes that the program starts are told how this one is run."""
        try:
            self.shared = self.shared or tempfile.mkdtemp(prefix="clarion-run-")
        except OSError:  # then each process tells its own
            return
        joining = {
            "engine": engine,
            "shared": self.shared,
            "errors": self.errors,
            "options": dataclasses.asdict(dataclasses.replace(self.options, json=None, report=None)),
        }
        follow(f"{__package__}.run:join", afterwards=engine == "torch", **joining)

    def is_heard(self) -> bool:
        """Does this process write where the program does?"""
        return _standard_error() == self.errors

    def _begin_on_clarion(self) -> None:
        if not diagnose.is_on():  # the environment says off, the command says on
            diagnose.on()
        if self.options.strict:
            diagnose.strict()
        if self.options.thorough:
            diagnose.thorough()
        diagnose.listen_at(self.options.listen_at)

    def drop(self) -> None:
        """There was nothing to run."""
        self.told = True
        if self.line is not None:
            self.line.stop()

    # The end ---------------------------------------------------------------------------------------

    def ended_by(self, error: BaseException) -> int:
        """The exit status of a program that raised `error`, which is shown as Python shows it, or as a finding."""
        self.error = error
        if isinstance(error, SystemExit):
            return _exit_status(error)
        if self.line is not None and os.getpid() == self.process:
            self.line.stop()
        if isinstance(error, DiagnosisError):  # --strict, or the program itself asked for it
            self._say(f"clarion run: stopped by a finding.\n\n{error.finding}\n")
            return FOUND
        error.__traceback__ = user_traceback(error)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1

    def status(self, of_program: int) -> int:
        """The exit status: the program's own, unless it ended well (or because a process of its was stopped) and `--strict` found something."""
        self.exit_status = of_program
        if self.options.strict and os.getpid() == self.process and (of_program == 0 or _left(self.shared)):
            self._conclude()
            if any(finding.level != "info" for finding in self.findings()):
                self.exit_status = FOUND
        return self.exit_status

    def findings(self) -> list[diagnose.Finding]:
        """All findings, with those of the processes that the program started, and that of the exception that ended it."""
        found = self._found()
        last = getattr(self.error, "finding", None)
        if last is not None and last not in found and last.name not in self.options.allow:
            found.append(last)
        return found

    def _found(self) -> list[diagnose.Finding]:
        """What was found here and in other processes: what several of them have found is said once."""
        found = diagnose.findings()
        for other in _left(self.shared):
            if not any((one.name, one.file, one.line) == (other.name, other.file, other.line) for one in found):
                found.append(other)
        return found

    def _conclude(self) -> None:
        """Diagnoses that wait for the end of the program may speak."""
        if not self.concluded:
            self.concluded = True
            with contextlib.suppress(DiagnosisError, DiagnosisWarning):  # it is among the findings
                diagnose._at_exit()

    def tell(self) -> None:
        """Write the files and the summary, once. Processes that the program has started leave what they have found to the first."""
        if self.told:
            return
        self.told = True
        if not self.is_first or os.getpid() != self.process:
            self._leave()
            return
        if self.line is not None:
            self.line.stop()
        self._conclude()
        found, summarized = self.findings(), self._found()
        if self.json is not None:
            self._write(self.json, lambda: as_json(found))
        if self.report is not None:
            self._write(self.report, self._page)
        if not isinstance(self.error, DiagnosisError) or len(found) > 1:  # it was shown at length
            self._say(terminal.summary(diagnose._session, summarized))
        if self.shared is not None:
            shutil.rmtree(self.shared, ignore_errors=True)
        if isinstance(self.error, KeyboardInterrupt):
            with contextlib.suppress(KeyboardInterrupt):
                exec(
                    "raise KeyboardInterrupt"
                )  # Python forgets that it was interrupted when a text is compiled meanwhile

    def _leave(self) -> None:
        """For the first process: what was found here. (A forked one that has not trained has found nothing.)"""
        if diagnose._session is None:
            return
        self._conclude()
        found = diagnose.findings()
        if self.shared is not None and found:
            self._write(os.path.join(self.shared, f"{os.getpid()}.json"), lambda: as_json(found))
        if self.is_heard():
            self._say(terminal.summary(diagnose._session, [] if self.shared is not None else found))

    def _page(self) -> str:
        from ..diagnose.report import html

        return html.page(diagnose._session, self.exit_status, self._found())

    def _write(self, path: str, text: Callable[[], str]) -> None:
        """Write a file whole, or not at all; pipes and devices as they are."""
        from ..serialization.atomic import replacing

        try:
            content = text().encode()
            with replacing(path) as file:
                file.write(content)
        except Exception as error:  # the disk is full, say; the other file and the summary can still be written
            self._say(f"clarion run: {path} was not written: {error}")

    def _say(self, text: str) -> None:
        if text:
            with contextlib.suppress(OSError, ValueError):  # closed
                if sys.stdout is not None:
                    sys.stdout.flush()  # what was printed before stands before
                print(self._fit(text), file=self.terminal, flush=True)

    def _fit(self, text: str) -> str:
        """The text with lines as wide as the terminal, broken between words."""
        if not self.terminal.isatty():
            return text
        width = max(shutil.get_terminal_size().columns - 1, 40)
        fill = functools.partial(textwrap.fill, width=width, break_long_words=False, break_on_hyphens=False)
        return "\n".join(fill(line, subsequent_indent="    ") for line in text.split("\n"))

    def _format_warning(self, message: Any, category: Any, file: str, line: int, source: str | None = None) -> str:
        """A finding names its line itself, and says more than the line says."""
        if isinstance(message, DiagnosisWarning):
            return self._fit(f"clarion: {message}") + "\n"
        return self._usual_format(message, category, file, line, source)

    def _tell_and_die(self, number: int, frame: Any) -> None:
        """A signal ends the program, as it would without clarion; a forked process dies silently."""
        self.exit_status = 128 + number
        self.tell()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _tell_and_exit(self, status: int) -> Any:
        """`os._exit` calls nothing of what was registered."""
        self.exit_status = status
        self.tell()
        self._exit_at_once(status)


def as_json(findings: Sequence[diagnose.Finding]) -> str:
    """A list of objects with the fields of a finding."""
    return json.dumps([finding.as_dict() for finding in findings], indent=2) + "\n"


def _left(folder: str | None) -> list[diagnose.Finding]:
    """What other processes have left in the folder; one that was killed as it wrote has left nothing."""
    found = []
    for path in sorted(Path(folder or os.devnull).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError):
            found += [diagnose.Finding(**fields) for fields in json.loads(path.read_text())]
    return found


def _writable(path: str | None) -> str | None:
    """The full path of a file to be written; refused at the beginning rather than after hours of training."""
    if path is None:
        return None
    full = os.path.abspath(path)
    folder = os.path.dirname(full)
    if os.path.isdir(full):
        raise OSError(f"cannot write {path}: it is a folder")
    if not os.path.isdir(folder):
        raise OSError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(full if os.path.exists(full) else folder, os.W_OK):
        raise OSError(f"cannot write {path}: permission denied")
    return full


def _exit_status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1


def _progress() -> str:
    """`clarion  step 120  loss 0.3142  2 findings`; empty before the first step."""
    session = diagnose._session
    if session is None or session.steps() == 0:
        return ""
    parts = ["clarion", f"step {session.steps()}"]
    last = session.ledger.last_backward
    if last is not None and last.loss is not None:
        parts.append(f"loss {last.loss:.4g}")
    count = len(session.findings)
    parts.append(f"{count} finding{'s' * (count != 1)}")
    return "  ".join(parts)
