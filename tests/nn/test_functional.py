"""Functions of nn.functional: what PyTorch's operator database does not ask."""

from __future__ import annotations

import numpy as np
import pytest

import clarion as torch
import clarion.nn.functional as F


def test_mse_warns_about_broadcasting():
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[3\]\)\) that is different to the input"):
        F.mse_loss(torch.zeros(3, 1), torch.zeros(3))


def test_cross_entropy_names_the_target_that_is_out_of_bounds():
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 7]))
    with pytest.raises(RuntimeError, match="expected target dtype to be Long or Byte, but got"):
        F.cross_entropy(torch.zeros(2, 3), torch.zeros(2))
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size \(3\)"):
        F.cross_entropy(torch.zeros(2, 3), torch.zeros(3, dtype=torch.int64))


def test_cross_entropy_of_nothing_counted_is_nan():
    assert np.isnan(F.cross_entropy(torch.zeros(2, 3), torch.full((2,), -100)).item())
    assert F.cross_entropy(torch.zeros(2, 3), torch.full((2,), -100), reduction="sum").item() == 0


def test_cross_entropy_of_large_scores():
    x = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([1]))
    assert loss.item() == 2e4
    loss.backward()
    assert x.grad.tolist() == [[1.0, -1.0, 0.0]]


def test_third_derivatives():
    x = torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64, requires_grad=True)
    one = torch.tensor([1])

    def third(loss):
        (g,) = torch.autograd.grad(loss, x, create_graph=True)
        (h,) = torch.autograd.grad((g * g).sum(), x, create_graph=True)
        return torch.autograd.grad((h * h).sum(), x)[0].numpy()

    p = x.softmax(1)
    np.testing.assert_allclose(third(F.cross_entropy(x, one)), third(-p.log()[0, 1]), rtol=1e-9)
    mean = x.mean(1, keepdim=True)
    centred = x - mean
    plain = centred / (centred.pow(2).mean(1, keepdim=True) + 1e-5).sqrt()
    np.testing.assert_allclose(third(F.layer_norm(x, (3,)).pow(3).sum()), third(plain.pow(3).sum()), rtol=1e-6)


def test_embedding_gradients_add_up():
    weight = torch.zeros(4, 2, requires_grad=True)
    F.embedding(torch.tensor([[1, 1], [3, 1]]), weight).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [3, 3], [0, 0], [1, 1]]
    assert type(F.embedding(torch.tensor([0]), weight).grad_fn).__name__ == "EmbeddingBackward0"
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(torch.tensor([4]), weight)
    weight.grad = None
    F.embedding(torch.tensor([3, 1, 3]), weight, sparse=True).sum().backward()
    assert weight.grad.is_sparse
    assert weight.grad.to_dense().tolist() == [[0, 0], [1, 1], [0, 0], [2, 2]]
    weight.grad = None
    (
        F.embedding(torch.tensor([1]), weight, sparse=True) * F.embedding(torch.tensor([2]), weight, sparse=True)
    ).sum().backward()
    assert weight.grad.is_sparse  # two uses in one pass
    assert weight.grad.to_dense()[1].tolist() == weight[2].tolist()


def test_dropout():
    torch.manual_seed(0)
    x = torch.ones(1000)
    y = F.dropout(x, 0.25)
    assert set(y.tolist()) == {0.0, np.float32(1 / 0.75)}
    assert abs(y.mean().item() - 1) < 0.1
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 1.0).sum().item() == 0
    assert F.dropout(x, 0.5, inplace=True) is x
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 2"):
        F.dropout(x, 2)


def test_attention_row_that_may_look_nowhere():
    q = torch.ones(2, 4, requires_grad=True)
    mask = torch.tensor([[True, True], [False, False]])
    out = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    assert out.tolist() == [[1.0] * 4, [0.0] * 4]
    out.sum().backward()
    assert not np.isnan(q.grad.numpy()).any()


def test_attention_with_shared_heads():
    rng = np.random.default_rng(0)
    q = torch.from_numpy(rng.standard_normal((2, 4, 3, 5)))
    k = torch.from_numpy(rng.standard_normal((2, 2, 6, 5)))
    shared = F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    repeated = k.repeat_interleave(2, 1)
    plain = F.scaled_dot_product_attention(q, repeated, repeated)
    assert np.array_equal(shared.numpy(), plain.numpy())


def test_saved_target_is_guarded():
    x = torch.zeros(2, 3, requires_grad=True)
    target = torch.tensor([0, 1])
    loss = F.cross_entropy(x, target)
    target[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("loss", [F.nll_loss, F.cross_entropy])
def test_a_batch_of_nothing_over_no_classes(loss):
    scores = torch.zeros(0, 0, requires_grad=True)
    assert loss(scores, torch.zeros(0, dtype=torch.int64)).isnan()
    assert loss(scores, torch.zeros(0, dtype=torch.int64), reduction="none").shape == (0,)
