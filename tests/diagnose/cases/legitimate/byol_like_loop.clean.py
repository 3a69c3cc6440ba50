"""Self-distillation with centering and a schedule for the momentum; the centre is a buffer written under no_grad."""
import copy
import math
import torch
from torch import nn
import torch.nn.functional as F


class DINO(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.register_buffer("center", torch.zeros(1, k))

    def forward(self, s, t):
        t = F.softmax((t - self.center) / 0.04, dim=-1).detach()
        loss = -(t * F.log_softmax(s / 0.1, dim=-1)).sum(-1).mean()
        self.update(t)
        return loss

    @torch.no_grad()
    def update(self, t):
        self.center = self.center * 0.9 + t.mean(0, keepdim=True) * 0.1


torch.manual_seed(6)
student = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 12))
teacher = copy.deepcopy(student)
teacher.load_state_dict(student.state_dict())
for p in teacher.parameters():
    p.requires_grad = False
crit = DINO(12)
opt = torch.optim.AdamW(student.parameters(), 1e-3)
for it in range(90):
    x = torch.randn(24, 8)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    loss = crit(student(a), teacher(b)) + crit(student(b), teacher(a))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 3.0)
    opt.step()
    m = 1 - 0.01 * (math.cos(math.pi * it / 90) + 1) / 2
    with torch.no_grad():
        for ps, pt in zip(student.parameters(), teacher.parameters()):
            pt.data.mul_(m).add_((1 - m) * ps.detach().data)
print(f"{loss.item():.3f}")
