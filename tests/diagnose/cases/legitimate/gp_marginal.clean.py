"""A Gaussian process fitted by its marginal likelihood, with parameters in logarithms."""
import torch

torch.manual_seed(2)
x = torch.linspace(0, 1, 30, dtype=torch.float64)
y = torch.sin(6 * x) + 0.1 * torch.randn(30, dtype=torch.float64)
log_l = torch.tensor(-1.0, dtype=torch.float64, requires_grad=True)
log_s = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
log_n = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)
opt = torch.optim.Adam([log_l, log_s, log_n], lr=0.05)
for step in range(60):
    d = (x[:, None] - x[None]) ** 2
    K = (2 * log_s).exp() * torch.exp(-0.5 * d / (2 * log_l).exp()) + (2 * log_n).exp() * torch.eye(30, dtype=torch.float64)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], L)
    nll = 0.5 * (y @ alpha[:, 0]) + L.diagonal().log().sum()
    opt.zero_grad()
    nll.backward()
    opt.step()
print(round(nll.item(), 2))
