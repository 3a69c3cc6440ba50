"""Single operations on 8 × 8 tensors, recorded: `operation_NAME`; with `_backward`, the gradient of their sum, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import WORKLOADS


class _Given:
    """The operands of all workloads."""

    def __init__(self, t: Any) -> None:
        t.manual_seed(0)
        self.t, self.F = t, t.nn.functional
        self.x = t.rand(8, 8, requires_grad=True)
        self.y = t.rand(8, 8, requires_grad=True)
        self.bias = t.rand(8, requires_grad=True)
        self.plain = t.rand(8, 8)
        self.mask = self.plain > 0.5
        self.index = t.tensor([0, 2, 4, 6])
        self.indices = t.tensor([[0, 2, 4, 6]] * 8)
        self.labels = t.tensor([0, 1, 2, 3, 4, 5, 6, 7])
        self.count, self.other = t.zeros(8, dtype=t.int64), t.rand(8, 4)
        self.batch = t.rand(2, 8, 8, requires_grad=True)

        class Square(t.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                (x,) = ctx.saved_tensors
                return 2 * g * x

        self.Square = Square


Step = Callable[[_Given], Any]

# Differentiable operations.
_RECORDED: dict[str, Step] = {
    "add": lambda o: o.x + o.y,
    "add_bias": lambda o: o.x + o.bias,
    "mul_number": lambda o: o.x * 0.5,
    "square": lambda o: o.x**2,
    "relu": lambda o: o.x.relu(),
    "gelu": lambda o: o.F.gelu(o.x),
    "silu": lambda o: o.F.silu(o.x),
    "exp": lambda o: o.x.exp(),
    "clamp": lambda o: o.x.clamp(0.2, 0.8),
    "where": lambda o: o.t.where(o.mask, o.x, o.y),
    "masked_fill": lambda o: o.x.masked_fill(o.mask, 0.0),
    "sum": lambda o: o.x.sum(),
    "sum_dim": lambda o: o.x.sum(1),
    "mean": lambda o: o.x.mean(),
    "mean_dim": lambda o: o.x.mean(1, keepdim=True),
    "max_dim": lambda o: o.x.max(1).values,
    "var": lambda o: o.x.var(1),
    "softmax": lambda o: o.F.softmax(o.x, dim=1),
    "log_softmax": lambda o: o.F.log_softmax(o.x, dim=-1),
    "matmul": lambda o: o.x @ o.y,
    "bmm": lambda o: o.t.bmm(o.batch, o.batch),
    "linear": lambda o: o.F.linear(o.x, o.y, o.bias),
    "einsum": lambda o: o.t.einsum("ij,jk->ik", o.x, o.y),
    "select": lambda o: o.x[0],
    "slice": lambda o: o.x[:, 1:5],
    "view": lambda o: o.x.view(4, 16),
    "reshape": lambda o: o.x.reshape(64),
    "t": lambda o: o.x.t(),
    "transpose": lambda o: o.x.transpose(0, 1),
    "permute": lambda o: o.batch.permute(2, 0, 1),
    "unsqueeze": lambda o: o.x.unsqueeze(0),
    "squeeze": lambda o: o.x.squeeze(0),
    "expand": lambda o: o.bias.expand(8, 8),
    "chunk": lambda o: o.x.chunk(2, 1)[0],
    "split": lambda o: o.x.split(4)[1],
    "clone": lambda o: o.x.clone(),
    "double": lambda o: o.x.double(),
    "cat": lambda o: o.t.cat([o.x, o.y]),
    "stack": lambda o: o.t.stack([o.x, o.y]),
    "gather": lambda o: o.x.gather(1, o.indices),
    "index": lambda o: o.x[o.index],
    "index_mask": lambda o: o.x[o.mask],
    "index_select": lambda o: o.x.index_select(0, o.index),
    "embedding": lambda o: o.F.embedding(o.index, o.x),
    "index_pairs": lambda o: o.x[o.labels, o.labels],
    "index_add": lambda o: o.x.index_add(0, o.index, o.y[:4]),
    "scatter_add": lambda o: o.x.scatter_add(1, o.indices, o.y[:, :4]),
    "cumsum": lambda o: o.x.cumsum(1),
    "topk": lambda o: o.x.topk(2, 1).values,
    "sort": lambda o: o.x.sort(1).values,
    "median": lambda o: o.x.median(1).values,
    "flip": lambda o: o.x.flip(0),
    "pad": lambda o: o.F.pad(o.x, (1, 1)),
    "max_pool2d": lambda o: o.F.max_pool2d(o.batch, 2),
    "cross_entropy": lambda o: o.F.cross_entropy(o.x, o.labels),
    "mse_loss": lambda o: o.F.mse_loss(o.x, o.plain),
    "layer_norm": lambda o: o.F.layer_norm(o.x, (8,), o.bias, o.bias),
    "dropout": lambda o: o.F.dropout(o.x, 0.5),
    "custom": lambda o: o.Square.apply(o.x),
}

# Operations without a gradient: comparisons, factories, draws, writes.
_UNRECORDED: dict[str, Step] = {
    "greater": lambda o: o.x > 0.5,
    "compare_chain": lambda o: (o.x > 0.2) & (o.x < 0.8),
    "argmax": lambda o: o.x.argmax(1),
    "detach": lambda o: o.x.detach(),
    "item": lambda o: o.plain[0, 0].item(),
    "zeros": lambda o: o.t.zeros(8, 8),
    "ones": lambda o: o.t.ones(8, 8),
    "zeros_like": lambda o: o.t.zeros_like(o.x),
    "arange": lambda o: o.t.arange(8),
    "tensor": lambda o: o.t.tensor([1.0, 2.0, 3.0]),
    "rand": lambda o: o.t.rand(8, 8),
    "randn": lambda o: o.t.randn(8, 8),
    "randint": lambda o: o.t.randint(0, 10, (8, 8)),
    "bernoulli": lambda o: o.t.bernoulli(o.plain),
    "randn_like": lambda o: o.t.randn_like(o.plain),
    "uniform_": lambda o: o.plain.uniform_(-1, 1),
    "normal_": lambda o: o.plain.normal_(0, 0.02),
    "empty": lambda o: o.t.empty(8, 8),
    "arange_range": lambda o: o.t.arange(2, 100, 3),
    "relu_": lambda o: o.plain.relu_(),
    "clamp_": lambda o: o.plain.clamp_(0, 1),
    "masked_fill_": lambda o: o.plain.masked_fill_(o.mask, 0.0),
    "scatter_add_": lambda o: o.plain.scatter_add_(1, o.indices, o.other),
    "count_": lambda o: o.count.add_(1),
    "setitem": lambda o: o.plain.__setitem__(0, 1.0),
    "setitem_mask": lambda o: o.plain.__setitem__(o.mask, 0.5),
    "setitem_index": lambda o: o.plain.__setitem__(o.index, 0.5),
    "add_": lambda o: o.plain.add_(0.1),
    "copy_": lambda o: o.plain.copy_(o.mask),
    "float": lambda o: o.mask.float(),
}


def _forward(step: Step) -> Callable[[Any], Callable[[], object]]:
    def prepare(t: Any) -> Callable[[], object]:
        given = _Given(t)
        return lambda: step(given)

    return prepare


def _backward(step: Step) -> Callable[[Any], Callable[[], object]]:
    def prepare(t: Any) -> Callable[[], object]:
        given = _Given(t)
        return lambda: step(given).sum().backward()

    return prepare


for _name, _step in _RECORDED.items():
    WORKLOADS[f"operation_{_name}"] = _forward(_step)
    WORKLOADS[f"operation_{_name}_backward"] = _backward(_step)
for _name, _step in _UNRECORDED.items():
    WORKLOADS[f"operation_{_name}"] = _forward(_step)
