"""Programs to be traced: each makes a module or a function and its arguments, on the engine it is given."""

from __future__ import annotations

import collections
import importlib
import math
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], tuple[Any, tuple[Any, ...]]]
PROGRAMS: dict[str, Program] = {}
Pair = collections.namedtuple("Pair", "first second")


def program(make: Program) -> Program:
    """Put a program on the list."""
    PROGRAMS[make.__name__] = make
    return make


def functional(torch: Any) -> Any:
    """`torch.nn.functional`."""
    return importlib.import_module(f"{torch.__name__}.nn.functional")


def module(torch: Any, forward: Callable[..., Any], **parts: Any) -> Any:
    """A module with these parts and this `forward`."""
    made = type("Model", (torch.nn.Module,), {"forward": forward})()
    for name, each in parts.items():
        if isinstance(each, torch.Tensor) and not isinstance(each, torch.nn.Parameter):
            made.register_buffer(name, each)
        else:
            setattr(made, name, each)
    return made


@program
def mlp(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=-1)), (torch.randn(5, 4),)


@program
def parameter_of_its_own(torch: Any) -> Any:
    def forward(self: Any, x: Any) -> Any:
        return self.linear(x + self.param).clamp(min=0.0, max=1.0)

    parts = {"param": torch.nn.Parameter(torch.rand(3, 4)), "linear": torch.nn.Linear(4, 5)}
    return module(torch, forward, **parts), (torch.randn(3, 4),)


@program
def weights_of_a_layer(torch: Any) -> Any:
    F = functional(torch)

    def forward(self: Any, x: Any) -> Any:
        return F.linear(x, self.linear.weight * 2, self.linear.bias) + self.linear.weight.sum()

    return module(torch, forward, linear=torch.nn.Linear(4, 5)), (torch.randn(3, 4),)


