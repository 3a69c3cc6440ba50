"""`clarion COMMAND`: thin commands over the library."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    from .. import __version__

    parser = argparse.ArgumentParser(
        prog="clarion", description="Automatic differentiation that says out loud what others keep silent."
    )
    parser.add_argument("--version", action="version", version=f"clarion {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser("demo", help="train a small network on handwritten digits and watch its gradients")
    demo.add_argument("--epochs", type=_positive, default=5, help="passes over the data (default: 5)")
    demo.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: 0)")
    demo.add_argument("--lr", type=float, default=0.1, help="learning rate (default: 0.1)")
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    from .demo import run

    try:
        return run(epochs=args.epochs, seed=args.seed, lr=args.lr)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


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
