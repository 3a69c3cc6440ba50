"""Must stay silent: a discrete code by the straight-through Gumbel softmax, written out; its temperature falls."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(51)


class DiscreteAutoencoder(nn.Module):
    def __init__(self, width=10, slots=3, symbols=5):
        super().__init__()
        self.slots, self.symbols = slots, symbols
        self.encoder = nn.Linear(width, slots * symbols)
        self.decoder = nn.Linear(slots * symbols, width)

    def forward(self, x, temperature):
        logits = self.encoder(x).view(-1, self.slots, self.symbols)
        noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
        soft = F.softmax((logits + noise) / temperature, dim=-1)
        hard = F.one_hot(soft.argmax(-1), self.symbols).float()
        code = hard - soft.detach() + soft
        return self.decoder(code.flatten(1)), logits


model = DiscreteAutoencoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
basis = torch.randn(4, 10)
for step in range(60):
    x = F.one_hot(torch.randint(0, 4, (32,)), 4).float() @ basis
    rebuilt, logits = model(x, temperature=max(0.5, 2.0 * 0.98**step))
    prior = (F.softmax(logits, -1) * F.log_softmax(logits, -1)).sum(-1).mean()
    loss = F.mse_loss(rebuilt, x) + 0.01 * prior
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    used = model.encoder(basis).view(4, 3, 5).argmax(-1)
print(loss.item(), used.tolist())
