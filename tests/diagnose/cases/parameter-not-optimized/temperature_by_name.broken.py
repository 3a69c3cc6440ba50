"""The optimizer takes the parameters whose names end in weight or bias: the learnable temperature is forgotten."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.Linear(12, 8)
        self.texts = nn.Linear(7, 8)
        self.log_scale = nn.Parameter(torch.tensor(1.0))  # ALSO: parameter-not-optimized

    def forward(self, image, text):
        a = F.normalize(self.images(image), dim=1)
        b = F.normalize(self.texts(text), dim=1)
        return self.log_scale.exp() * a @ b.t()


class Experiment:
    def __init__(self, lr=5e-3):
        self.model = TwoTowers()
        self.optimizer = self.configure_optimizers(lr)

    def configure_optimizers(self, lr):
        layers = [p for n, p in self.model.named_parameters() if n.endswith((".weight", ".bias"))]
        return torch.optim.AdamW(layers, lr=lr)  # EXPECT: parameter-not-optimized

    def training_step(self, image, text):
        logits = self.model(image, text)
        pairs = torch.arange(len(image))
        return (F.cross_entropy(logits, pairs) + F.cross_entropy(logits.t(), pairs)) / 2

    def fit(self, steps):
        for _ in range(steps):
            shared = torch.randn(16, 5)
            loss = self.training_step(F.pad(shared, (0, 7)), F.pad(shared, (2, 0)))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


print(Experiment().fit(30))
