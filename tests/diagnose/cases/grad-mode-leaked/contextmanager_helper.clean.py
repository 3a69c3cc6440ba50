"""Legitimate twin: a contextlib helper is suspended inside no_grad while the caller's validation block runs."""
import contextlib

import torch
from torch import nn

torch.manual_seed(41)


@contextlib.contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        yield model
    model.train(was_training)


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
