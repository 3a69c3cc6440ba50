"""Must stay silent: Reptile: a copy is trained on each task, and the weights move towards the copy by hand."""

import copy

import torch
from torch import nn


def sample_task():
    amplitude, phase = torch.rand(1) * 2 + 0.5, torch.rand(1) * 3

    def batch(count=10):
        x = torch.rand(count, 1) * 6 - 3
        return x, amplitude * torch.sin(x + phase)

    return batch


def adapt(model, task, steps, lr):
    learner = copy.deepcopy(model)
    optimizer = torch.optim.SGD(learner.parameters(), lr=lr)
    for _ in range(steps):
        x, y = task()
        loss = nn.functional.mse_loss(learner(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return learner, loss.item()


def main():
    torch.manual_seed(52)
    model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
    for iteration in range(25):
        learner, loss = adapt(model, sample_task(), steps=5, lr=0.02)
        rate = 0.5 * (1 - iteration / 25)
        with torch.no_grad():
            for slow, fast in zip(model.parameters(), learner.parameters()):
                slow.add_(fast - slow, alpha=rate)
        if iteration % 8 == 0:
            print(iteration, round(loss, 4))


if __name__ == "__main__":
    main()
