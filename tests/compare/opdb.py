"""Compares clarion's operations with PyTorch's operator database.

    python -m tests.compare.opdb [NAME ...] [--dtype float64] [--verbose] [--summary]

For each sample of each entry the function, method, in-place, out= and operator
variants and the aliases are called in both libraries; values, shapes, dtypes,
requires_grad, gradients and second derivatives must agree.  Then the entry's
error inputs must raise the same exception types.  Without names, the lists in
opnames.py are run.  `--self` compares PyTorch with itself, to test this harness.
"""

import argparse
import collections
import dataclasses
import fnmatch
import importlib
import re
import sys
import time
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

from . import precision, resolve
from .check import Derivatives, explain, flatten, same_results
from .convert import Converter, Missing, describe_sample, from_array, name_of
from .opnames import EXTRA, REQUIRED

FLOATS = (torch.float64, torch.float32)
WITH_GRADS = (*FLOATS, torch.complex128)
# The 8-bit floats and packed integers of some entries are out of scope.
DTYPES = """
    float64 float32 float16 bfloat16 complex128 complex64 complex32
    int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool
""".split()


def _random_dropout(kwargs, key="p", default=0.5):
    return kwargs.get("training", True) and 0 < kwargs.get(key, default) < 1


# Entries whose values depend on nothing: only shapes, dtypes and flags are compared.
UNINITIALISED = ("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")

# Entries whose values are random for some samples.  Both libraries are seeded
# alike, so `--random` can compare the values too.
RANDOM = {
    "rand_like": lambda kwargs: True,
    "randn": lambda kwargs: True,
    "randn_like": lambda kwargs: True,
    "nn.functional.dropout": _random_dropout,
    "nn.functional.rrelu": lambda kwargs: kwargs.get("training", False),
    "nn.functional.scaled_dot_product_attention": lambda kwargs: _random_dropout(kwargs, "dropout_p", 0.0),
}


# The signs (or phases) of singular vectors and eigenvectors are free: what is compared is what the entry's sample makes
# of the result (absolute values, products), which does not depend on them.
FREE_SIGNS = ("svd", "svd_lowrank", "pca_lowrank", "linalg.svd", "linalg.eig", "linalg.eigh", "to_sparse")


@dataclasses.dataclass
class Failure:
    op: str
    dtype: str
    variant: str
    index: int
    kind: str
    message: str
    sample: str

    def __str__(self):
        return f"{self.op} {self.dtype} #{self.index} {self.variant}: {self.kind}: {self.message}  <- {self.sample}"


@dataclasses.dataclass
class Report:
    """The outcome of one entry in one dtype (or of its error inputs)."""

    op: str
    dtype: str
    total: int = 0
    failures: list = dataclasses.field(default_factory=list)
    # Right exception types whose text differs: told, but not counted.
    messages: list = dataclasses.field(default_factory=list)

    @property
    def passed(self):
        return self.total - len({failure.index for failure in self.failures})


def full_name(op):
    return f"{op.name}/{op.variant_test_name}" if op.variant_test_name else op.name


def entries(names):
    """Entries by name; failing that by alias, short name or pattern."""
    found = []
    for name in names:
        matching = [op for op in op_db if name in (op.name, full_name(op))]
        matching = matching or [op for op in op_db if _goes_by(op, name)]
        if not matching:
            sys.exit(f"the operator database has no entry {name}")
        found += [op for op in matching if op not in found]
    return found


def _goes_by(op, name):
    others = [alias.name for alias in op.aliases or ()]
    others += [op.name.removeprefix(prefix) for prefix in ("nn.functional.", "linalg.")]
    return name in others or fnmatch.fnmatchcase(op.name, name)


def dtypes_of(op, everything=False):
    """float64 and float32; for an entry without them, what it has instead."""
    floats = [dtype for dtype in FLOATS if dtype in op.dtypes]
    if everything:
        named = {name_of(dtype): dtype for dtype in op.dtypes}
        return [named[name] for name in DTYPES if name in named]
    if floats:
        return floats
    others = (torch.complex128, torch.int64, torch.bool)
    return [dtype for dtype in others if dtype in op.dtypes]


