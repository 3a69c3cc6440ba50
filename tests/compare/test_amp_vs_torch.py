"""Mixed precision on the CPU: types of results under autocast, losses of a training loop, scaling as PyTorch's."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

pytestmark = pytest.mark.compare

A = np.random.default_rng(0).uniform(0.1, 1.0, (4, 4)).astype(np.float32)
S = (A @ A.T + np.eye(4)).astype(np.float32)
TARGETS = np.array([0, 1, 2, 3])

# name: call(t, F, x, a), where x has the lower precision or float32, and a is float32
CALLS: dict[str, Any] = {
    "mm": lambda t, F, x, a: t.mm(x, a),
    "mm method": lambda t, F, x, a: x.mm(a),
    "matmul": lambda t, F, x, a: t.matmul(x, a),
    "operator": lambda t, F, x, a: x @ a,
    "matmul vector": lambda t, F, x, a: t.matmul(x, a[0]),
    "bmm": lambda t, F, x, a: t.bmm(x[None], a[None]),
    "baddbmm": lambda t, F, x, a: t.baddbmm(a[None], x[None], a[None]),
    "addmm": lambda t, F, x, a: t.addmm(a, x, a),
    "addbmm": lambda t, F, x, a: t.addbmm(a, x[None], a[None]),
    "linear": lambda t, F, x, a: F.linear(x, a, a[0]),
    "linear without bias": lambda t, F, x, a: F.linear(x, a),
    "einsum": lambda t, F, x, a: t.einsum("ij,jk->ik", x, a),
    "einsum that moves": lambda t, F, x, a: t.einsum("ij->ji", x),
    "einsum that multiplies": lambda t, F, x, a: t.einsum("ij,ij->ij", x, a),
    "tensordot": lambda t, F, x, a: t.tensordot(a, a, 1),
    "inner": lambda t, F, x, a: t.inner(a, a),
    "multi_dot": lambda t, F, x, a: t.linalg.multi_dot([a, a, a]),
    "vecdot": lambda t, F, x, a: t.linalg.vecdot(x, a),
    "matrix_power": lambda t, F, x, a: t.matrix_power(a, 2),
    "mv": lambda t, F, x, a: t.mv(a, a[0]),
    "dot": lambda t, F, x, a: t.dot(a[0], a[0]),
    "bilinear": lambda t, F, x, a: F.bilinear(a, a, a[None]),
    "conv1d": lambda t, F, x, a: F.conv1d(x[None], a[:, :, None], a[0]),
    "conv2d": lambda t, F, x, a: F.conv2d(x[None, None], a[None, None, :2, :2]),
    "conv3d": lambda t, F, x, a: F.conv3d(x[None, None, None], a[None, None, None, :2, :2]),
    "conv_transpose1d": lambda t, F, x, a: F.conv_transpose1d(x[None], a[:, :, None]),
    "conv_transpose2d": lambda t, F, x, a: F.conv_transpose2d(x[None, None], a[None, None, :2, :2]),
    "attention": lambda t, F, x, a: F.scaled_dot_product_attention(x[None], a[None], a[None]),
    "prelu": lambda t, F, x, a: F.prelu(x, a[0, :1]),
    "LSTM": lambda t, F, x, a: t.nn.LSTM(4, 3)(x)[0],
    "GRU": lambda t, F, x, a: t.nn.GRU(4, 3)(x)[0],
    "RNN": lambda t, F, x, a: t.nn.RNN(4, 3)(x)[0],
    "LSTMCell": lambda t, F, x, a: t.nn.LSTMCell(4, 3)(x)[0],
    "MultiheadAttention": lambda t, F, x, a: t.nn.MultiheadAttention(4, 2)(x[None], x[None], x[None])[0],
    "prod": lambda t, F, x, a: t.prod(x),
    "prod of a dimension": lambda t, F, x, a: x.prod(0),
    "trace": lambda t, F, x, a: t.trace(x),
    "cdist": lambda t, F, x, a: t.cdist(x, a),
    "cholesky": lambda t, F, x, a: t.linalg.cholesky(x @ x.T * 0 + 2 * t.eye(4)),
    "inverse": lambda t, F, x, a: t.inverse(x),
    "inv": lambda t, F, x, a: t.linalg.inv(x),
    "solve": lambda t, F, x, a: t.linalg.solve(x, a),
    "svdvals": lambda t, F, x, a: t.linalg.svdvals(x),
    "qr": lambda t, F, x, a: t.linalg.qr(x)[0],
    "eigvalsh": lambda t, F, x, a: t.linalg.eigvalsh(x),
    "cross_entropy": lambda t, F, x, a: F.cross_entropy(x, t.tensor(TARGETS)),
    "nll_loss": lambda t, F, x, a: F.nll_loss(x, t.tensor(TARGETS)),
    "mse_loss": lambda t, F, x, a: F.mse_loss(x, a),
    "l1_loss": lambda t, F, x, a: F.l1_loss(x, a),
    "smooth_l1_loss": lambda t, F, x, a: F.smooth_l1_loss(x, a),
    "huber_loss": lambda t, F, x, a: F.huber_loss(x, a),
    "kl_div": lambda t, F, x, a: F.kl_div(x, a, reduction="sum"),
    "binary_cross_entropy": lambda t, F, x, a: F.binary_cross_entropy(x, a),
    "with_logits": lambda t, F, x, a: F.binary_cross_entropy_with_logits(x, a),
    "soft_margin_loss": lambda t, F, x, a: F.soft_margin_loss(x, a),
    "poisson_nll_loss": lambda t, F, x, a: F.poisson_nll_loss(x, a),
    "cosine_embedding_loss": lambda t, F, x, a: F.cosine_embedding_loss(x, a, t.ones(4)),
    "margin_ranking_loss": lambda t, F, x, a: F.margin_ranking_loss(x, a, a),
    "triplet_margin_loss": lambda t, F, x, a: F.triplet_margin_loss(x, a, a),
    "multi_margin_loss": lambda t, F, x, a: F.multi_margin_loss(x, t.tensor(TARGETS)),
    "avg_pool3d": lambda t, F, x, a: F.avg_pool3d(x[None, None, None], (1, 2, 2)),
    "max_pool3d": lambda t, F, x, a: F.max_pool3d(x[None, None, None], (1, 2, 2)),
    "avg_pool2d": lambda t, F, x, a: F.avg_pool2d(x[None, None], 2),
    "reflect": lambda t, F, x, a: F.pad(x[None], (1, 1), mode="reflect"),
    "zeros around": lambda t, F, x, a: F.pad(x[None], (1, 1)),
    "cat": lambda t, F, x, a: t.cat([x, a]),
    "stack": lambda t, F, x, a: t.stack([x, a]),
    "cat with float64": lambda t, F, x, a: t.cat([x, a.double()]),
    "index_copy": lambda t, F, x, a: t.index_copy(x, 0, t.tensor(TARGETS), a),
    "float64": lambda t, F, x, a: t.mm(a.double(), a.double()),
    "float64 and another": lambda t, F, x, a: t.mm(a.double(), x),
    "softmax": lambda t, F, x, a: F.softmax(x, -1),
    "layer_norm": lambda t, F, x, a: F.layer_norm(x, (4,)),
    "gelu": lambda t, F, x, a: F.gelu(x),
    "relu": lambda t, F, x, a: F.relu(x),
    "sum": lambda t, F, x, a: x.sum(),
    "add": lambda t, F, x, a: x + a,
    "exp": lambda t, F, x, a: x.exp(),
    "norm": lambda t, F, x, a: x.norm(),
    "in place": lambda t, F, x, a: a.clone().addmm_(a, a),
    "out": lambda t, F, x, a: t.mm(a, a, out=t.empty(4, 4)),
}  # fmt: skip


def result(lib: Any, call: Any, kind: str, lower: str) -> Any:
    a = lib.tensor(A)
    x = a.to(getattr(lib, lower)) if kind == "lower" else a.clone()
    lib.manual_seed(0)
    with lib.autocast("cpu", dtype=getattr(lib, lower)):
        try:
            out = call(lib, lib.nn.functional, x, a)
        except Exception as error:
            return "refused", isinstance(error, RuntimeError)
    return str(out.dtype), np.asarray(out.detach().double().numpy())


@pytest.mark.parametrize("kind", ["float32", "lower"])
@pytest.mark.parametrize("name", CALLS)
def test_types_of_results(name: str, kind: str) -> None:
    ours, theirs = result(clarion, CALLS[name], kind, "bfloat16"), result(torch, CALLS[name], kind, "bfloat16")
    assert ours[0] == theirs[0]
    if ours[0] != "refused":
        np.testing.assert_allclose(ours[1], theirs[1], rtol=0.03, atol=0.03 * max(1.0, np.abs(theirs[1]).max()))


@pytest.mark.parametrize("name", ["mm", "linear", "mse_loss", "cat", "softmax"])
def test_types_with_float16(name: str) -> None:
    assert result(clarion, CALLS[name], "lower", "float16")[0] == result(torch, CALLS[name], "lower", "float16")[0]


def train(lib: Any, steps: int = 12) -> tuple[list[float], list[Any]]:
    """A small network, its loss under autocast, gradients scaled."""
    rng = np.random.default_rng(1)
    inputs, targets = rng.standard_normal((32, 10)).astype(np.float32), rng.integers(0, 4, 32)
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(10, 32), lib.nn.ReLU(), lib.nn.LayerNorm(32), lib.nn.Linear(32, 4))
    optimizer = lib.optim.Adam(model.parameters(), lr=0.01)
    scaler = lib.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with lib.autocast("cpu", dtype=lib.bfloat16):
            loss = lib.nn.functional.cross_entropy(model(lib.tensor(inputs)), lib.tensor(targets))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, [scaler.state_dict(), [str(p.grad.dtype) for p in model.parameters()]]


def test_training() -> None:
    (ours, our_end), (theirs, their_end) = train(clarion), train(torch)
    np.testing.assert_allclose(ours, theirs, rtol=0.02, atol=0.005)
    assert our_end == their_end
    assert ours[-1] < 0.7 * ours[0]


def scaler_story(lib: Any) -> list[Any]:
    """Scales, steps taken and skipped, refusals."""
    seen: list[Any] = []
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    optimizer = lib.optim.SGD([w], lr=0.1)
    scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen += [scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()]
    for factor in (1.0, 2.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        optimizer.zero_grad()
        scaler.scale((w * factor).sum()).backward()
        scaler.unscale_(optimizer)
        seen.append(w.grad.tolist() if factor < 9 else None)
        scaler.step(optimizer)
        try:
            scaler.step(optimizer)
        except RuntimeError as error:
            seen.append(str(error).splitlines()[0])
        scaler.update()
        seen += [scaler.get_scale(), [round(v, 5) for v in w.tolist()], scaler.state_dict()]
    scaler.scale([w.sum(), (w.sum(),)])[0].backward()
    scaler.update(3.0)
    seen.append(scaler.get_scale())
    other = lib.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    seen += [other.get_scale(), other.state_dict(), copy.deepcopy(other).state_dict()]
    for wrong in (
        lambda: lib.amp.GradScaler("cpu").update(),
        lambda: lib.amp.GradScaler("cpu").step(optimizer),
        lambda: scaler.update(),
        lambda: scaler.scale(3),
        lambda: scaler.step(optimizer, closure=lambda: None),
        lambda: lib.amp.GradScaler("cpu", growth_factor=1.0),
        lambda: other.load_state_dict({}),
    ):
        try:
            wrong()
        except Exception as error:
            seen.append(
                (
                    str(error).splitlines()[0],
                    next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"),
                )
            )
    off = lib.amp.GradScaler("cpu", enabled=False)
    seen += [off.scale(3), off.get_scale(), off.state_dict(), off.step(optimizer), off.update()]
    return seen


def test_scaling() -> None:
    ours, theirs = scaler_story(clarion), scaler_story(torch)
    assert ours == theirs


def switches(lib: Any) -> list[Any]:
    """The switches inside and outside regions."""
    seen: list[Any] = []

    def look() -> None:
        seen.append([
            lib.is_autocast_enabled("cpu"), lib.is_autocast_enabled(), str(lib.get_autocast_dtype("cpu")),
            str(lib.get_autocast_dtype("cuda")), lib.is_autocast_cache_enabled(),
        ])  # fmt: skip

    look()
    with lib.autocast("cpu", dtype=lib.float16, cache_enabled=False):
        look()
        with lib.autocast("cpu", enabled=False):
            look()
            seen.append(str(lib.mm(lib.ones(2, 2), lib.ones(2, 2)).dtype))
            with lib.autocast("cpu"):
                look()
        look()
    look()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lib.autocast("cuda"):
            look()
        with lib.autocast("cpu", dtype=lib.float64):
            look()
        lib.amp.GradScaler("cuda")
        with lib.cuda.amp.autocast(enabled=False), lib.cpu.amp.autocast():
            look()
    seen += [
        (str(w.message), w.category.__name__) for w in caught if issubclass(w.category, (UserWarning, FutureWarning))
    ]
    for wrong in (lambda: lib.autocast(3), lambda: lib.autocast("cpu")(3)):
        try:
            wrong()
        except Exception as error:
            seen.append((str(error).splitlines()[0], isinstance(error, (RuntimeError, ValueError, TypeError))))
    return seen


def test_switches() -> None:
    assert switches(clarion) == switches(torch)
