"""Learning to learn (MAML): start weights from which one gradient step fits any sine wave.

The outer loss is differentiated through the inner gradient step: second derivatives by create_graph=True.
"""

import math

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

TASKS, POINTS, INNER_RATE = 8, 10, 0.05


def network() -> list[torch.Tensor]:
    """Weights and biases of 1-40-40-1."""
    layers = [nn.Linear(1, 40), nn.Linear(40, 40), nn.Linear(40, 1)]
    return [parameter for layer in layers for parameter in layer.parameters()]


def predict(x: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
    w1, b1, w2, b2, w3, b3 = weights
    return F.linear(torch.tanh(F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)), w3, b3)


def sine_wave() -> tuple[float, float]:
    amplitude, phase = torch.rand(2).tolist()
    return 0.5 + 2 * amplitude, math.pi * phase


def points(wave: tuple[float, float], count: int = POINTS) -> tuple[torch.Tensor, torch.Tensor]:
    x = 6 * torch.rand(count, 1) - 3
    return x, wave[0] * torch.sin(x + wave[1])


def adapt(weights: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor, create_graph: bool) -> list[torch.Tensor]:
    """One gradient step on a task's points, as part of the graph if asked."""
    gradients = torch.autograd.grad(F.mse_loss(predict(x, weights), y), weights, create_graph=create_graph)
    return [w - INNER_RATE * g for w, g in zip(weights, gradients, strict=True)]


def errors_of_new_waves(weights: list[torch.Tensor], count: int = 50) -> tuple[float, float]:
    """The mean error on waves never seen, before and after one step on ten points."""
    before = after = 0.0
    for _ in range(count):
        wave = sine_wave()
        adapted = adapt(weights, *points(wave), create_graph=False)
        x, y = points(wave, 100)
        with torch.no_grad():
            before += F.mse_loss(predict(x, weights), y).item() / count
            after += F.mse_loss(predict(x, adapted), y).item() / count
    return before, after


def run(steps: int = 400) -> list[float]:
    torch.manual_seed(0)
    weights = network()
    optimizer = optim.Adam(weights, lr=3e-3)
    losses = []
    for step in range(1, steps + 1):
        loss = torch.zeros(())
        for _ in range(TASKS):
            wave = sine_wave()
            adapted = adapt(weights, *points(wave), create_graph=True)
            x, y = points(wave)
            loss = loss + F.mse_loss(predict(x, adapted), y) / TASKS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            before, after = errors_of_new_waves(weights)
            print(f"step {step:4}  error on new waves {before:.3f}, after one gradient step {after:.3f}")
    return losses


if __name__ == "__main__":
    run()