class Case:
    """One sample in one variant."""

    def __init__(self, lib, op, variant, sample, random=False):
        self.lib, self.op, self.variant, self.sample = lib, op, variant, sample
        self.random = random
        self.inplace = variant.startswith("inplace")
        self.with_grad = variant in ("function", "method", "inplace", "operator")
        self.is_random = op.name in RANDOM and RANDOM[op.name](sample.kwargs)
        self.values = op.name not in UNINITIALISED and (random or not self.is_random)
        kinds = ("UnaryUfuncInfo", "BinaryUfuncInfo")
        self.elementwise = type(op).__name__ in kinds

    def with_sample(self, sample):
        return Case(self.lib, self.op, self.variant, sample, self.random)

    def applies(self):
        sample = self.sample
        if self.variant.endswith("operator"):
            return not sample.kwargs and len(sample.args) <= 1
        takes_self = self.variant == "method" or self.inplace or "Tensor." in self.variant
        return isinstance(sample.input, torch.Tensor) or not takes_self

    def settled(self, result):
        """The result without what is free in it."""
        return self.sample.output_process_fn_grad(result) if self.op.name in FREE_SIGNS else result

    def call(self, lib, finder, out=None):
        """Runs the variant in one library: (result, leaves)."""
        views = self.op.name.startswith("as_strided")
        convert = Converter(lib, with_grad=self.with_grad, exact_views=views)
        first, args = convert(self.sample.input), convert(self.sample.args)
        kwargs = convert(self.sample.kwargs)
        if out is not None:
            kwargs["out"] = out
        function = finder(lib)
        if not self.inplace:
            return function(first, *args, **kwargs), convert.leaves
        target = first.clone()
        result = function(target, *args, **kwargs)
        # Users rely on both the returned tensor and the changed one.
        return (result, target, result is target), convert.leaves

    def compare(self, finder):
        """None, or (kind, message)."""
        if self.variant == "out":
            return self._compare_out(finder)
        try:
            expected, leaves = self.call(torch, finder)
        except Exception as error:
            return self._compare_refusal(finder, error)
        try:
            actual, lib_leaves = self.call(self.lib, finder)
        except Missing as error:
            return "missing", str(error)
        except Exception as error:
            return "exception", explain(error)
        try:
            expected, actual = self.settled(expected), self.settled(actual)
        except Exception as error:
            return "exception", explain(error)
        difference = self._compare_values(expected, actual)
        if difference or self.variant not in ("function", "inplace"):
            return difference
        both = Derivatives(self.lib, expected, actual, leaves, lib_leaves, self.values)
        return both.compare(self._wants_second(leaves))

    def _compare_values(self, expected, actual):
        try:
            return same_results(self.lib, expected, actual, self.values, self.elementwise)
        except Exception as error:
            # Reading a result can itself fail while the library is unfinished.
            return "exception", "while reading the result: " + explain(error)

    def excused(self, finder, kind):
        """Whether a difference is only PyTorch's own rounding."""
        # The random streams of the two precisions have nothing in common.
        if kind not in ("value", "grad") or self.is_random:
            return False
        try:
            return precision.as_good(self, finder)
        except Exception:
            return False

    def _wants_second(self, leaves):
        precise = all(leaf.dtype in (torch.float64, torch.complex128) for leaf in leaves)
        return precise and self.op.supports_gradgrad and self.variant == "function"

    def _compare_refusal(self, finder, expected):
        """PyTorch refuses some samples (in-place with a broadcast input)."""
        try:
            self.call(self.lib, finder)
        except Missing as error:
            return "missing", str(error)
        except Exception as error:
            return None if same_error(type(expected), error) else ("error-type", explain(error))
        return "error-type", f"expected {type(expected).__name__}, nothing was raised: {expected}"

    def _compare_out(self, finder):
        try:
            expected, _ = self.call(torch, finder)
            self.call(torch, finder, out=_room_for(torch, expected))
        except Exception:
            return None  # this overload takes no out= in PyTorch
        try:
            out = _room_for(self.lib, expected)
            actual, _ = self.call(self.lib, finder, out=out)
        except Missing as error:
            return "missing", str(error)
        except Exception as error:
            return "exception", explain(error)
        if any(a is not b for a, b in zip(flatten(actual), flatten(out), strict=True)):
            return "type", "the result is not the tensor given as out="
        return self._compare_values(self.settled(expected), self.settled(actual))


def _room_for(lib, expected):
    """Zeroed out= tensors for an expected result."""
    if isinstance(expected, (list, tuple)):
        return tuple(_room_for(lib, item) for item in expected)
    zeros = torch.zeros(expected.shape, dtype=torch.float64).numpy()
    return from_array(lib, zeros, name_of(expected.dtype))


def same_error(expected_type, error):
    # NotImplementedError is a RuntimeError: without this an operation that is
    # not written yet would pass for one that refuses its input.
    if isinstance(error, NotImplementedError):
        return expected_type is NotImplementedError
    return isinstance(error, expected_type)


def compare_op(lib, op, dtype, random=False):
    """All samples and variants of one entry in one dtype."""
    report = Report(full_name(op), name_of(dtype))
    grad = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    grad = grad and dtype in WITH_GRADS
    for index, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=grad)):
        report.total += 1
        for variant, finder in resolve.variants(op):
            case = Case(lib, op, variant, sample, random)
            if not case.applies():
                continue
            difference = case.compare(finder)
            if difference and case.excused(finder, difference[0]):
                difference = None
            if difference:
                kind, message = difference
                text = describe_sample(sample) if kind != "missing" else "every sample"
                record = Failure(report.op, report.dtype, variant, index, kind, message, text)
                report.failures.append(record)
    return report