@program
def residual(torch: Any) -> Any:
    nn = torch.nn

    def block(self: Any, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)

    def make() -> Any:
        return module(
            torch, block, conv1=nn.Conv2d(4, 4, 3, padding=1, bias=False), bn1=nn.BatchNorm2d(4),
            conv2=nn.Conv2d(4, 4, 3, padding=1, bias=False), bn2=nn.BatchNorm2d(4), relu=nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(self: Any, x: Any) -> Any:
        x = self.pool(self.stem(x))
        for each in self.blocks:
            x = each(x)
        return self.head(torch.flatten(self.gap(x), 1))

    return module(
        torch, forward, stem=nn.Conv2d(3, 4, 3, padding=1), pool=nn.MaxPool2d(2), blocks=nn.ModuleList([make(), make()]),
        gap=nn.AdaptiveAvgPool2d((1, 1)), head=nn.Linear(4, 2),
    ), (torch.randn(2, 3, 8, 8),)  # fmt: skip


@program
def attention(torch: Any) -> Any:
    F, nn = functional(torch), torch.nn

    def forward(self: Any, x: Any) -> Any:
        b, t, c = x.size()
        q, k, v = self.qkv(self.norm(x)).split(8, dim=2)
        q, k, v = (each.view(b, t, 2, c // 2).transpose(1, 2) for each in (q, k, v))
        weights = F.softmax((q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(4)), dim=-1)
        y = (weights @ v).transpose(1, 2).contiguous().view(b, t, c)
        x = x + self.project(y)
        return x + self.down(F.gelu(self.up(x)))

    return module(
        torch, forward, qkv=nn.Linear(8, 24), norm=nn.LayerNorm(8), project=nn.Linear(8, 8), up=nn.Linear(8, 16),
        down=nn.Linear(16, 8),
    ), (torch.randn(2, 5, 8),)  # fmt: skip


@program
def fused_attention(torch: Any) -> Any:
    F = functional(torch)

    def forward(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.0)

    return forward, (torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4))


@program
def functions_of_layers(torch: Any) -> Any:
    F = functional(torch)

    def forward(x: Any, w: Any) -> Any:
        x = F.conv2d(x, w, padding=1)
        x = F.leaky_relu(F.elu(F.relu6(x)), 0.2)
        x = F.max_pool2d(x, 2)
        x = F.avg_pool2d(F.interpolate(x, scale_factor=2), kernel_size=2)
        x = F.pad(x, (1, 1))
        return (
            F.normalize(F.adaptive_avg_pool2d(x, 1), dim=1),
            F.silu(x),
            F.hardtanh(x),
            F.softplus(x),
            F.log_softmax(x, 1),
        )

    return forward, (torch.randn(1, 2, 4, 4), torch.randn(3, 2, 3, 3))


@program
def norms_and_losses(torch: Any) -> Any:
    F = functional(torch)

    def forward(x: Any, y: Any, labels: Any) -> Any:
        x = F.layer_norm(x, (4,))
        x = F.batch_norm(x, None, None, training=True)
        return F.mse_loss(x, y) + F.cross_entropy(x, labels, reduction="sum") + F.smooth_l1_loss(x, y, beta=0.5)

    return forward, (torch.randn(3, 4), torch.randn(3, 4), torch.tensor([0, 1, 3]))


@program
def embedding_and_one_hot(torch: Any) -> Any:
    F = functional(torch)

    def forward(self: Any, tokens: Any) -> Any:
        return self.table(tokens) + F.embedding(tokens, self.more), F.one_hot(tokens, 5)

    return module(torch, forward, table=torch.nn.Embedding(5, 3), more=torch.nn.Parameter(torch.randn(5, 3))), (
        torch.tensor([[0, 1], [3, 4]]),
    )


@program
def operators(torch: Any) -> Any:
    def forward(x: Any, y: Any) -> Any:
        a = x + y - 2 * x / y
        b = -(a**2) + (1 - a) % 3
        c = (2.0 / (b + 7) + 3**a).detach() // 2
        return a @ b.t(), c, abs(+a), a > b, (a <= b) & (a != 1), ~(a == b), (a < 1) | (b >= 1), (a > 0) ^ (b > 0)

    return forward, (torch.rand(2, 2) + 0.5, torch.rand(2, 2) + 0.5)


@program
def integer_operators(torch: Any) -> Any:
    return lambda x: ((x << 1) | 1, (x >> 1) & 3, x ^ 5, 7 // x, 9 % x, 1 << x), (torch.tensor([1, 2, 3]),)


@program
def reflected_operators(torch: Any) -> Any:
    return lambda x: (1 + x, 2 - x, 3 * x, 4 / x, 5**x, 6 // x.detach(), 7 % x.detach()), (torch.rand(3) + 0.5,)


@program
def buffers(torch: Any) -> Any:
    def forward(self: Any, x: Any) -> Any:
        return self.scale * x + self.shift - x, x * self.scale, self.scale / x, self.scale > x, self.scale == x

    return module(torch, forward, scale=torch.rand(3) + 1, shift=torch.rand(3)), (torch.rand(3) + 1,)


@program
def constants(torch: Any) -> Any:
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return lambda x: (
        table + x,
        torch.mm(table, x),
        x + table,
        table[0] * x,
        table.index_select(0, torch.tensor([1])) - x,
    ), (torch.rand(2, 2),)


@program
def slices(torch: Any) -> Any:
    def forward(x: Any) -> Any:
        return x[0], x[:, 1:], x[..., None], x[:, None, ::2], x[-1, 0], x[[0, 1]], x[x[:, 0] > 0.5]

    return forward, (torch.rand(3, 4),)


@program
def shapes(torch: Any) -> Any:
    def forward(x: Any) -> Any:
        n, c = x.shape[0], x.size(-1)
        return (
            x.view(n, -1),
            x.reshape(n * c, -1).T,
            x.new_zeros(n, c),
            x.permute(2, 0, 1),
            x.unsqueeze(0).expand(2, -1, -1, -1),
        )

    return forward, (torch.rand(2, 3, 4),)


@program
def attributes(torch: Any) -> Any:
    return lambda x: (x.T, x.mT.shape, x.to(x.dtype), torch.zeros_like(x, device=x.device), x.is_cuda, x.ndim), (
        torch.rand(2, 2),
    )


@program
def unpacking(torch: Any) -> Any:
    def forward(x: Any) -> Any:
        first, second = x.chunk(2)
        (low, at), third = second.max(dim=0), torch.split(first, 1)[0]
        return first + second, low, at, third

    return forward, (torch.rand(4, 2),)


@program
def containers(torch: Any) -> Any:
    def forward(x: Any) -> Any:
        made = {"sum": x.sum(), "parts": [x + 1, (x * 2, {"deep": x - 1})]}
        return {
            "all": made,
            "stack": torch.stack([x, made["sum"].expand(2)]),
            "none": None,
            "text": "yes",
            "number": 1.5,
        }

    return forward, (torch.rand(2),)


@program
def named_tuples(torch: Any) -> Any:
    return lambda x: Pair(x + 1, Pair(x, 2)), (torch.rand(2),)


@program
def defaults_and_annotations(torch: Any) -> Any:
    def forward(x, scale: float = 2.0, shift: int = 1, *, power=2):  # type: ignore[no-untyped-def]
        return (x * scale + shift) ** power

    return forward, (torch.rand(2),)


@program
def annotated_result(torch: Any) -> Any:
    def forward(x, y):  # type: ignore[no-untyped-def]
        return x.relu() + y

    forward.__annotations__ = {"x": torch.Tensor, "y": list[int] | None, "return": torch.Tensor}
    return forward, (torch.rand(2), 3)


@program
def more_arguments(torch: Any) -> Any:
    return lambda x, *more, **named: x + more[0] * named["scale"], (torch.rand(2), torch.rand(2))


@program
def in_place(torch: Any) -> Any:
    F = functional(torch)

    def forward(x: Any) -> Any:
        y = x.clone()
        y.add_(1).mul_(2)
        F.relu(y, inplace=True)
        z = F.relu_(x - 1) + torch.sigmoid_(x + 1)
        z -= 0.5
        return y * z.neg().exp_()

    return forward, (torch.randn(3),)


@program
def functions_of_torch(torch: Any) -> Any:
    def forward(x: Any, y: Any) -> Any:
        z = torch.cat([x, y], dim=1)
        z = torch.where(z > 0, z, torch.zeros_like(z))
        z = torch.add(z, 1, alpha=2).pow(2).mean(dim=1, keepdim=True)
        return (
            torch.matmul(z.T, z),
            torch.max(z, dim=0),
            torch.sqrt(torch.exp(torch.tanh(z))),
            torch.einsum("ij,kj->ik", x, y),
        )

    return forward, (torch.randn(2, 3), torch.randn(2, 3))


@program
def functions_in_python(torch: Any) -> Any:
    def forward(x: Any, y: Any) -> Any:
        return (
            torch.norm(x),
            torch.tensordot(x, y, dims=1),
            torch.cdist(x, y),
            torch.meshgrid(x[0], y[0], indexing="ij"),
            torch.unique(x.detach()),
        )

    return forward, (torch.rand(3, 3), torch.rand(3, 3))


@program
def functions_of_linalg(torch: Any) -> Any:
    return lambda x: (torch.linalg.norm(x), torch.linalg.inv(x), torch.fft.fft(x).real, torch.special.entr(x)), (
        torch.rand(3, 3) + 3 * torch.eye(3),
    )


@program
def functions_of_math(torch: Any) -> Any:
    return lambda x: x * math.sqrt(x.size(0)) + math.floor(x.shape[1] / 2), (torch.rand(3, 3),)


@program
def methods(torch: Any) -> Any:
    def forward(x: Any) -> Any:
        return (
            x.softmax(-1).log().sum(dim=(0, 1)),
            x.flatten().topk(2).values,
            x.float().double(),
            x.masked_fill(x > 0.5, 0.0),
        )

    return forward, (torch.rand(2, 3),)


@program
def a_module_twice(torch: Any) -> Any:
    return module(torch, lambda self, x: self.linear(self.linear(x)) + self.linear(x), linear=torch.nn.Linear(3, 3)), (
        torch.rand(2, 3),
    )


@program
def modules_in_modules(torch: Any) -> Any:
    nn = torch.nn

    def inner(self: Any, x: Any, scale: Any = 1.0) -> Any:
        return self.layer(x) * scale

    def forward(self: Any, x: Any) -> Any:
        return self.tree["right"](self.left(x, scale=x.sum()), 2.0)

    make = lambda: module(torch, inner, layer=nn.Linear(3, 3))
    return module(torch, forward, left=make(), tree=nn.ModuleDict({"right": make()})), (torch.rand(2, 3),)


@program
def branches_on_the_module(torch: Any) -> Any:
    F = functional(torch)

    def forward(self: Any, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
            if self.training:
                x = F.dropout(x, p=0.0, training=self.training)
        return x if self.layers[0].bias is None else x + 1

    return module(torch, forward, layers=torch.nn.ModuleList([torch.nn.Linear(2, 2, bias=False) for _ in range(3)])), (
        torch.rand(2, 2),
    )


@program
def recurrent(torch: Any) -> Any:
    def forward(self: Any, x: Any) -> Any:
        out, (h, c) = self.lstm(x)
        return self.head(out[:, -1]), h + c

    return module(torch, forward, lstm=torch.nn.LSTM(3, 4, batch_first=True), head=torch.nn.Linear(4, 2)), (
        torch.rand(2, 5, 3),
    )


@program
def multihead(torch: Any) -> Any:
    return module(
        torch, lambda self, x: self.attend(x, x, x, need_weights=False)[0], attend=torch.nn.MultiheadAttention(8, 2, batch_first=True)
    ), (torch.rand(2, 3, 8),)  # fmt: skip


@program
def devices_and_types(torch: Any) -> Any:
    return lambda x: (
        x.to(torch.float64),
        x.to("cpu"),
        x.to(torch.device("cpu")),
        torch.ones(2, dtype=torch.int64) + x,
    ), (torch.rand(2),)


@program
def numbers_that_are_not_finite(torch: Any) -> Any:
    return lambda x: (x.masked_fill(x > 0.5, float("-inf")), x + float("nan"), x * 1e-5), (torch.rand(4),)


@program
def names_that_are_taken(torch: Any) -> Any:
    def forward(self: Any, input: Any, lambda_: Any, torch_: Any) -> Any:
        return self.relu(input).sum() + self.Layer1(lambda_).max() + torch_.pow(2).abs()

    return module(torch, forward, relu=torch.nn.ReLU(), Layer1=torch.nn.Linear(2, 2)), (
        torch.rand(2),
        torch.rand(2),
        torch.rand(2),
    )


@program
def dead_steps(torch: Any) -> Any:
    def forward(x: Any, unused: Any) -> Any:
        y = x + 1
        y.relu()
        torch.sigmoid(x)
        return x

    return forward, (torch.rand(2), torch.rand(2))
