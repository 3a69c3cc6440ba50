"""`clarion demo`: train a small network on handwritten digits; show the loss and each layer's gradient norm."""

from __future__ import annotations

import time
from importlib import resources
from typing import Any

import numpy as np


def load_digits() -> tuple[Any, Any, Any, Any]:
    """Training and test images (scaled to 0..1, flat) and labels, as Tensors."""
    import clarion

    with resources.files("clarion").joinpath("assets/digits.npz").open("rb") as file, np.load(file) as data:
        images = data["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = data["labels"].astype(np.int64)
    cut = 1500
    return (
        clarion.from_numpy(images[:cut]),
        clarion.from_numpy(labels[:cut]),
        clarion.from_numpy(images[cut:]),
        clarion.from_numpy(labels[cut:]),
    )


def run(epochs: int = 5, seed: int = 0, lr: float = 0.1) -> int:
    """Train, print, and return the exit status."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    import clarion as torch
    from clarion import nn, optim
    from clarion.nn import functional as F

    console = Console()
    torch.manual_seed(seed)
    images, labels, test_images, test_labels = load_digits()
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    weights = [(name, p) for name, p in model.named_parameters() if p.ndim == 2]
    batch = 50
    console.print(f"1,500 handwritten digits, {sum(p.numel() for p in model.parameters()):,} parameters, SGD lr={lr}")
    began = time.perf_counter()
    columns = (
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
    )
    for epoch in range(1, epochs + 1):
        order = torch.randperm(len(images))
        total, norms, count = 0.0, [0.0] * len(weights), 0
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=len(images) // batch, epoch=epoch, loss=0.0)
            for start in range(0, len(images), batch):
                rows = order[start : start + batch]
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images[rows]), labels[rows])
                loss.backward()
                norms = [n + p.grad.norm().item() for n, (_, p) in zip(norms, weights, strict=True)]
                optimizer.step()
                total, count = total + loss.item(), count + 1
                progress.update(task, advance=1, loss=total / count)
        with torch.no_grad():
            right = (model(test_images).argmax(dim=1) == test_labels).float().mean().item()
        shown = "  ".join(f"{name} {n / count:.4f}" for n, (name, _) in zip(norms, weights, strict=True))
        console.print(
            f"epoch {epoch}  loss {total / count:.4f}  test accuracy {right:.1%}  gradient norms: {shown}",
            soft_wrap=True,
        )
    console.print(f"{count * epochs} steps in {time.perf_counter() - began:.2f} s")
    return 0
