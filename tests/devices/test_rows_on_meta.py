"""Every operation on the meta device, by its rows: shapes, types and strides of results and gradients are the CPU's."""

from __future__ import annotations

from typing import Any

import pytest

import clarion
from clarion.errors import NoDataError

from ..opcases import ROWS, Row
from ..rowtools import draw, leaves, results

# Rows that compare operations on tensors they make themselves, on the CPU; PyTorch refuses the mixture, too.
MIXED = frozenset(
    """
    index1_backward index2_backward index3_backward index_mask_backward masked_select_backward prelu_backward
    masked_scatter_backward masked_scatter_backward_backward gather_backward index_select_backward take_backward
    cov-weights quantile-linear quantile-lower quantile-higher quantile-midpoint quantile-nearest
    """.split()
)
# The shape, or the way, depends on values: PyTorch, too, has no answer (or one that CUDA alone could give).
VALUES = frozenset(
    """
    index_mask index_mask-rows index_put_mask masked_select nonzero nonzero-tuple unique unique_dim unique_consecutive
    unique_consecutive-dim bincount-weights index_fill_tensor histogramdd histogramdd-density
    ctc_loss ctc_loss-none ctc_loss_backward transfer
    """.split()
) | {"histogramdd-one dimension", "index_put_mask-one value"}
# The residuals of a system that is not of full rank are left out, which only the values tell. Eigenvectors lie in columns on
# the CPU and in rows on `meta`, in PyTorch as here.
OTHERWISE = frozenset(["linalg_lstsq-residuals", "linalg_eig"])
# Without memory `vmap` goes sample by sample, and stacks the results.
OTHERWISE |= {"batch", "unbatch", "unbatch_view", "common_sample"}


def looks(x: Any) -> Any:
    return tuple(x.shape), str(x.dtype).rpartition(".")[2], tuple(x.stride()) if x.numel() else None


def run(t: Any, row: Row, device: str) -> list[Any]:
    """Looks of a row's results and gradients on a device."""
    made = leaves(t, row, draw(row))
    made = [x.detach().to(device).requires_grad_(x.requires_grad) for x in made]
    outs = [x for x in results(row.call(t, *made)) if isinstance(x, t.Tensor)]
    assert all(x.device.type == device for x in outs)
    wanted, roots = [x for x in made if x.requires_grad], [x for x in outs if x.requires_grad]
    if not roots or not wanted:
        return [looks(x) for x in outs]
    seeds = [t.ones_like(x) for x in roots]
    grads = t.autograd.grad(roots, wanted, seeds, allow_unused=True)
    assert all(x is None or x.device.type == device for x in grads)
    return [*[looks(x) for x in outs], *[None if x is None else looks(x)[:2] for x in grads]]


def differentiates(row: Row) -> bool:
    """Rows that differentiate by themselves, or have no inputs to move."""
    return getattr(row.call, "differentiates", False)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if not differentiates(row)])
def test_looks(row):
    if row.id in MIXED:
        with pytest.raises(RuntimeError, match="is not on the expected device"):
            run(clarion, row, "meta")
    elif row.id in VALUES:
        with pytest.raises(NoDataError):
            run(clarion, row, "meta")
    elif row.id not in OTHERWISE:
        assert run(clarion, row, "meta") == run(clarion, row, "cpu")
