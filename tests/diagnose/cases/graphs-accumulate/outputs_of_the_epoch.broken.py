"""a trainer collects the logits of an epoch for its accuracy, and all graphs of the epoch with them."""
import torch
from torch import nn

torch.manual_seed(41)


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.outputs = []

    def training_step(self, x, y):
        logits = self.model(x)  # EXPECT: graphs-accumulate
        loss = nn.functional.cross_entropy(logits, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.outputs.append({"logits": logits, "y": y})

    def on_epoch_end(self):
        logits = torch.cat([batch["logits"] for batch in self.outputs])
        labels = torch.cat([batch["y"] for batch in self.outputs])
        self.outputs.clear()
        return (logits.argmax(1) == labels).float().mean().item()


trainer = Trainer()
for epoch in range(3):
    for batch in torch.randn(10, 8, 4):
        trainer.training_step(batch, (batch[:, 0] > 0).long())
    print("epoch", epoch, "accuracy", round(trainer.on_epoch_end(), 3))
