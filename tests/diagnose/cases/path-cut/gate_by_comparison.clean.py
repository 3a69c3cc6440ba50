"""Legitimate twin: a self-distillation branch stops the gradient on purpose (z.detach()), the encoder learns through the other one."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(71)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 12)
        self.gate = nn.Linear(12, 12)
        self.out = nn.Linear(12, 5)

    def forward(self, tokens):
        h = self.embed(tokens).mean(1)
        keep = torch.sigmoid(self.gate(h))
        return h * keep


def run(steps=60):
    model = Gated()
    predict = nn.Linear(12, 12)
    optimizer = torch.optim.AdamW([*model.parameters(), *predict.parameters()], lr=1e-2)
    tokens = torch.randint(0, 25, (150, 6))
    labels = tokens[:, 0] % 5
    for step in range(steps):
        rows = torch.randint(0, 150, (30,))
        z, shifted = model(tokens[rows]), model(tokens[rows].roll(1, 1)[:, 1:])
        agree = -F.cosine_similarity(predict(shifted), z.detach(), dim=1).mean()
        loss = F.cross_entropy(model.out(z), labels[rows]) + 0.1 * agree
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step, "loss", round(loss.item(), 4))


run()
