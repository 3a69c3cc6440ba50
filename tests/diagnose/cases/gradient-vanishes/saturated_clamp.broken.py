"""A parameter whose clamp is always active."""
import torch
from torch import nn

torch.manual_seed(56)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(4, 2)
        self.log_std = nn.Parameter(torch.full((2,), -8.0))

    def forward(self, s):
        return torch.distributions.Normal(self.mu(s), self.log_std.clamp(-5, 2).exp())


policy = Policy()
opt = torch.optim.Adam(policy.parameters(), 3e-3)
for it in range(60):
    s = torch.randn(64, 4)
    a = s[:, :2] + 0.3 * torch.randn(64, 2)
    loss = -policy(s).log_prob(a).mean()
    opt.zero_grad()
    loss.backward()  # EXPECT: gradient-vanishes
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    opt.step()
print("bc")
