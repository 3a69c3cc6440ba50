"""Legitimate twin: one callback enters the mode, another one leaves it when the phase is over."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(23)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)

    def on_validation_start(self):
        self.model.eval()
        self.guard = torch.no_grad()
        self.guard.__enter__()

    def on_validation_end(self):
        self.guard.__exit__(None, None, None)
        self.model.train()

    def fit(self, train, val, epochs=4):
        for epoch in range(epochs):
            for x, y in train:
                loss = F.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.on_validation_start()
            val_loss = sum(F.cross_entropy(self.model(x), y).item() for x, y in val) / len(val)
            self.on_validation_end()
            print(f"epoch {epoch} val {val_loss:.4f}")


layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
model = nn.Sequential(nn.Linear(6, 16), layer, nn.Flatten(), nn.Linear(16 * 5, 3))
x = torch.randn(120, 5, 6)
y = x.mean(1)[:, :3].argmax(1)
batches = list(zip(x.split(20), y.split(20)))
Trainer(model).fit(batches[:5], batches[5:])