def compare_errors(lib, op):
    """The error inputs of one entry."""
    report = Report(full_name(op), "errors")
    for index, error_input in enumerate(op.error_inputs("cpu")):
        sample = error_input.sample_input
        case = Case(lib, op, "function", sample)
        finder = resolve.variants(op)[0][1]
        try:
            case.call(torch, finder)
            continue  # the refusal belongs to another variant or device
        except error_input.error_type as error:
            if not re.search(error_input.error_regex, str(error)):
                continue
        except Exception:
            continue
        report.total += 1
        difference, told = _judge_error(case, finder, error_input)
        for records, item in ((report.failures, difference), (report.messages, told)):
            if item:
                text = describe_sample(sample)
                records.append(Failure(report.op, "errors", "function", index, *item, text))
    return report


def _judge_error(case, finder, error_input):
    wanted = f"{error_input.error_type.__name__} /{error_input.error_regex}/"
    try:
        case.call(case.lib, finder)
    except Missing as error:
        return ("missing", str(error)), None
    except Exception as error:
        if not same_error(error_input.error_type, error):
            return ("error-type", f"expected {wanted}, got {explain(error)}"), None
        if not re.search(error_input.error_regex, str(error)):
            return None, ("error-message", f"expected {wanted}, got {error}")
        return None, None
    return ("error-type", f"expected {wanted}, nothing was raised"), None


def reports(lib, op, dtypes, random=False):
    """A report for each dtype, then one for the error inputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            yield compare_op(lib, op, dtype, random)
        if op.error_inputs_func is not None:
            errors = compare_errors(lib, op)
            if errors.total:
                yield errors


def _gist(failure):
    """What failures must share to be told as one: all but the numbers."""
    return failure.kind, re.sub(r"[-+]?[\d.]+(e[-+]\d+)?|nan|inf", "#", failure.message)


def brief(failures, told=frozenset()):
    """The failures as lines, one for each gist that is not among those told."""
    groups = collections.defaultdict(list)
    for failure in failures:
        groups[_gist(failure)].append(failure)
    for gist, group in groups.items():
        if gist not in told:
            yield str(group[0])
            if len(group) > 1 and gist[0] != "missing":
                among = ", ".join(sorted({failure.variant for failure in group}))
                yield f"    and {len(group) - 1} more like this, in: {among}"


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.compare.opdb")
    parser.add_argument("names", nargs="*", help="entries, aliases or patterns ('nn.functional.*')")
    parser.add_argument("--dtype", action="append", help="only this dtype (repeatable)")
    parser.add_argument("--all-dtypes", action="store_true", help="every dtype of the entry")
    parser.add_argument("--required", action="store_true", help="only the required list")
    parser.add_argument("--extra", action="store_true", help="only the extra list")
    parser.add_argument("--summary", action="store_true", help="only the counts")
    parser.add_argument("--verbose", action="store_true", help="all failures, message texts too")
    parser.add_argument("--random", action="store_true", help="compare random values too")
    parser.add_argument("--self", action="store_true", help="compare PyTorch with itself")
    parser.add_argument("--library", default="clarion", help="module to compare with PyTorch")
    return parser.parse_args(argv)


def _chosen(options):
    names = options.names
    if not names:
        names = [] if options.extra else list(REQUIRED)
        names += [] if options.required else EXTRA
    return entries(names)


def _show(report, options, told):
    """Prints one report; `told` collects what this entry's reports have said."""
    if options.verbose:
        for line in report.failures + report.messages:
            print(line)
    elif not options.summary:
        for line in brief(report.failures, told):
            print(line)
        told.update(map(_gist, report.failures))
    if options.summary or options.names or report.passed < report.total:
        other = f"  ({len(report.messages)} texts differ)" if report.messages else ""
        mark = "ok  " if report.passed == report.total else "FAIL"
        count = f"{report.passed}/{report.total}{other}"
        print(f"{mark} {report.op} {report.dtype} {count}", flush=True)


def main(argv=None):
    options = _arguments(argv)
    lib = torch if options.self else importlib.import_module(options.library)
    started, done = time.time(), []
    for op in _chosen(options):
        dtypes = dtypes_of(op, options.all_dtypes or bool(options.dtype))
        if options.dtype:
            dtypes = [dtype for dtype in dtypes if name_of(dtype) in options.dtype]
        told = set()
        for report in reports(lib, op, dtypes, options.random):
            done.append(report)
            _show(report, options, told)
    passed, total = sum(r.passed for r in done), sum(r.total for r in done)
    whole = sum(r.passed == r.total for r in done)
    texts = sum(len(r.messages) for r in done)
    print(
        f"{passed}/{total} samples, {whole}/{len(done)} entries whole,"
        f" {texts} error texts differ, {time.time() - started:.0f} s"
    )
    return 0 if passed == total else 1


if __name__ == "__main__":
    sys.exit(main())
