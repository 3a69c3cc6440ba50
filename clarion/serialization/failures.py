"""Exceptions of saving and loading: PyTorch's types and phrases."""

from __future__ import annotations

import pickle
import re

from ..errors import EngineError, Explained

UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. "
    "Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code "
    "execution. Do it only if you got the file from a trusted source."
)


class FileDamagedError(EngineError):
    """A checkpoint that is truncated, corrupt, or says things about itself that are not true.

    The message names the record of the archive (`data/3` is the memory of one or more tensors) and what is
    wrong with it. Nothing was loaded.
    """


class RefusedError(Explained, pickle.UnpicklingError):
    """`load(weights_only=True)` met something that is neither a tensor nor plain data, by its name.

    With the default `weights_only=True` a file can only build tensors, numbers, strings, lists, tuples, dicts and
    sets: nothing in it is run. If you trust the file, allow the class with
    `torch.serialization.add_safe_globals([...])`, or load with `weights_only=False`.
    """


class TruncatedError(RefusedError, EOFError):
    """The pickle ends before it is complete."""


def refused_load(message: str) -> str:
    """The whole text of a failed `weights_only=True` load around the reason."""
    if re.search(r"GLOBAL (\S+) was not an allowed global by default", message) and "is blocked" not in message:
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps "
            f"only if you trust the source of the checkpoint. \n\t(1) {UNSAFE}\n\t(2) Alternatively, to load with "
            "`weights_only=True` please check the recommended steps in the following error message.\n"
            f"\tWeightsUnpickler error: {message}"
        )
    return f"Weights only load failed. {UNSAFE}\n\nWeightsUnpickler error: {message}"
