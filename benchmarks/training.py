"""Whole steps of the networks that people train, and their inference."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .harness import workload


def _mlp(t: Any, *sizes: int) -> Any:
    layers: list[Any] = []
    for i, (n, m) in enumerate(itertools.pairwise(sizes)):
        layers += [t.nn.ReLU()] * (i > 0) + [t.nn.Linear(n, m)]
    return t.nn.Sequential(*layers)


def _inference(t: Any, batch: int, sizes: tuple[int, ...], context: Callable[[], Any]) -> Callable[[], object]:
    t.manual_seed(0)
    model, x = _mlp(t, *sizes), t.randn(batch, sizes[0])

    def step() -> object:
        with context():
            return model(x)

    return step


TINY, LARGE = (8, (16, 32, 32, 4)), (256, (1024, 2048, 1024, 10))


@workload
def mlp_tiny_tracked(t: Any) -> Callable[[], object]:
    """A tiny network, forward, recorded."""
    return _inference(t, *TINY, t.enable_grad)


@workload
def mlp_tiny_no_grad(t: Any) -> Callable[[], object]:
    """The same under no_grad."""
    return _inference(t, *TINY, t.no_grad)


@workload
def mlp_tiny_inference_mode(t: Any) -> Callable[[], object]:
    """The same in inference mode."""
    return _inference(t, *TINY, t.inference_mode)


@workload
def mlp_large_tracked(t: Any) -> Callable[[], object]:
    """A large network, forward, recorded."""
    return _inference(t, *LARGE, t.enable_grad)


@workload
def mlp_large_no_grad(t: Any) -> Callable[[], object]:
    """The same under no_grad."""
    return _inference(t, *LARGE, t.no_grad)


@workload
def mlp_large_inference_mode(t: Any) -> Callable[[], object]:
    """The same in inference mode."""
    return _inference(t, *LARGE, t.inference_mode)


def train(t: Any, model: Any, loss: Callable[[], Any]) -> Callable[[], object]:
    """Steps of Adam on a loss."""
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)

    def step() -> object:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def _train_mlp(t: Any, batch: int, sizes: tuple[int, ...]) -> Callable[[], object]:
    t.manual_seed(0)
    model, x = _mlp(t, *sizes), t.randn(batch, sizes[0])
    y = t.randint(0, sizes[-1], (batch,))
    return train(t, model, lambda: t.nn.functional.cross_entropy(model(x), y))


@workload
def mlp_tiny_training(t: Any) -> Callable[[], object]:
    """A step of training of the tiny network."""
    return _train_mlp(t, *TINY)


@workload
def mlp_large_training(t: Any) -> Callable[[], object]:
    """A step of training of the large one."""
    return _train_mlp(t, *LARGE)


def _transformer(t: Any, run: Callable[[Any, Any], Any]) -> Callable[[], object]:
    t.manual_seed(0)
    layers = t.nn.ModuleList(
        [t.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True) for _ in range(3)]
    )
    x = t.randn(8, 32, 64)

    def loss() -> Any:
        z = x
        for layer in layers:
            z = run(layer, z)
        return z.square().mean()

    return train(t, layers, loss)


@workload
def transformer_training(t: Any) -> Callable[[], object]:
    """Three encoder layers."""
    return _transformer(t, lambda layer, z: layer(z))


@workload
def transformer_checkpointed(t: Any) -> Callable[[], object]:
    """The same, every layer checkpointed."""
    import importlib

    checkpoint = importlib.import_module(f"{t.__name__}.utils.checkpoint").checkpoint
    return _transformer(t, lambda layer, z: checkpoint(layer, z, use_reentrant=False))


@workload
def character_gpt(t: Any) -> Callable[[], object]:
    """A small causal language model."""
    t.manual_seed(0)
    nn, F = t.nn, t.nn.functional
    embed, head = nn.Embedding(65, 64), nn.Linear(64, 65)
    block = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True, activation="gelu")
    mask = nn.Transformer.generate_square_subsequent_mask(48)
    tokens = t.randint(0, 65, (8, 49))
    parts = nn.ModuleList([embed, block, head])

    def loss() -> Any:
        logits = head(block(embed(tokens[:, :-1]), src_mask=mask))
        return F.cross_entropy(logits.reshape(-1, 65), tokens[:, 1:].reshape(-1))

    return train(t, parts, loss)


@workload
def cnn_training(t: Any) -> Callable[[], object]:
    """Two convolutions with batch normalization."""
    t.manual_seed(0)
    nn = t.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 49, 10),
    )  # fmt: skip
    x, y = t.randn(16, 1, 14, 14), t.randint(0, 10, (16,))
    return train(t, model, lambda: nn.functional.cross_entropy(model(x), y))


@workload
def lstm_training(t: Any) -> Callable[[], object]:
    """An LSTM over 35 steps."""
    t.manual_seed(0)
    model, x = t.nn.LSTM(64, 128), t.randn(35, 16, 64)
    return train(t, model, lambda: model(x)[0].square().mean())


@workload
def elementwise_chain(t: Any) -> Callable[[], object]:
    """Element by element on 100,000 numbers, and back."""
    t.manual_seed(0)
    x = t.randn(100_000, requires_grad=True)

    def step() -> object:
        ((x * 1.5 + 0.5).tanh() * t.sigmoid(x) - x.exp() * 0.1).sum().backward()

    return step


@workload
def gradient_penalty(t: Any) -> Callable[[], object]:
    """A critic with the gradient of its gradient."""
    t.manual_seed(0)
    model, x = _mlp(t, 32, 64, 64, 1), t.randn(64, 32, requires_grad=True)

    def loss() -> Any:
        score = model(x)
        (g,) = t.autograd.grad(score.sum(), x, create_graph=True)
        return score.mean() + (g.norm(dim=1) - 1).square().mean()

    return train(t, model, loss)


@workload
def gradcheck(t: Any) -> Callable[[], object]:
    """gradcheck of a small function."""
    t.manual_seed(0)
    x = t.randn(4, 3, dtype=t.float64, requires_grad=True)
    return lambda: t.autograd.gradcheck(lambda z: (z * z).tanh().sum(1), (x,))
