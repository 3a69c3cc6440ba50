"""Momentum contrast with a queue buffer that is written in place, and a momentum encoder."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, base, dim=8, K=64, m=0.99, T=0.2):
        super().__init__()
        self.m, self.T, self.K = m, T, K
        self.encoder_q = base
        self.encoder_k = copy.deepcopy(base)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)

    @torch.no_grad()
    def _enqueue(self, keys):
        ptr = int(self.ptr)
        self.queue[:, ptr:ptr + keys.shape[0]] = keys.T
        self.ptr[0] = (ptr + keys.shape[0]) % self.K

    def forward(self, a, b):
        q = F.normalize(self.encoder_q(a), dim=1)
        with torch.no_grad():
            self._momentum()
            k = F.normalize(self.encoder_k(b), dim=1)
        pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([pos, neg], dim=1) / self.T
        self._enqueue(k)
        return logits, torch.zeros(len(a), dtype=torch.long)


torch.manual_seed(11)
model = MoCo(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8)))
opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
meter = 0.0
for it in range(100):
    x = torch.randn(16, 10)
    logits, labels = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    meter = 0.9 * meter + 0.1 * loss.item()
print(f"{meter:.3f}")
