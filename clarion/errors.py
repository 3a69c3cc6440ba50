"""Exceptions of clarion. The type and the first phrase are PyTorch's; the docstring is the help page.

Every exception carries an explanation after PyTorch's phrase: where it happened in the user's program,
why, and what to change.
"""

from __future__ import annotations

from typing import Any


class Explained(Exception):
    """Base of all of clarion's exceptions. Its text can be sliced like a string (`error[:80]`)."""

    finding: Any = None

    def __getitem__(self, index: int | slice) -> str:
        return str(self)[index]


class LinAlgError(Explained, RuntimeError):
    """A matrix that has no inverse, no Cholesky factor, …"""


class EngineError(Explained, RuntimeError):
    """A rule of automatic differentiation was broken, or an operation cannot be done on these inputs."""


class GraphFreedError(EngineError):
    """The graph was walked before and its saved values are gone.

    `backward()` frees what the forward pass saved, as it goes. Walking the same graph again needs
    either one backward over the sum of the losses (two losses that share a part), or `detach()` on
    the state that is carried from one step to the next (recurrent training).
    """


class LossNotScalarError(EngineError):
    """`backward()` without a gradient needs a root of one element: reduce it with `.mean()` or `.sum()`.

    The two differ by a factor of N in the size of the gradients.
    """


class NoHistoryError(EngineError):
    """The root of `backward()` was not computed from anything that requires a gradient.

    Common causes: it was computed under `no_grad`, or passed through `detach()`, `item()` or NumPy.
    """


class InplaceError(EngineError):
    """A write in place that would make gradients wrong or impossible."""


class SavedValueOverwrittenError(EngineError):
    """A value that the backward pass needs was written in place after it was saved.

    The message names the line that saved it and the line that overwrote it. Write out of place
    (`x = x * 2` for `x *= 2`), or write into a `clone()`.
    """


class ShapeError(EngineError):
    """Shapes that do not fit the operation."""


class DtypeError(EngineError):
    """Data types that do not fit the operation."""


class OutOfMemoryError(EngineError):
    """The device has no memory left for a new tensor.

    Make the batch smaller, accumulate gradients over several small batches, keep less for the backward pass
    (`torch.utils.checkpoint`), or compute in bfloat16 (`torch.autocast`).
    """


class NoDeviceError(AssertionError, EngineError):
    """A device that is not there was asked for, or something only it can do.

    The message says what is missing and how to get it. `torch.cuda.is_available()` asks without raising.
    """


class NoDataError(EngineError, NotImplementedError):
    """Values were asked of a tensor on the `meta` device, which has shape and type only.

    `module.to_empty(device="cpu")` gives a module memory, `load_state_dict(state, assign=True)` values.
    """


class ArgumentTypeError(Explained, TypeError):
    """An argument of the wrong type."""


class ArgumentValueError(Explained, ValueError):
    """An argument with a value that cannot be used."""


class ArgumentIndexError(Explained, IndexError):
    """An index or a dimension out of range."""


class NotSupportedError(Explained, NotImplementedError):
    """Part of PyTorch's surface that clarion does not have yet, named exactly."""


# Diagnoses -----------------------------------------------------------------------------------------


class DiagnosisWarning(UserWarning):
    """Something in the program is silently wrong; `finding` says what, where, why, and what to change.

    Python's warning filters apply. `# clarion: allow NAME` on the line, or `clarion.diagnose.off("NAME")`,
    silences one diagnosis.
    """

    def __init__(self, finding: Any) -> None:
        super().__init__(str(finding))
        self.finding = finding


class DiagnosisError(EngineError):
    """A finding under `clarion run --strict` or `clarion.diagnose.strict()`: warnings are raised."""

    def __init__(self, finding: Any) -> None:
        super().__init__(str(finding))
        self.finding = finding


def not_a_tensor(function: str, argument: str, value: object, position: int | None = None) -> ArgumentTypeError:
    """An argument that should have been a Tensor, said as PyTorch says it."""
    where = "" if position is None else f" (position {position})"
    found = f"{function}(): argument '{argument}'{where} must be Tensor, not {type(value).__name__}"
    kind = type(value)  # no tensor of clarion's, so if it is one it is PyTorch's
    theirs = kind.__name__ in ("Tensor", "Parameter") and kind.__module__.partition(".")[0] == "torch"
    return ArgumentTypeError(found + _BOTH if theirs else found)


_BOTH = (
    "\nIt is a tensor of PyTorch's, in a program that imports clarion, too. In all of its files `torch` should be the same: "
    "run it with `clarion run`, or hand the values over with clarion.from_numpy(x.detach().numpy())."
)


def another_library(function: object) -> ArgumentTypeError:
    """A function of PyTorch's own was given one of clarion's tensors."""
    name = getattr(function, "__name__", function)
    return ArgumentTypeError(
        f"{name}(): argument must be a tensor of PyTorch's, not clarion.Tensor\n"
        f"{name}() is PyTorch's own function, in a program that imports clarion, too. In all of its files `torch` should be "
        "the same: run it with `clarion run`, or hand the values over with torch.from_numpy(x.detach().numpy())."
    )
