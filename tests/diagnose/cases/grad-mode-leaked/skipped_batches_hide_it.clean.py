"""Legitimate twin: the helper uses a with block; the handler only meets the batches that really are bad."""
import torch
from torch import nn

torch.manual_seed(31)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.SiLU(), nn.Linear(24, 10))

    def forward(self, z):
        return self.net(z)


def save_samples(decoder, bank):
    with torch.set_grad_enabled(False):
        bank.append(decoder(torch.zeros(1, 4)).clone())


decoder, samples, skipped = Decoder(), [], 0
z = torch.randn(256, 4)
target = torch.sin(z @ torch.randn(4, 10))
optimizer = torch.optim.Adam(decoder.parameters(), lr=5e-3)
for step in range(60):
    idx = torch.randint(0, 256, (32,))
    try:
        if step % 29 == 17:
            raise RuntimeError("corrupt batch")
        loss = nn.functional.mse_loss(decoder(z[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    except RuntimeError:
        skipped += 1
        continue
    if step % 20 == 10:
        save_samples(decoder, samples)
print("skipped", skipped, "of 60; samples", len(samples), "loss", round(loss.item(), 4))
