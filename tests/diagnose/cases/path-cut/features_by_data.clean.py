"""The features keep their graph; the .data of them is only logged."""

import torch
from torch import nn


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(2, 8, 3, padding=1), nn.ELU(), nn.AdaptiveAvgPool1d(4))

    def forward(self, signal):
        return self.layers(signal).flatten(1)


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.classifier = nn.Linear(32, 3)
        self.last_activity = 0.0

    def forward(self, signal):
        features = self.trunk(signal)
        self.last_activity = features.data.abs().mean().item()
        return self.classifier(features)


def run_epoch(model, batches, optimizer, criterion):
    total = 0.0
    for signal, label in batches:
        optimizer.zero_grad()
        loss = criterion(model(signal), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


if __name__ == "__main__":
    torch.manual_seed(5)
    signals = torch.randn(48, 2, 12)
    labels = (signals.mean((1, 2)) * 6).long().clamp(0, 2)
    batches = list(zip(signals.split(12), labels.split(12)))
    model = Recogniser()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for epoch in range(8):
        mean_loss = run_epoch(model, batches, optimizer, nn.CrossEntropyLoss())
        print(f"epoch {epoch}: {mean_loss:.3f}, activity {model.last_activity:.3f}")
