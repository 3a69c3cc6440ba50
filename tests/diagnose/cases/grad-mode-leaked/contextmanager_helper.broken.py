"""a home-made "evaluating" helper enters no_grad in its constructor but its exit only restores the train mode."""
import contextlib

import torch
from torch import nn

torch.manual_seed(41)


class evaluating:
    def __init__(self, model):
        self.model = model
        self.mode = contextlib.ExitStack()
        self.mode.enter_context(torch.no_grad())  # EXPECT-ERROR: grad-mode-leaked

    def __enter__(self):
        self.model.eval()

    def __exit__(self, *exc):
        self.model.train()


def main():
    x = torch.randn(150, 9)
    y = (x[:, :1] - x[:, 1:2]).tanh()
    model = nn.Sequential(nn.Linear(9, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        for idx in torch.randperm(120).split(20):
            loss = nn.functional.l1_loss(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with evaluating(model):
            val = nn.functional.l1_loss(model(x[120:]), y[120:]).item()
        print("epoch", epoch, "train", round(loss.item(), 4), "val", round(val, 4))


main()
