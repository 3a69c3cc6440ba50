"""Workloads in JAX, jitted: the same arithmetic, written as functions of parameters. Only where JAX is installed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Step = Callable[[], object]


def _normal(seed: int, *shape: int) -> Any:
    return jax.random.normal(jax.random.key(seed), shape)


def _adam(params: Any, grads: Any, state: Any) -> tuple[Any, Any]:
    first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    a, b = 1 - 0.9**count, 1 - 0.999**count
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / a) / (jnp.sqrt(v / b) + 1e-8), params, first, second)
    return params, (first, second, count)


def _train(params: Any, loss: Callable[[Any], Any]) -> Step:
    """A step of Adam; parameters and state stay where they are."""

    @jax.jit
    def update(params: Any, state: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params)
        return *_adam(params, grads, state), value

    zeros = jax.tree.map(jnp.zeros_like, params)
    held: list[Any] = [params, (zeros, zeros, 0.0)]

    def step() -> object:
        held[0], held[1], value = update(*held)
        return value.block_until_ready()

    return step


def _linear(seed: int, n: int, m: int) -> Any:
    return {"w": _normal(seed, n, m) / n**0.5, "b": jnp.zeros(m)}


def _apply(layer: Any, x: Any) -> Any:
    return x @ layer["w"] + layer["b"]


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def _mlp(batch: int, sizes: tuple[int, ...]) -> Step:
    params = [_linear(k, n, m) for k, (n, m) in enumerate(itertools.pairwise(sizes))]
    x, y = _normal(9, batch, sizes[0]), jnp.arange(batch) % sizes[-1]

    def loss(params: Any) -> Any:
        z = x
        for k, layer in enumerate(params):
            z = _apply(layer, z if k == 0 else jax.nn.relu(z))
        return _cross_entropy(z, y)

    return _train(params, loss)


def _seeds() -> Step:
    params, x, y = _linear(0, 10, 1), _normal(1, 32, 10), _normal(2, 32, 1)

    @jax.jit
    def update(params: Any) -> Any:
        value, grads = jax.value_and_grad(lambda p: jnp.mean((_apply(p, x) - y) ** 2))(params)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
        return jax.tree.map(lambda p, g: p - 0.01 * scale * g, params, grads), value

    held = [params]
    history: list[float] = []

    def step() -> object:
        held[0], value = update(held[0])
        history.append(float(value))
        return value

    return step


def _chain() -> Step:
    x = _normal(0, 100_000)

    def total(x: Any) -> Any:
        return jnp.sum(jnp.tanh(x * 1.5 + 0.5) * jax.nn.sigmoid(x) - jnp.exp(x) * 0.1)

    gradient = jax.jit(jax.grad(total))
    return lambda: gradient(x).block_until_ready()


def _norm(x: Any, p: Any) -> Any:
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["w"] + p["b"]


def _gpt() -> Step:
    d, heads, length, batch, words = 64, 4, 48, 8, 65
    shapes = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d), "head": (d, words)}
    params = {name: _linear(k, *shape) for k, (name, shape) in enumerate(shapes.items())}
    params |= {name: {"w": jnp.ones(d), "b": jnp.zeros(d)} for name in ("norm1", "norm2")}
    params["embed"] = {"w": _normal(7, words, d)}
    tokens = jax.random.randint(jax.random.key(8), (batch, length + 1), 0, words)
    mask = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, -jnp.inf)

    def loss(p: Any) -> Any:
        x = p["embed"]["w"][tokens[:, :-1]]
        q, k, v = jnp.split(_apply(p["qkv"], _norm(x, p["norm1"])), 3, -1)
        q, k, v = (z.reshape(batch, length, heads, d // heads).swapaxes(1, 2) for z in (q, k, v))
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / (d // heads) ** 0.5 + mask)
        x = x + _apply(p["out"], (weights @ v).swapaxes(1, 2).reshape(batch, length, d))
        x = x + _apply(p["down"], jax.nn.gelu(_apply(p["up"], _norm(x, p["norm2"])), approximate=False))
        return _cross_entropy(_apply(p["head"], x).reshape(-1, words), tokens[:, 1:].reshape(-1))

    return _train(params, loss)


WORKLOADS: dict[str, Callable[[], Step]] = {
    "seeds_training_loop": _seeds,
    "elementwise_chain": _chain,
    "mlp_tiny_training": lambda: _mlp(8, (16, 32, 32, 4)),
    "mlp_large_training": lambda: _mlp(256, (1024, 2048, 1024, 10)),
    "character_gpt": _gpt,
}
