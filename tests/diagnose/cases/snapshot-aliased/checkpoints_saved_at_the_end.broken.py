"""one entry per epoch is collected, and all of them are written after training: every file holds the last weights."""
import copy
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(214)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.out = nn.Linear(12, 30)

    def forward(self, codes):
        return self.out(self.lstm(self.embed(codes))[0])


def entry(model, optimizer, epoch):
    return {
        "epoch": epoch,
        "model": model.state_dict(),  # EXPECT: snapshot-aliased
        "lr": optimizer.param_groups[0]["lr"],
    }


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
codes = torch.randint(0, 30, (16, 9))
entries = []
for epoch in range(4):
    for part in codes.split(8):
        loss = F.cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    entries.append(entry(model, optimizer, epoch))
with tempfile.TemporaryDirectory() as folder:
    for item in entries:
        torch.save(item, os.path.join(folder, f"epoch{item['epoch']}.pt"))  # ALSO: snapshot-aliased
    print(sorted(os.listdir(folder)))
