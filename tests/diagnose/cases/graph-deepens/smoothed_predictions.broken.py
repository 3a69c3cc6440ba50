"""A trainer smooths its predictions over steps for temporal ensembling and forgets to detach the average (pysteps forum)."""
import torch
from torch import nn

torch.manual_seed(31)


class EnsembleTrainer:
    """Consistency with the average of earlier predictions on the same points."""

    def __init__(self, points, targets, momentum=0.6):
        self.points, self.targets, self.momentum = points, targets, momentum
        self.model = nn.Linear(points.shape[1], 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.average = torch.zeros_like(targets)
        self.history = []

    def consistency(self, predictions):
        self.average = self.momentum * self.average + (1 - self.momentum) * predictions  # EXPECT: graph-deepens
        return (predictions - self.average).pow(2).mean()

    def step(self):
        predictions = self.model(self.points)
        supervised = nn.functional.l1_loss(predictions, self.targets)
        loss = supervised + 0.3 * self.consistency(predictions)
        self.optimizer.zero_grad()
        torch.autograd.backward(loss, retain_graph=True)
        self.optimizer.step()
        self.history.append(loss.item())


points = torch.randn(64, 5)
targets = points.sum(1, keepdim=True) + 0.1 * torch.randn(64, 1)
trainer = EnsembleTrainer(points, targets)
for _ in range(22):
    trainer.step()
print("loss", [round(value, 3) for value in trainer.history[::7]])
