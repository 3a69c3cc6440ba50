"""One threshold for each input, compared with `sign`: a vector of parameters that no gradient reaches."""
import torch
from torch import nn

torch.manual_seed(325)
threshold, out = nn.Parameter(torch.zeros(8)), nn.Linear(8, 1)
opt = torch.optim.Adam([threshold, *out.parameters()], lr=1e-2)
for _ in range(40):
    x = torch.randn(32, 8)
    gate = torch.sign(x - threshold) * 0.5 + 0.5  # ALSO: gradient-vanishes
    loss = (out(x * gate)[:, 0] - x.clamp_min(0.5).sum(1)).square().mean()
    opt.zero_grad()
    loss.backward()  # EXPECT: gradient-vanishes
    opt.step()
print(f"{loss.item():.2f}")
