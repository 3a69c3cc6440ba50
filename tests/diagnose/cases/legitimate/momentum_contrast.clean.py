"""Must stay silent: MoCo: a momentum encoder, a queue of keys, and one optimizer for the query encoder."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, encoder, width=8, size=64, momentum=0.9):
        super().__init__()
        self.query = encoder
        self.key = copy.deepcopy(encoder)
        for p in self.key.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(size, width), dim=1))
        self.pointer, self.momentum = 0, momentum

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * self.momentum + q.data * (1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue[self.pointer : self.pointer + len(keys)] = keys
        self.pointer = (self.pointer + len(keys)) % len(self.queue)

    def forward(self, one, two):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(two), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / 0.2
        self.enqueue(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))


if __name__ == "__main__":
    torch.manual_seed(58)
    model = MoCo(nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for step in range(40):
        x = torch.randn(16, 10)
        loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
