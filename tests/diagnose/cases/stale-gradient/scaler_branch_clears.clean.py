"""the scaler is disabled on the CPU, and gradients are cleared whether it is or not."""
import argparse

import torch
from torch import nn
from torch.amp import GradScaler


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--amp", action="store_true")
    return parser.parse_args([])


def build():
    return nn.Sequential(nn.Conv1d(2, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 12, 1))


def main():
    args = parse()
    torch.manual_seed(102)
    model = build()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=args.lr * 0.1)
    scaler = GradScaler("cpu", enabled=args.amp)
    signal = torch.randn(64, 2, 12)
    target = signal[:, 0].mean(1, keepdim=True)
    losses = []
    for step in range(args.steps):
        picked = torch.randperm(64)[:16]
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.amp):
            loss = nn.functional.mse_loss(model(signal[picked]), target[picked])
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
