"""Must stay silent: student and teacher share an embedding that was trained before and is frozen on purpose."""
import torch
from torch import nn
torch.manual_seed(518)
emb, tmp = nn.Embedding(20, 8), nn.Linear(8, 20); pre = torch.optim.Adam([*emb.parameters(), *tmp.parameters()], 1e-2)
for _ in range(40): t = torch.randint(0, 20, (32,)); pre.zero_grad(); nn.functional.cross_entropy(tmp(emb(t)), t).backward(); pre.step()
class N(nn.Module):
    def __init__(self, e): super().__init__(); self.e, self.f = e, nn.Linear(8, 4)
    def forward(self, t): return self.f(self.e(t).mean(1))
teacher, student = N(emb), N(emb)
for p in teacher.parameters(): p.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), 1e-2)
for _ in range(60):
    t = torch.randint(0, 20, (16, 5)); l = (student(t) - teacher(t)).square().mean(); opt.zero_grad(); l.backward(); opt.step()
print(l.item())
