"""`clarion COMMAND`: thin commands over the library."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

RUN_USAGE = "clarion run [options] script.py [arguments…]\n       clarion run [options] -m module [arguments…]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    argv = list(sys.argv[1:] if argv is None else argv)
    parser, run_parser = _parsers()
    if argv[:1] == ["run"]:
        return _run(run_parser, argv[1:])
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    if args.command == "explain":
        from .explain import explain

        return explain(args.name)
    if args.command == "info":
        from .info import info

        return info(args.name, args.json)
    from .demo import run as demo

    try:
        return demo(epochs=args.epochs, seed=args.seed, lr=args.lr)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def _run(parser: argparse.ArgumentParser, argv: list[str]) -> int:
    own, program = _split(argv)
    args = parser.parse_args(own)
    if not program or program == ["-m"]:
        parser.error("name a script, or a module after -m")
    from .run import Options, run

    return run(program, Options(**vars(args)))


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser of all commands, and that of `clarion run` alone."""
    from ..version import __version__

    parser = argparse.ArgumentParser(
        prog="clarion", description="Automatic differentiation that says out loud what others keep silent."
    )
    parser.add_argument("--version", action="version", version=f"clarion {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run a PyTorch program under diagnosis, on clarion or on PyTorch itself",
        description="Run a PyTorch program under diagnosis: on clarion (`import torch` gives clarion) or on PyTorch itself. "
        "Standard output is the program's alone; so is the exit status, but for 3 (see --strict).",
        usage=RUN_USAGE,
        allow_abbrev=False,
    )
    run.add_argument("--json", metavar="FILE", help="write the findings as JSON")
    run.add_argument("--report", metavar="FILE.html", help="write a report as a page of HTML")
    run.add_argument("--strict", action="store_true", help="stop at the first warning, with exit status 3")
    run.add_argument("--thorough", action="store_true", help="also run the diagnoses that cost time")
    run.add_argument(
        "--engine",
        choices=("auto", "clarion", "torch"),
        default="auto",
        help="what computes; auto: PyTorch where it is installed and the program needs what clarion lacks (default: auto)",
    )
    run.add_argument(
        "--listen-at", metavar="STEP", type=_positive, help="listen closely around this step, to name a line there"
    )
    run.add_argument("--allow", metavar="NAME", action="append", default=[], help="silence a diagnosis (repeatable)")
    explain = commands.add_parser("explain", help="what a diagnosis or an error means, and what to do about it")
    explain.add_argument(
        "name", nargs="?", metavar="NAME", help="as in a finding, or an error's class (default: list all)"
    )
    info = commands.add_parser("info", help="what computes here: backends, kernels, devices, versions, threads")
    info.add_argument("name", nargs="?", metavar="NAME", help="only operations whose name holds this")
    info.add_argument("--json", action="store_true", help="everything, as JSON")
    demo = commands.add_parser("demo", help="train a small network on handwritten digits and watch its gradients")
    demo.add_argument("--epochs", type=_positive, default=5, help="passes over the data (default: 5)")
    demo.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: 0)")
    demo.add_argument("--lr", type=float, default=0.1, help="learning rate (default: 0.1)")
    return parser, run


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """The options of `clarion run`, and the program with its own arguments, which are none of our business."""
    i = 0
    while i < len(argv):
        if argv[i] == "--":
            return argv[:i], argv[i + 1 :]
        if argv[i] == "-m" or not argv[i].startswith("-"):
            break
        i += 2 if argv[i] in ("--json", "--report", "--allow", "--engine", "--listen-at") else 1
    return argv[:i], argv[i:]


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 was expected, not {text!r}")
    return value


if __name__ == "__main__":
    sys.exit(main())
