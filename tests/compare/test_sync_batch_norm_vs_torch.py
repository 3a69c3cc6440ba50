"""Batch norms that would hear other processes: alone they compute as the others do."""

from __future__ import annotations

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")


def network(t):
    t.manual_seed(0)
    model = t.nn.Sequential(
        t.nn.Conv2d(2, 4, 3), t.nn.BatchNorm2d(4), t.nn.ReLU(), t.nn.Sequential(t.nn.Flatten(), t.nn.BatchNorm1d(16))
    )
    model[1].requires_grad_(False)
    model[3][1].eval()
    return model, t.nn.SyncBatchNorm.convert_sync_batchnorm(model)


def test_a_model_that_is_converted():
    found = []
    for t in (clarion, torch):
        model, converted = network(t)
        parameters = dict(model.named_parameters())
        assert converted is model
        assert [type(each).__name__ for each in (model[1], model[3][1])] == ["SyncBatchNorm"] * 2
        assert not model[1].weight.requires_grad
        assert not model[3][1].training
        x = t.tensor(np.random.RandomState(0).standard_normal((3, 2, 4, 4)), dtype=t.float32)
        out = model(x)
        out.pow(2).sum().backward()
        gradients = [p.grad.numpy() for p in parameters.values() if p.grad is not None]
        found.append([out.detach().numpy(), model[1].running_var.numpy(), *gradients])
        found[-1].append(np.array([str(model), *model.state_dict()]))
    for mine, theirs in zip(*found, strict=True):
        if mine.dtype.kind == "U":
            assert mine.tolist() == theirs.tolist()
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def test_what_it_refuses():
    for t in (clarion, torch):
        norm = t.nn.SyncBatchNorm(3, affine=False, track_running_stats=False)
        assert norm.weight is None
        assert norm.process_group is None
        with pytest.raises(ValueError, match=r"expected at least 2D input \(got 1D input\)"):
            norm(t.ones(3))
        with pytest.raises(ValueError, match="SyncBatchNorm number of input channels should be non-zero"):
            norm(t.ones(3, 0))


def test_in_a_group_it_wants_a_gpu(tmp_path):
    for t in (clarion, torch):
        norm = t.nn.SyncBatchNorm(3)
        t.distributed.init_process_group("gloo", init_method=f"file://{tmp_path / t.__name__}", rank=0, world_size=1)
        try:
            with pytest.raises(ValueError, match="SyncBatchNorm expected input tensor to be on GPU"):
                norm(t.ones(2, 3))
            assert norm.eval()(t.ones(2, 3)).shape == (2, 3)
        finally:
            t.distributed.destroy_process_group()
