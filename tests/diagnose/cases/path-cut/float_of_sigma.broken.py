"""The noise level of a likelihood is a parameter, and becomes a float on its way into the loss."""
import torch

torch.manual_seed(1)
w = torch.nn.Parameter(torch.zeros(4))
log_sigma = torch.nn.Parameter(torch.zeros(()))
opt = torch.optim.Adam([w, log_sigma], lr=0.05)
for step in range(60):
    x = torch.randn(32, 4)
    y = x.sum(1) + 0.3 * torch.randn(32)
    residual = y - x @ w
    sigma = float(log_sigma.exp())  # EXPECT: path-cut
    nll = (residual / sigma).square().mean() / 2 + log_sigma * 0
    nll = (residual / sigma).square().mean() / 2
    opt.zero_grad()
    nll.backward()
    opt.step()
print(f"{nll.item():.3f}")
