"""A gradient may be the first sparse tensor of a program: all that it can do is there from the beginning."""

import subprocess
import sys

import pytest

BEGINNING = """
import clarion as torch
table = torch.nn.Embedding(3, 2, sparse=True)
table(torch.tensor([0, 2])).sum().backward()
gradient = table.weight.grad
"""


@pytest.mark.parametrize(
    "use",
    [
        "assert gradient.is_coalesced() is not None; assert gradient.zero_()._nnz() == 0",
        "gradient.coalesce(); torch.optim.SGD(table.parameters(), 0.1).zero_grad(set_to_none=False)",
        "assert (gradient * 2).to_dense().sum() == 8",
        "gathered = torch.ones(2, 2, requires_grad=True)\n"
        "gathered.gather(0, torch.tensor([[0, 1]]), sparse_grad=True).sum().backward()\n"
        "assert (gathered.grad @ torch.ones(2)).tolist() == [1, 1]",
    ],
)
def test_first(use):
    subprocess.run([sys.executable, "-c", BEGINNING + use], check=True)
