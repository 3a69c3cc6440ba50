"""The meta device beside PyTorch's: every row of the table, and what programs ask of tensors without memory."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

from ..devices.test_rows_on_meta import MIXED, OTHERWISE, VALUES, differentiates, run
from ..opcases import ROWS

pytestmark = pytest.mark.compare

# Where clarion's strides are not PyTorch's on the CPU, they are not here.
STRIDES = frozenset(["contract", "nonzero_static", "rot90", "linalg_lu_solve-right", "fft_r2c-padded", "fft_r2c-many"])


def looks(t, row):
    try:
        return run(t, row, "meta")
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if not differentiates(row)])
def test_looks(row):
    if row.id in MIXED | VALUES | OTHERWISE:
        return
    theirs = looks(torch, row)
    if isinstance(theirs, type):
        return  # PyTorch has no rule for it there, or the row asks for what only clarion has
    ours = looks(clarion, row)
    if row.id in STRIDES:
        ours, theirs = ([x and x[:2] for x in each] for each in (ours, theirs))
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(VALUES - {"transfer"}))
def test_what_we_refuse_pytorch_refuses(name):
    row = next(row for row in ROWS if row.id == name)
    assert isinstance(looks(torch, row), type)


def outcome(t, program):
    try:
        value = program(t)
    except Exception as error:
        return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"), str(error).split(
            "\n"
        )[0]
    return repr(value)


def error_phrase(result):
    return result[1] if isinstance(result, tuple) else result


PROGRAMS = {
    "text": lambda t: t.ones(2, 3, device="meta"),
    "text of an int": lambda t: t.ones((), device="meta", dtype=t.int32),
    "text of a leaf": lambda t: t.ones(2, device="meta", requires_grad=True),
    "parameter": lambda t: t.nn.Parameter(t.ones(2, device="meta")),
    "a number of the host": lambda t: t.ones(2, device="meta") + t.tensor(1.0),
    "an operand of the host": lambda t: t.ones(2, device="meta") + t.ones(2),
    "an operand on meta": lambda t: t.ones(2) + t.ones(2, device="meta"),
    "a number on meta": lambda t: t.ones(2) + t.ones((), device="meta"),
    "cat": lambda t: t.cat([t.ones(2, device="meta"), t.ones(2)]),
    "indices of the host": lambda t: t.ones(2, 3, device="meta")[t.tensor([0, 1, 1])],
    "embedding": lambda t: t.nn.Embedding(5, 2, device="meta")(t.tensor([1, 2])).shape,
    "item": lambda t: t.ones(1, device="meta").item(),
    "numpy": lambda t: t.ones(1, device="meta").numpy(),
    "tolist": lambda t: t.ones(1, device="meta").tolist(),
    "cpu": lambda t: t.ones(1, device="meta").cpu(),
    "module to cpu": lambda t: t.nn.Linear(1, 1, device="meta").to("cpu"),
    "module to meta": lambda t: t.nn.Linear(1, 1).to("meta").weight,
    "identity of parameters": lambda t: (lambda m: m.weight is m.to("meta").weight)(t.nn.Linear(1, 1)),
    "to_empty": lambda t: t.nn.Linear(1, 1, device="meta").to_empty(device="cpu").weight.device,
    "gradient": lambda t: setattr(t.nn.Parameter(t.ones(1, device="meta")), "grad", t.ones(1)),
    "data": lambda t: setattr(t.nn.Parameter(t.ones(1)), "data", t.ones(1, device="meta")),
    "copy out": lambda t: t.ones(1).copy_(t.ones(1, device="meta")),
    "copy in": lambda t: t.ones(1, device="meta").copy_(t.ones(1)),
    "type": lambda t: t.ones(1, device="meta").type(),
    "too large": lambda t: t.empty(2**62, 4, device="meta"),
    "storage": lambda t: t.ones(2, 3, device="meta")[1].untyped_storage().nbytes(),
    "offset": lambda t: t.ones(2, 3, device="meta")[1].storage_offset(),
    "pointer": lambda t: t.ones(2, 3, device="meta").data_ptr(),
    "device of": lambda t: (t.ones(1, device="meta:0").device, t.ones(1, device="meta").get_device()),
    "generator": lambda t: t.Generator("meta"),
    "repeat": lambda t: t.ones(2, device="meta").repeat_interleave(t.ones(2, dtype=t.long, device="meta")),
    "multinomial": lambda t: t.multinomial(t.ones(2, 3, device="meta"), 2),
    "histc": lambda t: t.histc(t.ones(2, 3, device="meta")),
    "allclose": lambda t: t.allclose(t.ones(1, device="meta"), t.ones(1, device="meta")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    ours, theirs = outcome(clarion, PROGRAMS[name]), outcome(torch, PROGRAMS[name])
    assert error_phrase(ours) == error_phrase(theirs)
    assert isinstance(ours, tuple) == isinstance(theirs, tuple)
